package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/weburl"
)

// readHomepages says of homepages whether they were read.
func (db ReportRecords) readHomepages(ctx context.Context, authors map[string]AuthorClue) error {
	var of []*SiteClue
	var hosts []string
	var hashes []frontier.Hash
	for _, a := range authors {
		for i, h := range a.Homepages {
			of, hosts = append(of, &a.Sites[i]), append(hosts, weburl.Host(h.URL))
			hashes, a.Sites[i].Unasked = append(hashes, frontier.HashOf(h.URL)), true
		}
	}
	type asked struct {
		N       int
		State   frontier.State
		Outcome string
	}
	return forEach(ctx, db, func(a asked) {
		of[a.N-1].Unasked = false
		if a.State != frontier.Page {
			of[a.N-1].Unread = a.Outcome
		}
	}, `SELECT v.n, u.state, u.outcome FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY v (host, hash, n)
		JOIN sites s ON s.host=v.host JOIN urls u ON u.site_id=s.id AND u.hash=v.hash WHERE u.state<>0`, hosts, hashes)
}

// cutPages counts, by homepage, the pages of which not all links were looked at, and those
// that limits kept from being asked for.
func (db ReportRecords) cutPages(ctx context.Context, authors map[string]AuthorClue, whole bool) error {
	type cut struct{ Host, URL, By string }
	hosts := map[string]bool{}
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
	of := each.By(all, func(c cut) string { return c.Host })
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

// place is where a host stands in the order in which hosts are crawled.
type place struct {
	turn int    // of a harvest (SitesToCrawl); else 0
	rank int    // of the host's domain (rankSQL)
	host string // where the ranks are the same
}

// rankSQL is the rank of a site s: its domain's place on the whitelist, then its
// domain's by F₁. Sites whose domain is on neither come last.
const rankSQL = `coalesce((SELECT min(w.position) FROM whitelist w WHERE w.domain = ANY (` + domainsOf + `)),
	(SELECT 1000000000 + min(d.rank) FROM domains d WHERE d.domain = ANY (` + domainsOf + `)), 2147483647)`

// domainsOf are the names of which one is the domain of a site s: its host's name,
// and what follows each dot in it.
const domainsOf = `ARRAY(SELECT array_to_string(parts[i:], '.') FROM string_to_array(split_part(s.host, ':', 1), '.') parts, generate_subscripts(parts, 1) i)`

// placeOf reads what String wrote; "" is before all.
func placeOf(s string) (p place) {
	_, _ = fmt.Sscan(s, &p.turn, &p.rank, &p.host)
	return p
}

func (p place) String() string { return fmt.Sprint(p.turn, " ", p.rank, " ", p.host) }

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

// InVain lists the registrable domains that named hosts of a domain in vain: the last so
// many hosts that one named and that answered within a month gave no document. A site
// that gave one, and hosts of homepages, are of another kind.
func (db ReportRecords) InVain(ctx context.Context, siteID int, domain string, hosts int) (map[string]bool, error) {
	type named struct {
		Gave    bool
		Parents []string
	}
	vain, asked := map[string]bool{}, map[string]int{} // by who named them
	err := forEach(ctx, db, func(n named) {
		for giver := range each.Set(n.Parents, weburl.Domain) {
			asked[giver]++
			switch {
			case n.Gave && asked[giver] <= hosts:
				asked[giver] = hosts // and it is not in vain
			case asked[giver] == hosts:
				vain[giver] = true
			}
		}
	}, `SELECT EXISTS (SELECT 1 FROM locations l WHERE l.site_id=s.id),
			ARRAY(SELECT DISTINCT split_part(u.parent, '/', 3) FROM urls u WHERE u.site_id=s.id AND u.parent <> '')
		FROM sites s
		WHERE `+reversedHost+` >= reverse($2) AND `+reversedHost+` < reverse($2) || '/' AND (`+reversedHost+` = reverse($2) OR starts_with(`+reversedHost+`, reverse($2) || '.'))
			AND s.id <> $1 AND s.crawl_finished > now() - interval '30 days'
			AND (EXISTS (SELECT 1 FROM urls u WHERE u.site_id=s.id AND u.status > 0) OR EXISTS (SELECT 1 FROM robots r WHERE r.host=s.host AND r.status > 0))
			AND NOT EXISTS (SELECT 1 FROM scopes c WHERE c.site_id=s.id) AND NOT EXISTS (SELECT 1 FROM locations WHERE site_id=$1)
		ORDER BY s.crawl_finished DESC LIMIT $3`, siteID, domain, 10*hosts)
	return vain, err
}

// reversedHost is a site's name without its port, from its end: hosts of a domain
// lie beside one another in its index.
const reversedHost = `reverse(split_part(s.host, ':', 1)) COLLATE "C"`

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
