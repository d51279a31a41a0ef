package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/weburl"
)

// ParentSeen is a page as somebody met it: who read it, on a day, or who only says that a
// document was found there.
type ParentSeen struct {
	Page  frontier.Hash
	URL   string
	Day   time.Time // on which it was read; zero where it is only named
	Leads bool      // to a file
}

// saveParentsSQL is the rule of the table of parents, whoever fills it: a page that leads
// to a file, or is said to, is there from then on, and was crawled from the first day on
// which somebody read it to the last. One that is there is read, too, where it leads
// nowhere any more or is as it was.
const saveParentsSQL = `INSERT INTO parents AS p (page, url, host, first_crawl, last_crawl)
	SELECT v.page, (min(ARRAY[v.url, v.host]))[1], (min(ARRAY[v.url, v.host]))[2], min(v.day)::date, max(v.day)::date
	FROM unnest($1::bytea[], $2::text[], $3::text[], $4::timestamptz[], $5::boolean[]) AS v (page, url, host, day, leads)
	GROUP BY v.page HAVING bool_or(v.leads) OR EXISTS (SELECT 1 FROM parents o WHERE o.page=v.page) ORDER BY v.page
	ON CONFLICT (page) DO UPDATE SET first_crawl=least(p.first_crawl, EXCLUDED.first_crawl),
		last_crawl=greatest(p.last_crawl, EXCLUDED.last_crawl),
		gone=CASE WHEN EXCLUDED.last_crawl >= p.asked THEN '' ELSE p.gone END
	WHERE p.first_crawl IS NULL AND EXCLUDED.first_crawl IS NOT NULL OR EXCLUDED.first_crawl < p.first_crawl OR EXCLUDED.last_crawl > p.last_crawl`

// saveParents puts pages on record as they were met, in the order of their identities, so
// that two who write the same wait for one another in turn.
func saveParents(ctx context.Context, tx pgx.Tx, pages []ParentSeen) error {
	for some := range slices.Chunk(pages, linksAtOnce) {
		var hashes []frontier.Hash
		var urls, hosts []string
		var days []*time.Time
		var leads []bool
		for i := range some {
			p := &some[i]
			host := weburl.Host(p.URL)
			if host == "" {
				continue
			}
			hashes, urls, hosts = append(hashes, p.Page), append(urls, p.URL), append(hosts, host)
			days, leads = append(days, UnlessZero(p.Day)), append(leads, p.Leads)
		}
		if _, err := tx.Exec(ctx, saveParentsSQL, hashes, urls, hosts, days, leads); err != nil {
			return err
		}
	}
	return nil
}

// readPages are the pages that a slice read; those that are gone stay as they were.
func readPages(read []frontier.Reading) (pages []ParentSeen) {
	for i := range read {
		r := &read[i]
		if r.URL == "" {
			continue
		}
		pages = append(pages, ParentSeen{r.Page, r.URL, cmp.Or(r.Day, time.Now()), len(r.Files) > 0})
	}
	return pages
}

// Parent is a page that leads to documents.
type Parent struct {
	Site      int64      `json:"-"`
	Page      []byte     `json:"-"` // identity of its URL
	URL       string     `json:"url"`
	Host      string     `json:"host"`
	Documents int        `json:"documents"`   // on record, that it leads to
	First     *time.Time `json:"first_crawl"` // the day of it
	Last      *time.Time `json:"last_crawl"`
	Read      bool       `json:"read"`              // somebody read it; else its days are those of the documents found there
	Met       bool       `json:"-"`                 // a crawl has its URL on record
	Asked     *time.Time `json:"asked,omitempty"`   // the day on which a cleaning asked for it
	Why       string     `json:"useless,omitempty"` // why it is of no use; "" where it is
}

// ParentAt is where a list of parents, or of URLs, goes on, by host and then by page.
type ParentAt struct {
	Host     string `json:"host,omitempty"`
	Page     []byte `json:"page,omitempty"`
	Listed   bool   `json:"listed,omitempty"` // through with parents: now the whitelist
	Position int    `json:"position,omitempty"`
	URL      string `json:"url,omitempty"`
	End      bool   `json:"end,omitempty"`

	Texts TextsAt `json:"texts,omitzero"` // behind the end
}

