package frontier

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Kept are the links of a page that were not taken when it was read.
type Kept struct {
	Site int
	Page Hash
	From Entry  // the page: its URL, role, depth and the source of the link to it
	Data []byte // packed links; nil if they exceeded the bounds and the page must be fetched again
}

// keep writes the links of pages that were not taken.
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
			return failed("keep links", err)
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
	return failed("keep links", err)
}

// MadeOf returns the requests of the last rendering of a page; nil if there was none.
func MadeOf(ctx context.Context, q Querier, siteID int, page Hash) (made []byte, err error) {
	const madeSQL = `SELECT (SELECT made_of FROM kept_links WHERE site_id=$1 AND page=$2)`
	err = q.QueryRow(ctx, madeSQL, siteID, page).Scan(&made)
	return made, err
}

// EachShown calls each for the pages that were rendered in the present crawl of a site, and for
// those whose rendering failed, with the number of failures: 1 of a page that used up its time. A
// page for which no browser was free counts as nothing.
func EachShown(ctx context.Context, q Querier, siteID, crawl int, each func(url string, failures int)) error {
	rows, _ := q.Query(ctx, `SELECT u.url, (k.unread LIKE '%render-limit%')::int
			FROM kept_links k JOIN sites s ON s.id=k.site_id
			JOIN urls u ON u.site_id=k.site_id AND u.hash=k.page
			WHERE k.site_id=$1 AND k.read_at >= s.crawl_started AND (k.made_of IS NOT NULL OR k.unread LIKE '%render-%')
		UNION ALL SELECT url, $3 FROM urls
			WHERE site_id=$1 AND crawl=$2 AND state=3 AND next_try IS NULL AND outcome IN ('render-crashed', 'render-limit', 'render-cut')`, siteID, crawl, MaxDeaths)
	var url string
	var failures int
	_, err := pgx.ForEachRow(rows, []any{&url, &failures}, func() error { each(url, failures); return nil })
	return err
}

// KeptSize returns the bytes of the kept links of a site, except for pages that wait for
// another visit, which replaces their kept links, and the number of its links to files.
func KeptSize(ctx context.Context, q Querier, siteID int) (kept, files int, err error) {
	err = q.QueryRow(ctx, `SELECT coalesce(sum(octet_length(data)), 0), (SELECT count(*) FROM links WHERE site_id=$1) FROM kept_links k WHERE site_id=$1
		AND NOT EXISTS (SELECT 1 FROM urls u WHERE u.site_id=k.site_id AND u.hash=k.page AND u.state=0)`, siteID).Scan(&kept, &files)
	return kept, files, err
}

// KeptRange chooses pages with kept links: those of one site, or of all if it is 0, that come
// after a page in their order and were read at a time or later.
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

// KeptLinks returns pages with their kept links, in the order of site and page.
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

// AskWhole lets pages wait for an unconditional request.
func AskWhole(ctx context.Context, q Querier, siteID int, pages [][]byte) (int, error) {
	tag, err := q.Exec(ctx, `UPDATE urls SET state=0, etag='', last_modified='', content=NULL
		WHERE site_id=$1 AND hash = ANY($2) AND state=1`, siteID, pages)
	return int(tag.RowsAffected()), err
}

// Known is the record of a URL that was met.
type Known struct {
	Hash    Hash
	URL     string
	Depth   int
	Role    Role
	State   State
	Content []byte // of a page whose links were followed in the present crawl
}

// EachKnown calls each for every URL of a site, the nearest to a homepage first. Its argument
// is valid until the next call.
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

// LookUp returns hash, depth and role of those URLs that were met.
func LookUp(ctx context.Context, q Querier, siteID int, hashes []Hash) ([]Known, error) {
	rows, _ := q.Query(ctx, `SELECT hash, depth, role FROM urls WHERE site_id=$1 AND hash = ANY($2)`, siteID, hashes)
	return pgx.CollectRows(rows, pgx.RowToStructByNameLax[Known])
}

// EachLead calls each for the leads to a site that ended within the last month, in the order of
// their requests, with who named the lead and its outcome. Its argument is valid until the next call.
func EachLead(ctx context.Context, q Querier, siteID int, each func(*Visit)) error {
	rows, _ := q.Query(ctx, `SELECT url, role, parent, source, context, state, outcome FROM urls WHERE site_id=$1 AND role > 0
		AND state IN (1, 2, 4) AND fetched_at > now() - interval '30 days' ORDER BY fetched_at`, siteID)
	e := &Entry{}
	v := &Visit{Entry: e}
	_, err := pgx.ForEachRow(rows, []any{&e.Link.URL, &e.Role, &e.Parent, &e.Link.Source, &e.Link.Context, &v.State, &v.Outcome}, func() error {
		each(v)
		return nil
	})
	return err
}

// NoteLead counts a URL of another site as a lead of one, without adding it to a frontier.
func NoteLead(ctx context.Context, q Querier, from, to int, h Hash) error {
	_, err := q.Exec(ctx, `INSERT INTO leads (from_site, hash, to_site, wanted) VALUES ($1, $2, $3, -1)
		ON CONFLICT DO NOTHING`, from, h, to)
	return err
}

// Fetched reports whether a URL was fetched in the given crawl of its site, by itself or as the
// target of a redirect (Alias).
func Fetched(ctx context.Context, q Querier, siteID int, h Hash, crawl int) (bool, error) {
	var done bool
	err := q.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM urls WHERE site_id = $1 AND hash = $2 AND crawl = $3 AND (state IN (1, 2) OR state = 6 AND outcome = 'success'))`, siteID, h, crawl).Scan(&done)
	return done, err
}
