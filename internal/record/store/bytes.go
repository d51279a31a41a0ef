package store

import "context"

// HarvestBytes is how much the crawls of a harvest's sites have brought since it
// began: of the harvests under way that want this site, the one with the least.
func (db HarvestRecords) HarvestBytes(ctx context.Context, siteID int) (bytes int64, watched bool, err error) {
	var least *int64
	err = db.Pool.QueryRow(ctx, `SELECT min((SELECT coalesce(sum(s.crawl_bytes), 0) FROM sites s JOIN harvest_sites o ON o.site_id=s.id
				WHERE o.harvest_id=h.id AND s.crawl_started >= h.started_at))::bigint
		FROM harvests h JOIN harvest_sites hs ON hs.harvest_id=h.id WHERE hs.site_id=$1 AND h.completed_at IS NULL AND NOT h.cancelled`, siteID).Scan(&least)
	if err != nil || least == nil {
		return 0, false, err
	}
	return *least, true, nil
}
