package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store/migrations"
)

// TestACleaningReadsItsBatchAlone: a step of a cleaning finds its documents and pages, and
// a part of the list of what failed its URLs, by indexes, however many others there are.
func TestACleaningReadsItsBatchAlone(t *testing.T) {
	t.Parallel()
	db := devtest.Must(Open(t.Context(), devtest.Postgres(t), 2))(t)
	defer db.Close()
	for _, sql := range []string{
		`INSERT INTO sites (host) SELECT 'h' || n || '.example' FROM generate_series(1, 5000) n`,
		`INSERT INTO blacklist (host) SELECT 'h' || n || '.example' FROM generate_series(1, 5000, 50) n`,
		`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, ingestion) SELECT 'd' || n, '', '', 1, 'pdf', 'accepted', CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'new' END FROM generate_series(1, 50000) n`,
		`INSERT INTO locations (hash, asked, sha256, site_id, url, parent) SELECT sha256(d.sha256::bytea), sha256(d.sha256::bytea), d.sha256, 1 + d.id % 5000, 'http://h.example/' || d.sha256, 'http://h.example/p' || d.id % 5000 FROM documents d`,
		`INSERT INTO urls (site_id, hash, url, state) SELECT 1 + n % 5000, sha256(n::text::bytea), 'http://h.example/p' || n, 1 FROM generate_series(1, 20000) n`,
		`INSERT INTO links (site_id, page, target, first_seen, last_seen) SELECT u.site_id, u.hash, sha256(('d' || k)::bytea), current_date, current_date FROM urls u, generate_series(1, 3) k`,
		`INSERT INTO parents (page, url, host, first_crawl, last_crawl) SELECT u.hash, u.url, 'h' || u.site_id || '.example', current_date, current_date FROM urls u`,
		`INSERT INTO whitelist (url, domain, position, documents) SELECT 'http://h' || n || '.example/', 'h' || n || '.example', n, 1 FROM generate_series(1, 20000) n`,
		`INSERT INTO collections (name, options, topics) VALUES ('c', '{}', '[]')`,
		`INSERT INTO collection_urls (collection, hash, host, url) SELECT 1, u.hash, 'h', u.url FROM urls u`,
		`ANALYZE`,
	} {
		_, err := db.Pool.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	type query struct {
		sql  string
		args []any
		uses []string
	}
	queries := map[string]query{
		"not ingested": {notIngestedSQL, []any{"d3", 200}, []string{"documents_not_ingested", "locations_sha256"}},
		"blacklisted":  {onBlacklistSQL, []any{int64(100), []byte{1}, "", 200, false, false, false}, []string{"locations_site", "documents_pkey"}},
		"parents":      {parentsOfSQL(behindSQL), []any{"h2", []byte{1}, 200}, []string{"parents_host", "links_pkey", "urls_pkey", "locations_asked", "locations_parent"}},
		"on a host":    {parentsOfSQL(onHostSQL), []any{"h2.example", []byte{1}, 200}, []string{"parents_host", "links_pkey", "urls_pkey", "locations_asked", "locations_parent"}},
		"one of them":  {parentsOfSQL(aloneSQL), []any{[]byte{1}}, []string{"parents_pkey", "links_pkey", "urls_pkey", "locations_asked", "locations_parent"}},
		"listed pages": {parentsOfSQL(givenSQL), []any{[]string{"http://h1.example/"}, []string{"h1.example"}, [][]byte{{1}}},
			[]string{"links_pkey", "urls_pkey", "locations_parent"}},
		"what failed":  {failedListSQL, []any{"", "", "", "h2.example", []byte{1}, 1000}, []string{"Incremental Sort", "urls_pkey"}},
		"what is left": {`SELECT sha256 FROM cleaned WHERE NOT done ORDER BY sha256 LIMIT 500`, nil, nil},
	}
	behind := map[string][]any{"urls": {200, 3, []byte{1}}, "locations": {200, []byte{1}, ""}, "collection_urls": {200, 1, []byte{1}}}
	for _, texts := range textsOfPages {
		if at := behind[texts.table]; at != nil {
			queries["texts of "+texts.table] = query{texts.sql(false), at, []string{texts.table + "_pkey"}}
		}
	}
	for name, q := range queries {
		rows, err := db.Pool.Query(t.Context(), "EXPLAIN "+q.sql, append([]any{pgx.QueryExecModeExec}, q.args...)...)
		require.NoError(t, err, name)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err, name)
		plan := strings.Join(lines, "\n")
		for _, table := range []string{"documents", "locations", "links", "urls", "whitelist", "parents", "collection_urls"} {
			require.NotContains(t, plan, "Seq Scan on "+table, "%s: %s", name, plan)
		}
		for _, index := range q.uses {
			require.Contains(t, plan, index, "%s: %s", name, plan)
		}
	}
}

