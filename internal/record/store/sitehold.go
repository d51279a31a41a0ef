package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// SiteHold is who asks a site now, and for whom.
type SiteHold struct {
	Holder  string     `json:"holder,omitempty"`       // the worker that has its turn; "" where none does
	Until   *time.Time `json:"held_until,omitempty"`   // unless it says again that it is at it
	Harvest string     `json:"last_harvest,omitempty"` // that wants it, or the last that did
}

// SiteHold says who has a site's turn, and which harvest wanted it last.
func (db SiteRecords) SiteHold(ctx context.Context, host string) (SiteHold, error) {
	return One(ctx, db, pgx.RowToStructByPos[SiteHold], nil, `SELECT CASE WHEN s.expires_at > now() THEN s.holder ELSE '' END, CASE WHEN s.expires_at > now() AND s.holder <> '' THEN s.expires_at END,
			coalesce((SELECT h.id FROM harvests h JOIN harvest_sites hs ON hs.harvest_id=h.id WHERE hs.site_id=s.id
				ORDER BY h.completed_at IS NULL DESC, h.started_at DESC, h.id LIMIT 1), '')
		FROM sites s WHERE s.host=$1`, host)
}

// SitePapers counts the papers that were found on hosts. One that a list names, too, has two
// keys and is one: its year and the letters of its title are the same.
func (db SiteRecords) SitePapers(ctx context.Context, hosts []string) (map[string]int, error) {
	return Map[string, int](ctx, db, `SELECT s.host, count(DISTINCT (p.year, `+lettersOf("p.title")+`))
		FROM sites s JOIN locations l ON l.site_id=s.id
		JOIN matches m ON m.sha256=l.sha256 AND `+FoundSQL+` JOIN papers p ON p.key=m.paper_key WHERE s.host = ANY($1) GROUP BY s.host`, hosts)
}
