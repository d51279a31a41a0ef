package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/web/weburl"
)

// InVain lists the registrable domains that named hosts of a domain in vain: the last so
// many hosts that one named and that answered within a month gave no document. A site
// that gave one, and hosts of homepages, are of another kind.
func (db ReportRecords) InVain(ctx context.Context, siteID int, domain string, hosts int) (map[string]bool, error) {
	rows, _ := db.Pool.Query(ctx, `SELECT EXISTS (SELECT 1 FROM locations l WHERE l.site_id=s.id),
			ARRAY(SELECT DISTINCT split_part(u.parent, '/', 3) FROM urls u WHERE u.site_id=s.id AND u.parent <> '')
		FROM sites s
		WHERE `+reversedHost+` >= reverse($2) AND `+reversedHost+` < reverse($2) || '/' AND (`+reversedHost+` = reverse($2) OR starts_with(`+reversedHost+`, reverse($2) || '.'))
			AND s.id <> $1 AND s.crawl_finished > now() - interval '30 days'
			AND (EXISTS (SELECT 1 FROM urls u WHERE u.site_id=s.id AND u.status > 0) OR EXISTS (SELECT 1 FROM robots r WHERE r.host=s.host AND r.status > 0))
			AND NOT EXISTS (SELECT 1 FROM scopes c WHERE c.site_id=s.id) AND NOT EXISTS (SELECT 1 FROM locations WHERE site_id=$1)
		ORDER BY s.crawl_finished DESC LIMIT $3`, siteID, domain, 10*hosts)
	var gave bool
	var parents []string
	vain, asked := map[string]bool{}, map[string]int{} // by who named them
	_, err := pgx.ForEachRow(rows, []any{&gave, &parents}, func() error {
		givers := map[string]bool{}
		for _, p := range parents {
			givers[weburl.Domain(p)] = true
		}
		for giver := range givers {
			asked[giver]++
			switch {
			case gave && asked[giver] <= hosts:
				asked[giver] = hosts // and it is not in vain
			case asked[giver] == hosts:
				vain[giver] = true
			}
		}
		return nil
	})
	return vain, err
}

// reversedHost is a site's name without its port, from its end: hosts of a domain
// lie beside one another in its index.
const reversedHost = `reverse(split_part(s.host, ':', 1)) COLLATE "C"`
