package store

import "context"

// HarvestsUnderWay lists the harvests under way that want a site.
func (db HarvestRecords) HarvestsUnderWay(ctx context.Context, siteID int) ([]string, error) {
	return Column[string](ctx, db, `SELECT h.id FROM harvests h JOIN harvest_sites hs ON hs.harvest_id=h.id
		WHERE hs.site_id=$1 AND h.completed_at IS NULL AND NOT h.cancelled`, siteID)
}

// HarvestBytes is how much the crawls of a harvest's sites have brought since it began. It
// reads as many rows as the harvest has sites.
func (db HarvestRecords) HarvestBytes(ctx context.Context, harvest string) (int64, error) {
	return Get[int64](ctx, db, `SELECT coalesce(sum(s.crawl_bytes), 0)::bigint FROM harvests h JOIN harvest_sites o ON o.harvest_id=h.id
			JOIN sites s ON s.id=o.site_id AND s.crawl_started >= h.started_at WHERE h.id=$1`, harvest)
}
