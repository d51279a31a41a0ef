package crawl

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/politeness"
	"gleaner/internal/rank"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// fragile is a strategy that panics over a link.
type fragile struct{ rank.Strategy }

func (f fragile) Enter(c *page.Candidate) {
	if strings.HasSuffix(c.Link.URL, "/poison.html") {
		panic("poison")
	}
	f.Strategy.Enter(c)
}

// TestAPanicSetsItsURLAside: with a name, the stack in the log, and no harm to
// the other pages of its site.
func TestAPanicSetsItsURLAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, map[string]any{"/": links("bad.html", "good.html"), "/bad.html": links("poison.html"), "/good.html": links("1.pdf"), "/1.pdf": "one"})
	w.seed(t, s.host, "/", "/")
	var log bytes.Buffer
	c := w.crawler(w.client)
	c.log = slog.New(slog.NewTextHandler(&log, nil))
	c.wrap = func(s rank.Strategy) rank.Strategy { return fragile{s} }
	r := w.finish(t, c, s.host)
	require.Equal(t, Exhausted, r.Ending)
	require.Equal(t, map[string]string{"/": "page success", "/bad.html": "failed crawler-panic", "/good.html": "page success", "/1.pdf": "document success"}, w.record(t, s.host))
	require.Equal(t, 1, s.asked()["/bad.html"])
	require.Contains(t, w.rows(t, s.host, "reason")["/bad.html"], "poison")
	require.Contains(t, log.String(), "attempts_test.go", "the stack")
}

// TestTheLeaseIsRenewedWhileASiteIsLoaded: a large site takes longer than a lease.
func TestTheLeaseIsRenewedWhileASiteIsLoaded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, map[string]any{"/": "nothing"})
	w.seed(t, s.host, "/", "/")
	c := w.crawler(w.client)
	c.wrap = func(s rank.Strategy) rank.Strategy {
		storetest.Exec(t, w.db.Pool, `UPDATE sites SET expires_at = now() - interval '1s'`)
		require.Eventually(t, func() bool {
			lapsed, err := w.keeper.Lapsed(t.Context())
			return err == nil && len(lapsed) == 0
		}, 20*time.Second, 20*time.Millisecond)
		return s
	}
	require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
}

// breaking is a fetcher and a strategy that panic.
type breaking struct {
	Fetcher
	rank.Strategy
}

func (b breaking) Fetch(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	if strings.HasSuffix(r.URL, "/bad.html") {
		panic("decoder")
	}
	return b.Fetcher.Fetch(ctx, r)
}

func (b breaking) Next([]page.Candidate) (int, string) { panic("chooser") }

// TestAPanicOverARequestSetsItsURLAside, and one of the strategy sets none aside.
func TestAPanicOverARequestSetsItsURLAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, map[string]any{"/": links("bad.html", "good.html"), "/good.html": links("1.pdf"), "/1.pdf": "one"})
	w.seed(t, s.host, "/", "/")
	c := w.crawler(breaking{Fetcher: w.client})
	c.wrap = func(s rank.Strategy) rank.Strategy { return breaking{Strategy: s} }
	require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
	require.Equal(t, map[string]string{"/": "page success", "/bad.html": "failed crawler-panic", "/good.html": "page success", "/1.pdf": "document success"}, w.record(t, s.host))
	require.Contains(t, w.rows(t, s.host, "reason")["/bad.html"], "decoder")
	require.Contains(t, w.rows(t, s.host, "reason")["/good.html"], "chooser")
}

// watched is a fetcher that calls a function after the answers of URLs with an ending.
type watched struct {
	Fetcher
	ending string
	then   func()
}

func (w watched) Fetch(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	resp, err := w.Fetcher.Fetch(ctx, r)
	if strings.HasSuffix(r.URL, w.ending) {
		w.then()
	}
	return resp, err
}

// dying is a process that dies over what one URL answers: nothing of its slice
// is written any more, and its lease runs out.
func (w *world) dying(t *testing.T, host, over string) {
	t.Helper()
	c := w.crawler(w.client)
	// The dead renew nothing: a renewal that is under way at the death may reach the
	// database after the lease was made to run out.
	c.look = time.Hour
	died := make(chan struct{})
	c.fetch = watched{c.fetch, over, func() {
		close(died)
		select {} // never heard of again
	}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var r Result
	go func() {
		var err error
		r, err = c.Slice(ctx, host, func(Progress) {})
		ended <- err
	}()
	select {
	case <-died:
	case err := <-ended:
		require.NoError(t, err)
		require.Contains(t, []Ending{Exhausted, Waiting}, r.Ending, r.Reason)
	}
	cancel()
	storetest.Exec(t, w.db.Pool, `UPDATE sites SET expires_at = now() - interval '1s', holder = CASE WHEN holder = '' THEN '' ELSE 'dead' END WHERE host = $1`, host)
}

// TestAURLThatKillsItsProcessIsSetAside after a few deaths, and the rest of its
// site is crawled. What the dead asked for is in their WARC files.
func TestAURLThatKillsItsProcessIsSetAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.WARC = true
	s := serve(t, map[string]any{"/": links("a.html", "killer.html", "b.html"), "/a.html": links("1.pdf"), "/b.html": links("2.pdf"), "/1.pdf": "one", "/2.pdf": "two",
		"/killer.html": links("3.pdf")})
	w.seed(t, s.host, "/", "/")
	for range 8 {
		w.dying(t, s.host, "/killer.html")
		w.hurry(t, s.host) // its rest is over
	}
	require.Equal(t, map[string]string{"/": "page success", "/a.html": "page success", "/b.html": "page success", "/killer.html": "failed crawler-killed",
		"/1.pdf": "document success", "/2.pdf": "document success"}, w.record(t, s.host))
	require.Equal(t, 4, s.asked()["/killer.html"], "the first of the deaths is not charged")
	require.Zero(t, storetest.Get[int](t, w.db.Pool, `SELECT attempts FROM sites WHERE host=$1`, s.host))
	inFiles := responsesIn(t, w.files)
	for path, n := range s.asked() {
		if path != "/killer.html" { // whose answer nobody lived to write
			require.Equal(t, n, inFiles["http://"+s.host+path], path)
		}
	}
}

