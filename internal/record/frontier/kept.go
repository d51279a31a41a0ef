package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
	"gleaner/internal/web/page"
)

// Kept are the links of a page that were not taken when it was read.
type Kept struct {
	Site int
	Page Hash
	From Entry  // the page: its URL, role, depth and the source of the link to it
	Data []byte // packed links; nil where they had no room and the page must be fetched again
}

// keep writes the links that were not taken of pages that were read.
func keep(ctx context.Context, q Querier, siteID int, readings []Reading) error {
	var pages, none []Hash
	var data, made [][]byte
	var unread []string
	for i := range readings {
		r := &readings[i]
		switch {
		case r.Same:
		case r.Kept == nil && !r.NoRoom && r.MadeOf == nil:
			none = append(none, r.Page)
		default:
			pages, data, made = append(pages, r.Page), append(data, r.Kept), append(made, r.MadeOf)
			unread = append(unread, r.Unread)
		}
	}
	if len(none) > 0 {
		if _, err := q.Exec(ctx, `DELETE FROM kept_links WHERE site_id=$1 AND page = ANY($2)`, siteID, none); err != nil {
			return fmt.Errorf("frontier: keep links: %w", err)
		}
	}
	if len(pages) == 0 {
		return nil
	}
	_, err := q.Exec(ctx, `INSERT INTO kept_links (site_id, page, data, unread, made_of)
		SELECT DISTINCT ON (page) $1::bigint, page, data, unread, made_of
		FROM unnest($2::bytea[], $3::bytea[], $4::text[], $5::bytea[]) AS v (page, data, unread, made_of)
		ON CONFLICT (site_id, page) DO UPDATE
		SET data=EXCLUDED.data, unread=EXCLUDED.unread, made_of=EXCLUDED.made_of, read_at=now()`,
		siteID, pages, data, unread, made)
	if err != nil {
		return fmt.Errorf("frontier: keep links: %w", err)
	}
	return nil
}

// MadeOf is what a browser asked for when it showed a page last; nil where none did.
func MadeOf(ctx context.Context, q Querier, siteID int, page Hash) (made []byte, err error) {
	const madeSQL = `SELECT (SELECT made_of FROM kept_links WHERE site_id=$1 AND page=$2)`
	err = q.QueryRow(ctx, madeSQL, siteID, page).Scan(&made)
	return made, err
}

// EachShown calls tell for each page that a browser showed in the present crawl of a site, or
// could not show, with the number of failures: one of a page that used up its time.
func EachShown(ctx context.Context, q Querier, siteID, crawl int, tell func(url string, failures int)) error {
	rows, _ := q.Query(ctx, `SELECT u.url, (k.unread LIKE '%render-limit%')::int
			FROM kept_links k JOIN sites s ON s.id=k.site_id
			JOIN urls u ON u.site_id=k.site_id AND u.hash=k.page
			WHERE k.site_id=$1 AND k.read_at >= s.crawl_started AND (k.made_of IS NOT NULL OR k.unread LIKE '%render-%')
		UNION ALL SELECT url, $3 FROM urls
			WHERE site_id=$1 AND crawl=$2 AND state=3 AND next_try IS NULL AND outcome LIKE 'render-%'`, siteID, crawl, MaxDeaths)
	var url string
	var failures int
	_, err := pgx.ForEachRow(rows, []any{&url, &failures}, func() error { tell(url, failures); return nil })
	return err
}

// KeptBytes is how much is kept of the links of a site's pages, but for those that wait to
// be asked again: what is kept of them then takes the place of this.
func KeptBytes(ctx context.Context, q Querier, siteID int) (n int, err error) {
	err = q.QueryRow(ctx, `SELECT coalesce(sum(octet_length(data)), 0) FROM kept_links k WHERE site_id=$1
		AND NOT EXISTS (SELECT 1 FROM urls u WHERE u.site_id=k.site_id AND u.hash=k.page AND u.state=0)`, siteID).Scan(&n)
	return n, err
}

// KeptRange chooses pages whose links are kept: those of one site, or of all where it is
// 0, that come after a page in their order and were read at a time or later.
type KeptRange struct {
	Site      int
	AfterSite int
	AfterPage []byte
	Since     time.Time
	Limit     int
}

