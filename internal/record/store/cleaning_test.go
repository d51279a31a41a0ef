package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/record/frontier"
)

// TestACleaningReadsItsBatchAlone: a step of a cleaning finds its documents and pages, and
// a part of the list of what failed its URLs, by indexes, however many others there are.
func TestACleaningReadsItsBatchAlone(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), devtest.Postgres(t), 2)
	require.NoError(t, err)
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
		`ANALYZE`,
	} {
		_, err := db.Pool.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	for name, q := range map[string]struct {
		sql  string
		args []any
		uses []string
	}{
		"not ingested": {notIngestedSQL, []any{"d3", 200}, []string{"documents_not_ingested", "locations_sha256"}},
		"blacklisted":  {onBlacklistSQL, []any{int64(100), []byte{1}, "", 200, false, false, false}, []string{"locations_site", "documents_pkey"}},
		"parents":      {parentsOfSQL(behindSQL), []any{"h2", []byte{1}, 200}, []string{"parents_host", "links_pkey", "urls_pkey", "locations_asked", "locations_parent"}},
		"on a host":    {parentsOfSQL(onHostSQL), []any{"h2.example", []byte{1}, 200}, []string{"parents_host", "links_pkey", "urls_pkey", "locations_asked", "locations_parent"}},
		"one of them":  {parentsOfSQL(aloneSQL), []any{[]byte{1}}, []string{"parents_pkey", "links_pkey", "urls_pkey", "locations_asked", "locations_parent"}},
		"listed pages": {parentsOfSQL(givenSQL), []any{[]string{"http://h1.example/"}, []string{"h1.example"}, [][]byte{{1}}},
			[]string{"links_pkey", "urls_pkey", "locations_parent"}},
		"what failed":  {failedListSQL, []any{"", "", "", "h2.example", []byte{1}, 1000}, []string{"Incremental Sort", "urls_pkey"}},
		"what is left": {`SELECT sha256 FROM cleaned WHERE NOT done ORDER BY sha256 LIMIT 500`, nil, nil},
	} {
		rows, err := db.Pool.Query(t.Context(), "EXPLAIN "+q.sql, append([]any{pgx.QueryExecModeExec}, q.args...)...)
		require.NoError(t, err, name)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err, name)
		plan := strings.Join(lines, "\n")
		for _, table := range []string{"documents", "locations", "links", "urls", "whitelist", "parents"} {
			require.NotContains(t, plan, "Seq Scan on "+table, "%s: %s", name, plan)
		}
		for _, index := range q.uses {
			require.Contains(t, plan, index, "%s: %s", name, plan)
		}
	}
}

// TestParentThatWasGone checks that a page which a cleaning found gone is of use again when
// somebody read it later, and not for what older archives say of it.
func TestParentThatWasGone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db, err := Open(ctx, devtest.Postgres(t), 4)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	page := frontier.HashOf("http://a.example/")
	why := func(read time.Time) string {
		require.NoError(t, pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
			return saveParents(ctx, tx, []ParentSeen{{page, "http://a.example/", read, true}})
		}))
		found, err := db.Parents(ctx, "", ParentAt{}, 10)
		require.NoError(t, err)
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
	db, err := Open(ctx, devtest.Postgres(t), 4)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	const url = "http://a.example/"
	page, target := frontier.HashOf(url), frontier.HashOf(url+"a.pdf")
	seen := func(tx pgx.Tx) error { return saveParents(ctx, tx, []ParentSeen{{page, url, time.Now(), true}}) }
	link := func(tx pgx.Tx, day time.Time) error {
		return frontier.LinkSeen(ctx, tx, []frontier.Seen{{Site: 1, Page: page, Target: target, Day: day}})
	}
	_, err = db.Pool.Exec(ctx, `INSERT INTO sites (host) VALUES ('a.example')`)
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