// withoutTexts are the columns that hold no text of pages. Documents go with the texts of
// theirs; what a crawl learns of many pages is no text of one; a link stays as a URL.
const withoutTexts = `
authors: id pid name sought_by
blacklist: host reason
chores: name result
citations: key source
cleaned: sha256
collection_domains: domain
collection_entries: topic hash
collection_hosts: host domain
collection_learnings: topic note model
collection_results: topic url parent
collection_urls: hash host url parent kind outcome reason topic sha256
collections: name options topics model state note learnt
console_sessions: token user_name
console_users: name password role subject
copies: paper_key url version license host_kind source
crawl_sections: dir
crawls: policy
directory_stats: path name
documents: sha256 sha1 md5 kind state outcome detail reader class reasons meta_title first_pages same_as ingestion reference_list
domains: domain list
harvest_papers: harvest_id paper_key held_why
harvest_reports: harvest_id report
harvest_sites: harvest_id origin
harvests: id venue options stage note counts years
holdings: hash title authors doi source
homepage_decisions: author_id not_found
homepage_overrides: author_id url word
homepages: author_id url host source scope
import_records: url source outcome detail kind class sha256 difference parent
jobs: kind options state note position counters
leads: hash
links: page target
listings: source venue volume paper
locations: hash sha256 url member parent doi header asked
matches: paper_key sha256 verdict form reasons settled
missing_papers: harvest_id paper_key reason evidence
paper_authors: paper_key author_id
papers: key venue title authors doi arxiv pages links origin
parents: page url host gone
persons: source id person
robots: host body reason
scopes: prefix origin
search_spending: provider
searches: provider query
signs: sha256
site_stats: verdict
sites: host state reason holder pace_by handling view recrawled_for paused
sketches: sha256 sketch
unanswered: harvest_id stage source subject reason
urls: hash url parent source outcome reason
venues: key name title ids sources
volumes: id venue
wanted_changes: paper_key
whitelist: url domain origin
`

// TestEveryTextOfPagesIsRemoved: a column that may hold text of pages is one of
// textsOfPages, and one that is not is said to hold none.
func TestEveryTextOfPagesIsRemoved(t *testing.T) {
	t.Parallel()
	db := devtest.Must(Open(t.Context(), devtest.Postgres(t), 2))(t)
	defer db.Close()
	all, err := Map[string, []string](t.Context(), db, `SELECT table_name::text, array_agg(column_name::text ORDER BY ordinal_position) FROM information_schema.columns
		WHERE table_schema=current_schema AND table_name <> $1 AND data_type IN ('text', 'jsonb', 'bytea', 'tsvector', 'ARRAY') AND udt_name NOT IN ('_int4', '_int8') GROUP BY 1`, migrations.VersionTable)
	require.NoError(t, err)
	removed := map[string]textsOf{}
	for _, texts := range textsOfPages {
		removed[texts.table] = texts
	}
	var said []string
	for table, columns := range all {
		texts, ok := removed[table]
		columns = slices.DeleteFunc(columns, func(c string) bool { return ok && (texts.set == "" || strings.Contains(texts.set, c+"=")) })
		if len(columns) > 0 {
			said = append(said, table+": "+strings.Join(columns, " "))
		}
	}
	slices.Sort(said)
	require.Equal(t, strings.TrimSpace(withoutTexts), strings.Join(said, "\n"))

	// A place lies in a table by its name, whichever are walked before it; that of one which no
	// longer is begins anew.
	for at, want := range map[string]string{"": "page_index", "kept_links": "urls", "of_yore": "page_index", "searches": ""} {
		require.NoError(t, db.Tx(t.Context(), func(tx pgx.Tx) error {
			_, next, err := db.RemovePages(t.Context(), tx, TextsAt{Table: at}, 10)
			require.Equal(t, TextsAt{Table: want, End: want == ""}, next)
			return err
		}))
	}
}

// TestParentThatWasGone checks that a page which a cleaning found gone is of use again when
// somebody read it later, and not for what older archives say of it.
func TestParentThatWasGone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := devtest.Must(Open(ctx, devtest.Postgres(t), 4))(t)
	t.Cleanup(db.Close)
	page := frontier.HashOf("http://a.example/")
	why := func(read time.Time) string {
		require.NoError(t, pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
			return saveParents(ctx, tx, []ParentSeen{{page, "http://a.example/", read, true}})
		}))
		found := devtest.Must(db.Parents(ctx, "", ParentAt{}, 10))(t)
		require.Len(t, found, 1)
		return found[0].Why
	}
	why(time.Date(2005, 1, 2, 0, 0, 0, 0, time.UTC))
	require.NoError(t, db.MarkAsked(ctx, page[:], "not-found"))
	require.Equal(t, "dead link: not-found", why(time.Date(2007, 1, 2, 0, 0, 0, 0, time.UTC)))
	require.Equal(t, "no document", why(time.Now().AddDate(0, 0, 1)))
}

// TestCleaningParentsWaitsAsCrawlsDo: a cleaning holds no link of a page while it waits for
// whoever writes down the page and then its links, as crawls and imports do.
func TestCleaningParentsWaitsAsCrawlsDo(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := devtest.Must(Open(ctx, devtest.Postgres(t), 4))(t)
	t.Cleanup(db.Close)
	const url = "http://a.example/"
	page, target := frontier.HashOf(url), frontier.HashOf(url+"a.pdf")
	seen := func(tx pgx.Tx) error { return saveParents(ctx, tx, []ParentSeen{{page, url, time.Now(), true}}) }
	link := func(tx pgx.Tx, day time.Time) error {
		return frontier.LinkSeen(ctx, tx, []frontier.Seen{{Site: 1, Page: page, Target: target, Day: day}})
	}
	_, err := db.Pool.Exec(ctx, `INSERT INTO sites (host) VALUES ('a.example')`)
	require.NoError(t, err)
	require.NoError(t, pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error { return errors.Join(seen(tx), link(tx, time.Now())) }))
	cleaned := make(chan error, 1)
	err = pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
		if err := seen(tx); err != nil {
			return err
		}
		go func() {
			cleaned <- pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
				_, useless, _, err := db.CleanParents(ctx, tx, ParentAt{}, true, false, 10)
				if err == nil && len(useless) != 1 {
					err = fmt.Errorf("%d pages went", len(useless))
				}
				return err
			})
		}()
		require.Eventually(t, func() bool {
			var waits bool
			err := db.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)`).Scan(&waits)
			return err == nil && waits
		}, time.Minute, 10*time.Millisecond)
		return link(tx, time.Now().AddDate(0, 0, -1)) // a row that a cleaning would have locked
	})
	require.NoError(t, err)
	require.NoError(t, <-cleaned)
}
