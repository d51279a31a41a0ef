package store

import (
	"context"

	"gleaner/internal/record/frontier"
)

// FollowedLink is a link of a crawled site, by which a page or a file was first found.
type FollowedLink struct {
	URL      string
	Parent   string // the page with the link; "" for a seed
	Anchor   string
	Document bool // an accepted one
}

// FollowedLinks lists what was read of a host, the nearest to its seeds first and then
// in the order of discovery: the traverse tree of its crawl (Zhuang et al., JCDL 2005,
// §3.3). A file that is no accepted document is left out.
func (db SiteRecords) FollowedLinks(ctx context.Context, host string) ([]FollowedLink, error) {
	return List[FollowedLink](ctx, db, `
		SELECT u.url, u.parent, u.anchor, u.state=$2
		FROM urls u JOIN sites s ON s.id=u.site_id
		WHERE s.host=$1 AND (u.state=$3 OR u.state=$2 AND EXISTS (SELECT 1 FROM locations l JOIN documents d ON d.sha256=l.sha256
			WHERE l.asked=u.hash AND d.state='accepted'))
		ORDER BY u.depth, u.seq`, host, frontier.Document, frontier.Page)
}
