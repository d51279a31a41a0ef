package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/record/store/migrations"
)

// blobs remembers what was removed.
type blobs map[string]bool

func (b blobs) Delete(_ context.Context, sha string) error {
	b[sha] = true
	return nil
}

func (b blobs) There(context.Context) error {
	if b["away"] {
		return errors.New("the store is away")
	}
	return nil
}

// TestPruneMarksNothingWhileTheStoreIsAway: no row says that a file is gone that is there.
func TestPruneMarksNothingWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	storetest.Exec(t, db.Pool, keptRows)
	_, err := db.Prune(t.Context(), store.Retention{Rejected: time.Hour}, blobs{"away": true}, store.PruneOptions{})
	require.ErrorContains(t, err, "the store is away")
	require.Zero(t, storetest.Get[int](t, db.Pool, `SELECT count(*)::int FROM documents WHERE blob_left`))
}

const keptRows = `
INSERT INTO page_cache (hash, host, url, final_url, outcome, status, header, body, fetched_at) VALUES
	('\x01', 'h', 'u', 'u', 'success', 200, '{}', 'twelve bytes', now() - interval '9 days'), ('\x02', 'h', 'v', 'v', 'success', 200, '{}', 'x', now());
INSERT INTO searches (provider, query, wanted, results, asked_at) VALUES ('p', 'old', 10, '[]', now() - interval '1 year'), ('p', 'new', 10, '[]', now());
INSERT INTO robots (host, status, available, failures, fetched_at, expires_at) VALUES
	('old.example', 200, true, 0, now(), now() - interval '60 days'), ('new.example', 200, true, 0, now(), now());
INSERT INTO sites (host) VALUES ('www.example');
INSERT INTO urls (site_id, hash, url) SELECT id, '\x01', 'https://www.example/' FROM sites;
INSERT INTO urls (site_id, hash, url) VALUES (4711, '\x02', 'https://removed.example/');
INSERT INTO urls (site_id, hash, url, state) SELECT id, '\x03', 'https://www.example/gone.html', 4 FROM sites;
INSERT INTO links (site_id, page, target, first_seen, last_seen) SELECT id, page, '\x09'::bytea, current_date, current_date
	FROM sites, (VALUES ('\x01'::bytea), ('\x03'), ('\x04')) v (page) UNION SELECT 4711, '\x01', '\x09', current_date, current_date;
INSERT INTO papers (key, venue, year, title) VALUES ('p', 'conf/v', 2003, 'A Paper');
INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, updated_at) VALUES
	('aa', '', '', 100, 'pdf', 'rejected', now() - interval '1 year'),
	('bb', '', '', 100, 'pdf', 'rejected', now()),
	('cc', '', '', 100, 'pdf', 'accepted', now() - interval '1 year'),
	('dd', '', '', 100, 'pdf', 'rejected', now() - interval '1 year'),
	('ee', '', '', 100, 'pdf', 'rejected', now() - interval '1 year'),
	('ff', '', '', 100, 'pdf', 'rejected', now() - interval '1 year');
INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, same_as) VALUES ('99', '', '', 100, 'pdf', 'accepted', 'ff');
INSERT INTO matches (paper_key, sha256, verdict, score, settled) VALUES ('p', 'dd', 'ambiguous', 0.7, ''), ('p', 'ee', 'different', 0.2, 'no'), ('p', 'aa', 'different', 0.2, '');
INSERT INTO harvests (id, venue, year_from, year_to, stage, completed_at) VALUES
	('v/2003', 'conf/v', 2003, 2003, 'complete', now() - interval '2 years'),
	('v/2000-2005', 'conf/v', 2000, 2005, 'complete', now() - interval '1 year'),
	('v/1990', 'conf/v', 1990, 1990, 'complete', now() - interval '2 years');
INSERT INTO jobs (kind, options, state, counters, ended_at) VALUES ('import', '{}', 'ended', '{"all": 2}', now() - interval '1 year'), ('import', '{}', 'failed', '{}', now()), ('import', '{}', 'running', '{}', NULL);
INSERT INTO collections (name, options, topics, state, ended_at) VALUES
	('old', '{}', '[]', 'ended', now() - interval '1 year'), ('new', '{}', '[]', 'ended', now()), ('made', '{}', '[]', 'running', now() - interval '1 year');
INSERT INTO collection_urls (collection, hash, host, url, waiting) SELECT id, decode(n::text, 'escape'), 'a.example', 'http://a.example/' || n, n > 1
	FROM collections, generate_series(1, 3) n;
INSERT INTO import_records (job, n, url) SELECT j.id, n, 'http://a.example/' FROM jobs j, generate_series(1, 2) n;
`

