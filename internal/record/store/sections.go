package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// sections are what the crawl of a site got so far from each user's directory.
func sections(ctx context.Context, tx pgx.Tx, siteID int) ([]Section, error) {
	return List[Section](ctx, tx, `SELECT dir, read, relevant, bytes, left_out, pauses FROM crawl_sections WHERE site_id=$1`, siteID)
}

func writeSections(ctx context.Context, tx pgx.Tx, siteID int, some []Section) error {
	for _, s := range some {
		_, err := tx.Exec(ctx, `INSERT INTO crawl_sections (site_id, dir, read, relevant, bytes, left_out, pauses) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (site_id, md5(dir)) DO UPDATE SET read=EXCLUDED.read, relevant=EXCLUDED.relevant, bytes=EXCLUDED.bytes,
				left_out=EXCLUDED.left_out, pauses=EXCLUDED.pauses`,
			siteID, s.Dir, s.Read, s.Relevant, s.Bytes, s.Left, s.Pauses)
		if err != nil {
			return err
		}
	}
	return nil
}
