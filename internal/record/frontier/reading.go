package frontier

import (
	"context"
	"fmt"
)

// Reading is a page that was read, and the files that it links to, on its host and
// on others.
type Reading struct {
	Page  Hash
	Files []Hash // each once
	Again bool   // it was read before: what it links to no longer is forgotten
}

// Link records what pages of one site link to.
func Link(ctx context.Context, q Querier, siteID int, readings []Reading) error {
	var pages, targets, again [][]byte
	for i := range readings {
		r := &readings[i]
		for j := range r.Files {
			pages, targets = append(pages, r.Page[:]), append(targets, r.Files[j][:])
		}
		if r.Again {
			again = append(again, r.Page[:])
		}
	}
	if len(again) > 0 {
		_, err := q.Exec(ctx, `DELETE FROM links k WHERE site_id = $1 AND page = ANY($2)
			AND NOT EXISTS (SELECT 1 FROM unnest($3::bytea[], $4::bytea[]) AS v (page, target) WHERE v.page = k.page AND v.target = k.target)`, siteID, again, pages, targets)
		if err != nil {
			return fmt.Errorf("frontier: unlink: %w", err)
		}
	}
	if len(pages) == 0 {
		return nil
	}
	_, err := q.Exec(ctx, `INSERT INTO links AS k (site_id, page, target, first_seen, last_seen)
		SELECT DISTINCT $1::bigint, page, target, current_date, current_date FROM unnest($2::bytea[], $3::bytea[]) AS v (page, target)
		ON CONFLICT (site_id, page, target) DO UPDATE SET last_seen = EXCLUDED.last_seen WHERE k.last_seen < EXCLUDED.last_seen`, siteID, pages, targets)
	if err != nil {
		return fmt.Errorf("frontier: link: %w", err)
	}
	return nil
}
