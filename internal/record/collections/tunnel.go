package collections

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Tunnel begins to tunnel where nothing of high priority waits, on whatever host that may
// be asked at all, and reports whether the crawl does.
func (c Crawl) Tunnel(ctx context.Context) (tunnels bool, err error) {
	if c.Rules.Tunnel.Sites == 0 {
		return false, nil
	}
	_, err = c.db.Pool.Exec(ctx, `UPDATE collections SET tunnel=0 WHERE id=$1 AND tunnel IS NULL AND NOT EXISTS (SELECT 1 `+waits+`
		AND EXISTS (SELECT 1 FROM collection_urls u WHERE u.collection=h.collection AND u.host=h.host AND u.waiting AND u.priority >= $7))`,
		c.Rules.waiting(c.ID, c.Rules.Tunnel.High)...)
	if err != nil {
		return false, err
	}
	err = c.db.Pool.QueryRow(ctx, `SELECT tunnel IS NOT NULL FROM collections WHERE id=$1`, c.ID).Scan(&tunnels)
	return tunnels, err
}

// newSite counts a site on which the first page on topic was met: enough of them end
// tunnelling.
func newSite(ctx context.Context, tx pgx.Tx, id int, rules Rules) error {
	_, err := tx.Exec(ctx, `UPDATE collections SET tunnel=nullif(least(tunnel+1, $2), $2) WHERE id=$1 AND tunnel IS NOT NULL`, id, rules.Tunnel.Sites)
	return err
}
