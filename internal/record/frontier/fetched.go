package frontier

import "context"

// Fetched reports whether a URL was fetched in the given crawl of its site, by
// itself or as the end of a redirect (Alias).
func Fetched(ctx context.Context, q Querier, siteID int, h Hash, crawl int) (bool, error) {
	var done bool
	err := q.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM urls WHERE site_id = $1 AND hash = $2 AND crawl = $3 AND (state IN (1, 2) OR state = 6 AND outcome = 'success'))`, siteID, h[:], crawl).Scan(&done)
	return done, err
}
