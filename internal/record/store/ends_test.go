package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
)

// crawled is a.example, whose first crawl read three pages an hour ago and is to end now.
func crawled(t *testing.T) (*store.DB, int) {
	db := open(t)
	id := storetest.Get[int](t, db.Pool, `INSERT INTO sites (host, state, crawl, crawl_pages, crawl_started)
		VALUES ('a.example', 'crawling', 1, 4, now() - interval '1 hour') RETURNING id`)
	storetest.Exec(t, db.Pool, `INSERT INTO urls (site_id, hash, url, state, outcome, crawl, fetched_at, due_at, was)
		SELECT $1, decode(lpad(to_hex(n), 32, '0'), 'hex'), 'http://a.example/' || n, 1, 'success', 1, now() - interval '1 hour',
			now() - interval '1 minute', 1 FROM generate_series(1, 3) n`, id)
	return db, id
}

func endCrawl(t *testing.T, db *store.DB, crawl int, state gleaner.SiteState, reason string) {
	t.Helper()
	e := store.CrawlEnd{Crawl: crawl, State: state, Reason: reason, Policy: "blacklist"}
	require.NoError(t, db.FinishCrawl(t.Context(), "a.example", e, recrawl.Defaults()))
}

// give makes a harvest that wants a.example, where a URL waits.
func give(t *testing.T, db *store.DB, id int) {
	storetest.Exec(t, db.Pool, `INSERT INTO urls (site_id, hash, url, state)
		VALUES ($1, decode(repeat('ab', 16), 'hex'), 'http://a.example/~ada/', 0)`, id)
	watch(t, db, "h", `{}`, "a.example")
}

// TestAnEndSaidTwice takes back nothing that was asked for in between, and does not end the
// next crawl.
func TestAnEndSaidTwice(t *testing.T) {
	t.Parallel()
	row := func(db *store.DB) string {
		return storetest.Get[string](t, db.Pool, `SELECT concat_ws(' ', state, recrawled_for::text, warc::text) FROM sites`)
	}
	db, id := crawled(t)
	endCrawl(t, db, 1, "done", "")
	_, err := db.RequeueDue(t.Context(), "a.example", store.PutBack{All: true, WARC: true, For: "recrawl/due"}, recrawl.Defaults())
	require.NoError(t, err)
	endCrawl(t, db, 1, "done", "")
	require.Equal(t, "new {recrawl/due} true", row(db))
	storetest.Exec(t, db.Pool, `UPDATE sites SET token=8, holder='another', expires_at=now() + interval '1 minute'`)
	require.NoError(t, db.BeginCrawl(t.Context(), store.Slice{SiteID: id, Crawl: 2, Token: 8}))
	endCrawl(t, db, 1, "done", "")
	require.Equal(t, "crawling {recrawl/due} true", row(db))

	db, id = crawled(t)
	endCrawl(t, db, 1, "stopped", "10 slices in a row failed")
	give(t, db, id)
	require.Equal(t, "new false", row(db))
	endCrawl(t, db, 1, "stopped", "10 slices in a row failed")
	require.Equal(t, "new false", row(db))
}

// TestAnEndOfACrawlThatNeverBegan, since the host was parked, leaves what is on record of the
// one before, and the site is due after a short rest.
func TestAnEndOfACrawlThatNeverBegan(t *testing.T) {
	t.Parallel()
	db, id := crawled(t)
	endCrawl(t, db, 1, "done", "")
	storetest.Exec(t, db.Pool, `UPDATE sites SET crawl_started = crawl_started - interval '9 days',
		crawl_finished = crawl_finished - interval '9 days', due_at = now() + interval '81 days'`)
	storetest.Exec(t, db.Pool, `UPDATE crawls SET finished_at = finished_at - interval '9 days'`)
	due := func() bool {
		return storetest.Get[bool](t, db.Pool, `SELECT due_at < now() + interval '2 hours' FROM sites`)
	}
	give(t, db, id)
	endCrawl(t, db, 0, "done", "")
	require.False(t, due())
	endCrawl(t, db, 0, "stopped", "it is parked")
	require.True(t, due())
	require.Equal(t, "4 3 true", storetest.Get[string](t, db.Pool,
		`SELECT concat_ws(' ', requests, fetched, (finished_at < now() - interval '1 day')::text) FROM crawls`))
}

