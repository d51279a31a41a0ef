package store

import "context"

// InVain reports whether the last so many hosts of a domain that were asked within a
// month for what others said is there gave no document. A site that gave one, and
// hosts of homepages, are of another kind.
func (db HarvestRecords) InVain(ctx context.Context, siteID int, domain string, hosts int) (vain bool, err error) {
	err = db.Pool.QueryRow(ctx, `WITH of AS (
			SELECT EXISTS (SELECT 1 FROM locations l WHERE l.site_id=s.id) AS gave FROM sites s
			WHERE `+reversedHost+` >= reverse($2) AND `+reversedHost+` < reverse($2) || '/' AND (`+reversedHost+` = reverse($2) OR starts_with(`+reversedHost+`, reverse($2) || '.'))
				AND s.id <> $1 AND s.crawl_finished > now() - interval '30 days' AND (s.crawl_pages > 0 OR s.state='refused')
				AND NOT EXISTS (SELECT 1 FROM scopes c WHERE c.site_id=s.id)
			ORDER BY s.crawl_finished DESC LIMIT $3)
		SELECT count(*) = $3 AND NOT bool_or(gave) AND NOT EXISTS (SELECT 1 FROM locations WHERE site_id=$1) FROM of`, siteID, domain, hosts).Scan(&vain)
	return vain, err
}

// reversedHost is a site's name without its port, from its end: hosts of a domain
// lie beside one another in its index.
const reversedHost = `reverse(split_part(s.host, ':', 1)) COLLATE "C"`