func TestPrune(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 4)
	storetest.Exec(t, db.Pool, keptRows)
	const day = 24 * time.Hour
	keep := store.Retention{Pages: 7 * day, Searches: 180 * day, Robots: 30 * day, Rejected: 90 * day, Harvests: 90 * day, Lines: 90 * day, Waiting: 90 * day}
	want := map[string]int{"pages": 1, "searches": 1, "robots": 1, "urls": 1, "links": 3, "kept links": 0, "harvests": 1, "lines": 2, "waiting": 2, "files": 1}
	counts := func(done []store.Pruned) map[string]int {
		m := map[string]int{}
		for _, p := range done {
			m[p.What] = p.Rows
		}
		return m
	}
	gone := blobs{}
	would := devtest.Must(db.Prune(t.Context(), keep, gone, store.PruneOptions{DryRun: true}))(t)
	require.Equal(t, want, counts(would))
	require.Empty(t, gone)

	last := map[string][2]int{}
	done, err := db.Prune(t.Context(), keep, gone, store.PruneOptions{Batch: 1, Told: func(what string, done, of int) { last[what] = [2]int{done, of} }})
	require.NoError(t, err)
	for what, n := range want {
		require.Equal(t, [2]int{n, n}, last[what], what)
	}
	require.Equal(t, would, done, "the dry run told something else")
	require.Equal(t, blobs{"aa": true}, gone)
	_, err = db.FindHarvest(t.Context(), "v/1990")
	require.NoError(t, err, "no later harvest covers it")
	left := storetest.Get[int](t, db.Pool, `SELECT count(*) FROM import_records`)
	require.Equal(t, 4, left, "of jobs that run and of one that ended lately")
	require.NoError(t, db.Pool.QueryRow(t.Context(), `SELECT count(*) FROM collection_urls`).Scan(&left))
	require.Equal(t, 7, left, "what was asked for, and what waits for a collection that is made or ended lately")
	d, _, err := db.Document(t.Context(), "aa")
	require.NoError(t, err)
	require.Equal(t, gleaner.DocumentRejected, d.State, "the row stays")
	require.True(t, removed(t, db, "aa"))
	// The web still has it, so a recrawl may bring it back.
	require.NoError(t, db.SaveFetched(t.Context(), store.Document{SHA256: "aa", Kind: "pdf", Bytes: 100}, store.Location{Hash: []byte{9}, SHA256: "aa", URL: "https://www.example/a.pdf"}, func() error { return nil }))
	require.False(t, removed(t, db, "aa"))
	storetest.Exec(t, db.Pool, `UPDATE documents SET updated_at=now() WHERE sha256='aa'`)

	again := devtest.Must(db.Prune(t.Context(), keep, gone, store.PruneOptions{}))(t)
	for what, n := range counts(again) {
		require.Zero(t, n, what)
	}
	nothing := devtest.Must(db.Prune(t.Context(), store.Retention{}, gone, store.PruneOptions{}))(t)
	require.Equal(t, map[string]int{"urls": 0, "links": 0, "kept links": 0}, counts(nothing), "zero is for ever")
}

func removed(t *testing.T, db *store.DB, sha string) (is bool) {
	require.NoError(t, db.Pool.QueryRow(t.Context(), `SELECT blob_removed_at IS NOT NULL FROM documents WHERE sha256=$1`, sha).Scan(&is))
	return is
}

func TestInspect(t *testing.T) {
	t.Parallel()
	dsn := devtest.EmptyPostgres(t)
	require.Zero(t, devtest.Must(store.Inspect(t.Context(), dsn))(t).Applied)
	_, err := store.Connect(t.Context(), dsn, 2)
	require.ErrorIs(t, err, store.ErrSchema, "a command that only looks changes no schema")
	db := devtest.Must(store.Open(t.Context(), dsn, 2))(t)
	t.Cleanup(db.Close)
	i := devtest.Must(store.Inspect(t.Context(), dsn))(t)
	require.Equal(t, i.Known, i.Applied)
	same := devtest.Must(store.Connect(t.Context(), dsn, 2))(t)
	same.Close()
	storetest.Exec(t, db.Pool, `COMMENT ON TABLE schema_version IS 'another'`)
	_, err = store.Connect(t.Context(), dsn, 2)
	require.ErrorIs(t, err, migrations.ErrBaseline)
	_, err = store.Inspect(t.Context(), dsn)
	require.ErrorIs(t, err, migrations.ErrBaseline)
	require.Positive(t, i.Applied)
	require.Less(t, i.Skew.Abs(), time.Second)
	require.Greater(t, i.VersionNum, 100000)
	_, err = store.Inspect(t.Context(), "postgres://nobody@127.0.0.1:1/none?connect_timeout=1")
	require.ErrorIs(t, err, store.ErrUnreachable)
}