// keptSQL keeps the planner by its OFFSET from joining all pages for each part of them.
const keptSQL = `SELECT k.site_id, k.page, k.data, u.url, u.role, u.depth, u.source
	FROM kept_links k CROSS JOIN LATERAL (SELECT * FROM urls WHERE site_id=k.site_id AND hash=k.page AND state=1 OFFSET 0) u
	WHERE ($1=0 OR k.site_id=$1) AND (k.site_id, k.page) > ($2, $3) AND k.read_at >= $4 ORDER BY k.site_id, k.page LIMIT $5`

// KeptLinks lists pages whose links are kept, by site and page.
func KeptLinks(ctx context.Context, q Querier, r KeptRange) ([]Kept, error) {
	if r.AfterPage == nil {
		r.AfterPage = []byte{}
	}
	rows, _ := q.Query(ctx, keptSQL, r.Site, r.AfterSite, r.AfterPage, r.Since, r.Limit)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (k Kept, err error) {
		err = row.Scan(&k.Site, &k.Page, &k.Data, &k.From.Link.URL, &k.From.Role, &k.From.Depth, &k.From.Link.Source)
		return k, err
	})
}

// AskWhole has pages fetched again, and not as a 304.
func AskWhole(ctx context.Context, q Querier, siteID int, pages [][]byte) (int, error) {
	tag, err := q.Exec(ctx, `UPDATE urls SET state=0, etag='', last_modified='', content=NULL
		WHERE site_id=$1 AND hash = ANY($2) AND state=1`, siteID, pages)
	return int(tag.RowsAffected()), err
}

// Known is what the record says of a URL that was met.
type Known struct {
	Hash    Hash
	URL     string
	Depth   int
	Role    Role
	State   State
	Content []byte // of a page whose links were followed in the present crawl
}

// EachKnown tells of every URL of a site, the nearest to a homepage first. What it
// tells of is valid until the next one.
func EachKnown(ctx context.Context, q Querier, siteID, crawl int, each func(*Known)) error {
	rows, _ := q.Query(ctx, `SELECT hash, depth, role, state, url, CASE WHEN state=1 AND role=0 AND crawl=$2 THEN content END FROM urls
		WHERE site_id=$1 ORDER BY depth, seq`, siteID, crawl)
	var k Known
	_, err := pgx.ForEachRow(rows, []any{&k.Hash, &k.Depth, &k.Role, &k.State, &k.URL, &k.Content}, func() error {
		each(&k)
		return nil
	})
	return err
}

// LookUp tells of those of some URLs that were met: their hash, depth and role.
func LookUp(ctx context.Context, q Querier, siteID int, hashes []Hash) ([]Known, error) {
	rows, _ := q.Query(ctx, `SELECT hash, depth, role FROM urls WHERE site_id=$1 AND hash = ANY($2)`, siteID, hashes)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (k Known, err error) {
		err = row.Scan(&k.Hash, &k.Depth, &k.Role)
		return k, err
	})
}

// EachLead tells how the leads of other hosts to a site ended within the last
// month, in the order in which they were asked for: the page that named each, and
// what became of it.
func EachLead(ctx context.Context, q Querier, siteID int, each func(parent string, state State, outcome gleaner.Outcome)) error {
	rows, _ := q.Query(ctx, `SELECT parent, state, outcome FROM urls WHERE site_id=$1 AND role > 0 AND source <> $2 AND parent <> ''
		AND state IN (1, 2, 4) AND fetched_at > now() - interval '30 days' ORDER BY fetched_at`, siteID, page.SourceSeed)
	var parent string
	var state State
	var outcome gleaner.Outcome
	_, err := pgx.ForEachRow(rows, []any{&parent, &state, &outcome}, func() error {
		each(parent, state, outcome)
		return nil
	})
	return err
}

// NoteLead counts a URL of another site among the leads of one, though it is in no frontier.
func NoteLead(ctx context.Context, q Querier, from, to int, h Hash) error {
	_, err := q.Exec(ctx, `INSERT INTO leads (from_site, hash, to_site, wanted) VALUES ($1, $2, $3, -1)
		ON CONFLICT DO NOTHING`, from, h, to)
	return err
}

// Fetched reports whether a URL was fetched in the given crawl of its site, by
// itself or as the end of a redirect (Alias).
func Fetched(ctx context.Context, q Querier, siteID int, h Hash, crawl int) (bool, error) {
	var done bool
	err := q.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM urls WHERE site_id = $1 AND hash = $2 AND crawl = $3 AND (state IN (1, 2) OR state = 6 AND outcome = 'success'))`, siteID, h, crawl).Scan(&done)
	return done, err
}
