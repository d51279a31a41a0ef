package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/record/frontier"
	"gleaner/internal/web/weburl"
)

// readHomepages says of homepages whether they were read.
func (db ReportRecords) readHomepages(ctx context.Context, authors map[string]AuthorClue) error {
	var of []*SiteClue
	var hosts []string
	var hashes [][]byte
	for _, a := range authors {
		for i, h := range a.Homepages {
			hash := frontier.HashOf(h.URL)
			of, hosts, hashes = append(of, &a.Sites[i]), append(hosts, weburl.Host(h.URL)), append(hashes, hash[:])
			a.Sites[i].Unasked = true
		}
	}
	rows, _ := db.Pool.Query(ctx, `SELECT v.n, u.state, u.outcome FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY v (host, hash, n)
		JOIN sites s ON s.host=v.host JOIN urls u ON u.site_id=s.id AND u.hash=v.hash WHERE u.state<>0`, hosts, hashes)
	var n int
	var state frontier.State
	var outcome string
	_, err := pgx.ForEachRow(rows, []any{&n, &state, &outcome}, func() error {
		of[n-1].Unasked = false
		if state != frontier.Page {
			of[n-1].Unread = outcome
		}
		return nil
	})
	return err
}

// cutPages counts, by homepage, the pages of which not all links were looked at, and those
// that limits kept from being asked for.
func (db ReportRecords) cutPages(ctx context.Context, authors map[string]AuthorClue, whole bool) error {
	type cut struct{ Host, URL, By string }
	hosts, of := map[string]bool{}, map[string][]cut{}
	for _, a := range authors {
		for _, h := range a.Homepages {
			hosts[weburl.Host(h.URL)] = true
		}
	}
	all, err := List[cut](ctx, db, `WITH s AS (SELECT id, host FROM sites WHERE host = ANY($1))
		SELECT s.host, u.url, k.unread FROM s JOIN kept_links k ON k.site_id=s.id AND k.unread<>'' JOIN urls u ON u.site_id=k.site_id AND u.hash=k.page
				AND u.state<>4
		UNION ALL SELECT s.host, u.url, u.outcome FROM s JOIN urls u ON u.site_id=s.id AND u.state=5
			AND (u.outcome IN ('max-depth', 'trap') OR u.outcome LIKE '%-limit' AND u.outcome NOT LIKE 'lead%')
		UNION ALL SELECT s.host, u.url, u.outcome FROM s
			JOIN urls u ON u.site_id=s.id AND u.state=3 AND u.outcome LIKE 'render-%'`, slices.Collect(maps.Keys(hosts)))
	for _, c := range all {
		of[c.Host] = append(of[c.Host], c)
	}
	for _, a := range authors {
		for i, h := range a.Homepages {
			scope, by := []string{h.Prefix(whole)}, map[string]bool{}
			for _, c := range of[weburl.Host(h.URL)] {
				if c.URL == h.URL || weburl.InScope(c.URL, scope) {
					a.Sites[i].Cut, by[c.By] = a.Sites[i].Cut+1, true
				}
			}
			a.Sites[i].CutBy = strings.Join(slices.Sorted(maps.Keys(by)), ", ")
		}
	}
	return err
}

// Place is where a document was found, or what may be one was met.
type Place struct {
	URL, Parent string
	Accepted    bool
	Open        bool // nobody knows what it is
}

// Places lists where documents were found on some hosts, or linked from there.
func (db PersonRecords) Places(ctx context.Context, hosts []string) ([]Place, error) {
	return List[Place](ctx, db, `WITH s AS (SELECT id, host FROM sites WHERE host = ANY($1)),
		l AS (SELECT url, parent, sha256 FROM locations WHERE current AND site_id IN (SELECT id FROM s)
			UNION SELECT l.url, l.parent, l.sha256 FROM s JOIN locations l ON l.current
				AND (left(l.parent, 300) COLLATE "C" >= 'http://' || s.host || '/' AND left(l.parent, 300) COLLATE "C" < 'http://' || s.host || '0'
				  OR left(l.parent, 300) COLLATE "C" >= 'https://' || s.host || '/' AND left(l.parent, 300) COLLATE "C" < 'https://' || s.host || '0'))
		SELECT DISTINCT l.url, l.parent, d.state='accepted', d.state IN ('new', 'failed') FROM l JOIN documents d USING (sha256)`, hosts)
}

// unseen are the outcomes, limits apart, of what may be a document and was not looked into.
const unseen = `('robots-denied', 'forbidden', 'blacklisted', 'body-too-large', 'crawler-panic', 'cannot-be-kept')`

// PlacesLeft lists what else speaks for pages of some hosts, which takes longer to find:
// the pages that link to a document that was found by another page and is accepted or
// not examined, or to a file that was not asked for; what did not answer, there or on the
// sites of a harvest to which these hosts led; and what a limit or a prohibition kept out.
// Two states are two conditions where their indexes are to be gone by.
func (db PersonRecords) PlacesLeft(ctx context.Context, harvest string, hosts []string) ([]Place, error) {
	return List[Place](ctx, db, `WITH s AS (SELECT id FROM sites WHERE host = ANY($2)),
		k AS (SELECT DISTINCT k.site_id, k.page, coalesce(d.state='accepted', false) AS accepted FROM s JOIN links k ON k.site_id=s.id
			LEFT JOIN locations l ON l.asked=k.target AND l.current LEFT JOIN documents d ON d.sha256=l.sha256
			LEFT JOIN urls u ON u.site_id=k.site_id AND u.hash=k.target
			WHERE CASE WHEN l.hash IS NULL THEN coalesce(u.state, 5) IN (0, 3, 5) ELSE d.state <> 'rejected' END)
		SELECT `+pageOfURL+`, '', k.accepted, NOT k.accepted FROM k`+pageOfSQL+`WHERE `+pageOfURL+` IS NOT NULL
		UNION SELECT u.url, u.parent, false, true FROM urls u WHERE u.site_id IN (SELECT id FROM s)
			AND (u.state IN (0, 3) OR u.state IN (4, 5) AND (u.outcome IN `+unseen+` OR u.outcome LIKE '%-limit'))
		UNION SELECT u.url, u.parent, false, true FROM urls u WHERE u.role > 0 AND (u.state=0 OR u.state=3)
			AND u.site_id IN (SELECT site_id FROM harvest_sites WHERE harvest_id=$1 OR given_by IN (SELECT id FROM s))
			AND `+hostOfSQL("u.parent")+` = ANY($2)`, harvest, hosts)
}