// TestAPausedHarvestThatFails: its crawls, which hear of its end, do not go on without it.
func TestAPausedHarvestThatFails(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for how, fail := range map[string]func(*store.DB, store.Harvest) error{
		"its workflow is lost": func(db *store.DB, h store.Harvest) error { _, err := db.EndHarvest(ctx, h, "terminated"); return err },
		"its workflow says so": func(db *store.DB, h store.Harvest) error {
			return db.SetStage(ctx, h.ID, gleaner.StageFailed, "a panic")
		},
	} {
		db, id := crawled(t)
		give(t, db, id)
		require.NoError(t, db.SetPaused(ctx, "h", true))
		h := devtest.Must(db.FindHarvest(ctx, "h"))(t)
		require.NoError(t, fail(db, h))
		a := devtest.Must(db.Attention(ctx, id))(t)
		require.Equal(t, store.Attention{Cancelled: true}, a[id], how)
	}
}

// TestWhoHearsOfAnEnd: harvests that wait for crawls. Others are to be seen as wanting the
// site, and ask later.
func TestWhoHearsOfAnEnd(t *testing.T) {
	t.Parallel()
	db := open(t)
	for _, stage := range []gleaner.Stage{gleaner.StageCopies, gleaner.StageHomepages, gleaner.StageCrawl, gleaner.StageComplete} {
		for _, paused := range []string{"", " paused"} {
			id := string(stage) + paused
			watch(t, db, id, `{}`, "a.example")
			require.NoError(t, db.SetStage(t.Context(), id, stage, ""))
			storetest.Exec(t, db.Pool, `UPDATE harvests SET paused=$2 WHERE id=$1`, id, paused != "")
		}
	}
	require.Equal(t, []string{"copies", "crawl"}, devtest.Must(db.AwaitingEnd(t.Context(), "a.example"))(t))
	all := devtest.Must(db.SiteWatchers(t.Context(), "a.example"))(t)
	require.Equal(t, []string{"copies", "copies paused", "crawl", "crawl paused", "homepages", "homepages paused"}, all)
}

// TestACancelledHarvestWantsNothing: for its papers no site is due sooner, and no gauge counts them.
func TestACancelledHarvestWantsNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for stage, want := range map[gleaner.Stage]string{gleaner.StageCrawl: "7 1", gleaner.StageCancelled: "14 0"} {
		db, id := crawled(t)
		give(t, db, id)
		papers := []gleaner.Paper{{Key: "v/1", Title: "On Engines", Authors: []gleaner.Author{{PID: "1/1"}}}}
		require.NoError(t, db.SavePapers(ctx, papers, nil))
		require.NoError(t, db.SetHarvestPapers(ctx, "h", papers, nil))
		storetest.Exec(t, db.Pool, `INSERT INTO homepages (author_id, url, host, rank, source)
			VALUES ('1/1', 'http://a.example/~ada/', 'a.example', 0, '')`)
		require.NoError(t, db.SetStage(ctx, "h", stage, ""))
		endCrawl(t, db, 1, "done", "")
		_, err := store.SharedGauges{DB: db}.Gauges(ctx)
		require.NoError(t, err)
		require.Equal(t, want, storetest.Get[string](t, db.Pool, `
			SELECT round(extract(epoch FROM due_at - now()) / 86400) || ' ' || jsonb_path_query_first(result, '$.Gauges[*] ? (@.Name == "papers_wanted").Value')
			FROM sites, chores WHERE name='gauges'`), stage)
	}
}