// The pages of which parentsOfSQL tells: parents behind one, those of one host, one
// alone, and listed ones, by URL, host and identity, that are no parents.
const (
	behindSQL = `SELECT s.id AS site_id, p.* FROM (SELECT * FROM parents k WHERE (k.host, k.page) > ($1, $2) ORDER BY k.host, k.page LIMIT $3) p LEFT JOIN sites s ON s.host=p.host`
	onHostSQL = `SELECT s.id AS site_id, p.* FROM (SELECT * FROM parents k WHERE k.host=$1 AND k.page > $2 ORDER BY k.host, k.page LIMIT $3) p LEFT JOIN sites s ON s.host=p.host`
	aloneSQL  = `SELECT s.id AS site_id, p.* FROM (SELECT * FROM parents k WHERE k.page=$1) p LEFT JOIN sites s ON s.host=p.host`
	givenSQL  = `SELECT s.id AS site_id, v.page, v.url, v.host, NULL::date AS first_crawl, NULL::date AS last_crawl, NULL::date AS asked, '' AS gone FROM unnest($1::text[], $2::text[], $3::bytea[]) v (url, host, page)
		LEFT JOIN sites s ON s.host=v.host WHERE NOT EXISTS (SELECT 1 FROM parents k WHERE k.page=v.page)`
)

// leadsSQL are the documents that a page p leads to: those that it linked to when it was
// read last, and those that were found by it.
const leadsSQL = `SELECT l.sha256, l.url, l.found_at, l.seen_at FROM links k JOIN locations l ON l.asked=k.target WHERE k.site_id=p.site_id AND k.page=p.page
	UNION ALL SELECT l.sha256, l.url, l.found_at, l.seen_at FROM locations l WHERE left(l.parent, 300) COLLATE "C" = left(p.url, 300) COLLATE "C" AND l.parent=p.url`

// parentsOfSQL says of pages what they lead to, and why one is of no use. A page
// without documents is let be while its site is crawled: they may be on their way.
func parentsOfSQL(pages string) string {
	return `SELECT coalesce(p.site_id, 0), p.page, p.url, p.host, n.documents, coalesce(p.first_crawl, n.first), coalesce(p.last_crawl, n.last), p.first_crawl IS NOT NULL, u.hash IS NOT NULL, p.asked, CASE
			WHEN EXISTS (SELECT 1 FROM blacklist b WHERE b.host=p.host) THEN 'blacklisted host ' || p.host
			WHEN u.state=4 THEN 'dead link: ' || u.outcome
			WHEN p.gone <> '' THEN 'dead link: ' || p.gone
			WHEN n.documents > 0 OR (SELECT s.state='crawling' FROM sites s WHERE s.id=p.site_id) THEN ''
			ELSE 'no document' END
		FROM (` + pages + `) p LEFT JOIN urls u ON u.site_id=p.site_id AND u.hash=p.page
			CROSS JOIN LATERAL (SELECT (count(DISTINCT d.sha256))::int AS documents, min(d.found_at)::date AS first, max(d.seen_at)::date AS last FROM (` + leadsSQL + `) d) n
		ORDER BY p.host, p.page`
}

// Parents lists pages that lead to documents, on any host or one, behind a place.
func (db DocumentRecords) Parents(ctx context.Context, host string, after ParentAt, limit int) ([]Parent, error) {
	sql := behindSQL
	if host != "" {
		if sql = onHostSQL; after.Host != host {
			after = ParentAt{Host: host}
		}
	}
	return List[Parent](ctx, db, parentsOfSQL(sql), after.Host, each.List(after.Page), limit)
}

// At is the place of a page in the list.
func (p Parent) At() ParentAt { return ParentAt{Host: p.Host, Page: p.Page} }

// String is a place in the list, as people hand it on.
func (at ParentAt) String() string { return at.Host + " " + hex.EncodeToString(at.Page) }

// ParseParentAt reads what String writes; "" is the beginning.
func ParseParentAt(s string) (ParentAt, error) {
	if s == "" {
		return ParentAt{}, nil
	}
	host, page, _ := strings.Cut(s, " ")
	raw, err := hex.DecodeString(page)
	if err != nil || len(raw) == 0 {
		return ParentAt{}, fmt.Errorf("want a place as a list gives it, not %q", s)
	}
	return ParentAt{Host: host, Page: raw}, nil
}

// ParentDocument is a document that a page leads to.
type ParentDocument struct {
	URL    string `json:"url"`
	SHA256 string `json:"sha256"`
	State  string `json:"state"`
	Class  string `json:"class,omitempty"`
}