// TestACharge: a URL that was at work when its process died rests before it is asked for
// again, so that it dies with no other one twice in a row; each further death is charged, and
// an answer ends the count.
func TestACharge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.RetryBase = 24 * time.Hour
	s := serve(t, map[string]any{"/": links("long.html"), "/long.html": links("1.pdf"), "/1.pdf": "one"})
	w.seed(t, s.host, "/", "/")
	deaths := func() int {
		return storetest.Get[int](t, w.db.Pool, `SELECT deaths FROM urls WHERE url LIKE '%/long.html'`)
	}
	w.dying(t, s.host, "/long.html") // which is not charged
	for n := range 2 {
		w.dying(t, s.host, "/long.html")
		asked := s.asked()["/long.html"]
		r := sliced(t, w.crawler(w.client), s.host)
		require.Equal(t, Waiting, r.Ending)
		require.Equal(t, asked, s.asked()["/long.html"])
		require.Equal(t, n+1, deaths())
		w.hurry(t, s.host)
	}
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.Zero(t, deaths())
	require.Equal(t, "document success", w.record(t, s.host)["/1.pdf"])
}

// TestEveryFlushSucceeds whatever a page holds: what no column can hold is
// dropped, and the rest of the site is recorded.
func TestEveryFlushSucceeds(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"bfs", "zhuang", rank.Gleaner} {
		w := newWorld(t)
		w.cfg.Strategy = strategy
		nul := "<p class=\"a\x00b\" id='x\x00'><b title='\x00'><a href='p\x00q.html' class=\"\x00\">an\x00chor \xff\xfe</a></b></p>" +
			"<div class=\"\\u0000\\\\u0000\"><a href='" + strings.Repeat("long/", 900) + "x.html'>long</a><a href='/1.pdf'>one \x00</a></div>"
		s := serve(t, map[string]any{"/": "<title>\x00</title>" + nul, "/1.pdf": "one", "/to": redirect("/" + strings.Repeat("y", 5000))})
		s.otherwise = func(string) string { return nul + links("/to") }
		w.cfg.SlicePages, w.cfg.MaxPages = 5, 20
		w.seed(t, s.host, "/", "/")
		r := w.finish(t, w.crawler(w.client), s.host)
		require.Contains(t, []Ending{Exhausted, PageLimit}, r.Ending, strategy)
		require.Equal(t, "document success", w.record(t, s.host)["/1.pdf"], strategy)
	}
}

// TestAnAnswerThatCannotBeKeptIsSetAside by name, and not asked for for ever.
func TestAnAnswerThatCannotBeKeptIsSetAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, map[string]any{"/": links("1.pdf", "2.pdf"), "/1.pdf": "one", "/2.pdf": "two"})
	w.seed(t, s.host, "/", "/")
	storetest.Exec(t, w.db.Pool, `ALTER TABLE locations ADD CONSTRAINT refuses CHECK (url NOT LIKE '%/1.pdf')`)
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.Equal(t, map[string]string{"/": "page success", "/1.pdf": "failed cannot-be-kept", "/2.pdf": "document success"}, w.record(t, s.host))
}

// TestAFullDiskIsNoDeath: a turn that cannot be written since the disk of the database is full
// is no failure of the URL whose turn it is.
func TestAFullDiskIsNoDeath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, map[string]any{"/": links("a.pdf"), "/a.pdf": "one"})
	w.seed(t, s.host, "/", "/")
	w.keeper = politeness.NewKeeper(w.db.Pool, fetch.Pacing{MinDelay: 100 * time.Millisecond}, "test")
	w.cfg.SlicePages = 1
	c := w.crawler(w.connect(t, fetch.Config{}))
	sliced(t, c, s.host)
	storetest.Exec(t, w.db.Pool, `CREATE FUNCTION room() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE 'could not extend file' USING ERRCODE='53100'; END $$;
		CREATE TRIGGER room BEFORE UPDATE ON sites FOR EACH ROW WHEN (NEW.next_allowed_at > greatest(OLD.next_allowed_at, now())) EXECUTE FUNCTION room()`)
	for range 4 {
		_, err := c.Slice(t.Context(), s.host, func(Progress) {})
		require.True(t, store.Full(err), err)
	}
	require.Zero(t, storetest.Get[int](t, w.db.Pool, `SELECT attempts FROM sites WHERE host=$1`, s.host))
	require.Zero(t, storetest.Get[int](t, w.db.Pool, `SELECT max(deaths)::int FROM urls`))
}
