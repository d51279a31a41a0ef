package store

import (
	"context"
	"strings"
	"time"
)

// pageOfSQL joins links k with the page that each is on: one of a crawl, or of an
// import.
const pageOfSQL = ` LEFT JOIN urls u ON u.site_id=k.site_id AND u.hash=k.page LEFT JOIN parents i ON i.page=k.page `

// pageOfURL is that page's address; NULL where it is gone.
const pageOfURL = `coalesce(u.url, i.url)`

// refersSQL selects which page refers to which document: the one by which it was
// found, and all that link to where it was found.
const refersSQL = `SELECT l.parent AS url, l.sha256 FROM locations l WHERE l.parent <> ''
	UNION SELECT ` + pageOfURL + `, l.sha256 FROM links k JOIN locations l ON l.asked=k.target` + pageOfSQL + `WHERE ` + pageOfURL + ` IS NOT NULL`

// parentsSQL selects the pages that refer to an accepted document, here or
// elsewhere, of a site whose id and host are parameters such as $1 and $2, by the
// index of the beginnings of addresses. "0" is the character after "/".
func parentsSQL(site, host string) string {
	return strings.NewReplacer("$site", site, "$host", host).Replace(`SELECT l.parent FROM locations l JOIN documents d ON d.sha256=l.sha256 WHERE d.state='accepted'
			AND (left(l.parent, 300) COLLATE "C" >= 'http://' || $host || '/' AND left(l.parent, 300) COLLATE "C" < 'http://' || $host || '0'
			  OR left(l.parent, 300) COLLATE "C" >= 'https://' || $host || '/' AND left(l.parent, 300) COLLATE "C" < 'https://' || $host || '0')
		UNION SELECT ` + pageOfURL + ` FROM links k JOIN locations l ON l.asked=k.target JOIN documents d ON d.sha256=l.sha256` + pageOfSQL + `
			WHERE k.site_id=$site AND d.state='accepted' AND ` + pageOfURL + ` IS NOT NULL`)
}

// NumRefBy is how many pages refer to a document (num_ref_by in Chen, CINDI Robot,
// 2008, section 3.6).
func (db DocumentRecords) NumRefBy(ctx context.Context, sha string) (int, error) {
	return Get[int](ctx, db, `SELECT count(*) FROM (`+refersSQL+`) r WHERE r.sha256=$1`, sha)
}

// BackLink is a page that links to a file.
type BackLink struct {
	URL   string    `json:"url"`
	First time.Time `json:"first_seen"`
	Last  time.Time `json:"last_seen"`
}

// BackLinks lists the pages that link to the file of a URL, by its identity: those
// that did so first come first, and at most limit.
func (db DocumentRecords) BackLinks(ctx context.Context, hash []byte, limit int) ([]BackLink, error) {
	return List[BackLink](ctx, db, `SELECT `+pageOfURL+`, k.first_seen, k.last_seen FROM links k`+pageOfSQL+`
		WHERE k.target=$1 AND `+pageOfURL+` IS NOT NULL ORDER BY k.first_seen, u.seq LIMIT $2`, hash, limit)
}
