package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// HarvestsUnderWay lists the harvests under way that want a site.
func (db CrawlRecords) HarvestsUnderWay(ctx context.Context, siteID int) ([]string, error) {
	rows, _ := db.Pool.Query(ctx, `SELECT h.id FROM harvests h JOIN harvest_sites hs ON hs.harvest_id=h.id
		WHERE hs.site_id=$1 AND h.completed_at IS NULL AND NOT h.cancelled`, siteID)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// HarvestBytes is how much the crawls of a harvest's sites have brought since it began. It
// reads as many rows as the harvest has sites.
func (db CrawlRecords) HarvestBytes(ctx context.Context, harvest string) (bytes int64, err error) {
	err = db.Pool.QueryRow(ctx, `SELECT coalesce(sum(s.crawl_bytes), 0)::bigint FROM harvests h JOIN harvest_sites o ON o.harvest_id=h.id
			JOIN sites s ON s.id=o.site_id AND s.crawl_started >= h.started_at WHERE h.id=$1`, harvest).Scan(&bytes)
	return bytes, err
}