// Parent finds a page that leads to documents, by its URL, and those behind one, at most
// limit. A page that is not known has no URL.
func (db DocumentRecords) Parent(ctx context.Context, url string, after ParentDocument, limit int) (p Parent, documents []ParentDocument, err error) {
	page := frontier.HashOf(url)
	found, err := List[Parent](ctx, db, parentsOfSQL(aloneSQL), page[:])
	if err != nil || len(found) == 0 {
		return p, nil, err
	}
	documents, err = List[ParentDocument](ctx, db, `SELECT DISTINCT n.url, d.sha256, d.state, d.class FROM (`+aloneSQL+`) p CROSS JOIN LATERAL (`+leadsSQL+`) n
		JOIN documents d ON d.sha256=n.sha256 WHERE (n.url, d.sha256) > ($2, $3) ORDER BY 1, 2 LIMIT $4`, page[:], after.URL, after.SHA256, limit)
	return found[0], documents, err
}

// parentsAt lists the next parents, and where to go on behind them.
func parentsAt(ctx context.Context, tx pgx.Tx, at ParentAt, limit int) ([]Parent, ParentAt, error) {
	if at.Listed {
		return listedParents(ctx, tx, at, limit)
	}
	next, err := List[Parent](ctx, tx, parentsOfSQL(behindSQL), at.Host, each.List(at.Page), limit)
	if len(next) < limit {
		return next, ParentAt{Listed: true, Position: -1}, err
	}
	return next, next[len(next)-1].At(), err
}

func listedParents(ctx context.Context, tx pgx.Tx, at ParentAt, limit int) ([]Parent, ParentAt, error) {
	listed, err := List[ListedURL](ctx, tx, whitelistSQL, at.Position, at.URL, limit)
	if err != nil {
		return nil, at, err
	}
	var urls, hosts []string
	var pages []frontier.Hash
	for _, l := range listed {
		urls, hosts = append(urls, l.URL), append(hosts, weburl.Host(l.URL))
		pages, at.Position, at.URL = append(pages, frontier.HashOf(l.URL)), l.Position, l.URL
	}
	at.End = len(listed) < limit
	next, err := List[Parent](ctx, tx, parentsOfSQL(givenSQL), each.List(urls), each.List(hosts), pages)
	return next, at, err
}

// MarkAsked notes that a page was asked for today (UTC), and with which outcome it is gone; ""
// where it is not.
func (db DocumentRecords) MarkAsked(ctx context.Context, page []byte, gone string) error {
	return db.Exec(ctx, `UPDATE parents SET asked=(now() AT TIME ZONE 'UTC')::date, gone=$2 WHERE page=$1`, page, gone)
}

// CleanParents looks at the next pages that lead to files, and at those of the whitelist:
// which of them are of no use (on a blacklisted host, gone, or without any document), and
// where it goes on. With inPlace they, their links and their lines of the whitelist go in
// the transaction that it is given; without, nothing is changed. With blacklisted only those
// on blacklisted hosts count.
func (db DocumentRecords) CleanParents(ctx context.Context, tx pgx.Tx, at ParentAt, inPlace, blacklisted bool, limit int) (looked int, useless []Parent, next ParentAt, err error) {
	all, next, err := parentsAt(ctx, tx, at, limit)
	if err != nil {
		return 0, nil, at, err
	}
	var urls []string
	var pages [][]byte
	for _, p := range all {
		if p.Why != "" && (!blacklisted || strings.HasPrefix(p.Why, "blacklisted host ")) {
			useless, urls, pages = append(useless, p), append(urls, p.URL), append(pages, p.Page)
		}
	}
	if inPlace && len(useless) > 0 {
		b := &pgx.Batch{}
		slices.SortFunc(pages, bytes.Compare)
		b.Queue(`SELECT FROM parents WHERE page = ANY ($1) ORDER BY page FOR UPDATE`, pages) // before their links, as crawls and imports do
		for _, p := range useless {
			b.Queue(`DELETE FROM links WHERE site_id=$1 AND page=$2`, p.Site, p.Page)
		}
		b.Queue(`DELETE FROM parents WHERE page = ANY ($1)`, pages)
		b.Queue(`DELETE FROM whitelist WHERE md5(url) = ANY (SELECT md5(u) FROM unnest($1::text[]) u)`, urls)
		err = tx.SendBatch(ctx, b).Close()
	}
	return len(all), useless, next, err
}
