package frontier_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	. "gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

func open(t *testing.T) (*store.DB, int) {
	t.Helper()
	db := storetest.Open(t, 4)
	return db, devtest.Must(store.EnsureSite(t.Context(), db.Pool, "h.test"))(t)
}

// link is an entry of depth 5 and role Landing, so that both can get better.
func link(path string, change ...func(*Entry)) Entry {
	e := Entry{Role: Landing, Candidate: page.Candidate{Depth: 5, Parent: "http://h.test/", Priority: 0.5, Wanted: 0.25, Link: page.Link{URL: "http://h.test/" + path,
		Anchor: "anchor", Context: "context", Heading: "heading", TagPath: "html>body>a", Position: 7, Source: page.SourceAnchor}}}
	for _, c := range change {
		c(&e)
	}
	return e
}

func waiting(t *testing.T, db *store.DB, site int) []Entry {
	t.Helper()
	return devtest.Must(Window(t.Context(), db.Pool, site, 1000))(t)
}

func addOne(t *testing.T, db *store.DB, site int, e Entry) (Added, bool) {
	t.Helper()
	added := devtest.Must(Add(t.Context(), db.Pool, site, []Entry{e}))(t)
	a, ok := added[e.Hash()]
	return a, ok
}

func done(t *testing.T, db *store.DB, site int, e Entry, v Visit) {
	t.Helper()
	v.Entry, v.At = &e, time.Now()
	require.NoError(t, Done(t.Context(), db.Pool, site, []Visit{v}))
}

func TestAddTwiceIsAddOnce(t *testing.T) {
	t.Parallel()
	db, site := open(t)
	var es []Entry
	for i := range 50 {
		es = append(es, link(fmt.Sprint(i)))
	}
	first := devtest.Must(Add(t.Context(), db.Pool, site, es))(t)
	require.Len(t, first, 50)
	for _, a := range first {
		require.True(t, a.New)
		require.True(t, a.Waiting)
	}
	again := devtest.Must(Add(t.Context(), db.Pool, site, es))(t)
	require.Empty(t, again)
	locked := storetest.Get[int](t, db.Pool, `SELECT count(*) FROM urls WHERE site_id=$1 AND xmax <> 0`, site)
	require.Zero(t, locked, "meeting a URL again is no write")
	got := waiting(t, db, site)
	require.Len(t, got, 50)
	for i, e := range got { // what was given comes back, in the order of discovery
		want := es[i]
		require.Equal(t, first[want.Hash()].Seq, e.ID)
		require.Equal(t, want.Hash(), e.Hash())
		want.ID = e.ID
		require.Equal(t, Bare(want), Bare(e))
	}
}

func TestFoundAgain(t *testing.T) {
	t.Parallel()
	db, site := open(t)
	for name, c := range map[string]struct {
		change func(*Entry)
		want   func(*Entry) // of the row
		added  bool
	}{
		"as it was":            {func(*Entry) {}, func(*Entry) {}, false},
		"further away":         {func(e *Entry) { e.Depth = 9 }, func(*Entry) {}, false},
		"nearer":               {func(e *Entry) { e.Depth = 2 }, func(e *Entry) { e.Depth = 2 }, true},
		"narrower":             {func(e *Entry) { e.Role = Lead }, func(*Entry) {}, false},
		"wider":                {func(e *Entry) { e.Role = Member }, func(e *Entry) { e.Role = Member }, true},
		"nearer and narrower":  {func(e *Entry) { e.Depth, e.Role = 2, Lead }, func(e *Entry) { e.Depth = 2 }, true},
		"wanted more":          {func(e *Entry) { e.Wanted = 0.75 }, func(e *Entry) { e.Wanted = 0.75 }, true},
		"nearer, more promise": {func(e *Entry) { e.Depth, e.Priority = 4, 0.75 }, func(e *Entry) { e.Depth, e.Priority = 4, 0.75 }, true},
		"nearer, less promise": {func(e *Entry) { e.Depth, e.Priority = 4, 0.125 }, func(e *Entry) { e.Depth = 4 }, true},
		"higher queue":         {func(e *Entry) { e.Queue, e.Priority = 2, 0.125 }, func(e *Entry) { e.Queue, e.Priority = 2, 0.125 }, true},
		"too deep this time":   {func(e *Entry) { e.Depth, e.Skip = 2, TooDeep }, func(*Entry) {}, false},
		"another anchor":       {func(e *Entry) { e.Depth, e.Link.Anchor = 2, "other" }, func(e *Entry) { e.Depth = 2 }, true},
	} {
		t.Run(name, func(t *testing.T) {
			e := link(t.Name())
			first, _ := addOne(t, db, site, e)
			again := link(t.Name(), c.change)
			a, ok := addOne(t, db, site, again)
			require.Equal(t, c.added, ok)
			if ok {
				require.Equal(t, Added{Seq: first.Seq, Waiting: true}, a)
			}
			want := link(t.Name(), c.want)
			for _, got := range waiting(t, db, site) {
				if got.Link.URL == want.Link.URL {
					got.ID = 0
					require.Equal(t, Bare(want), Bare(got))
					return
				}
			}
			t.Fatal("it does not wait")
		})
	}
}

// TestFetchedAndFoundAgain: what was fetched is not fetched again, but where it
// was fetched for itself alone and may now be followed.
func TestFetchedAndFoundAgain(t *testing.T) {
	t.Parallel()
	db, site := open(t)
	for name, c := range map[string]struct {
		was    State
		change func(*Entry)
		again  bool
	}{
		"page, nearer":     {Page, func(e *Entry) { e.Depth = 1 }, false},
		"page, wider":      {Page, func(e *Entry) { e.Role = Member }, true},
		"document, wider":  {Document, func(e *Entry) { e.Role = Member }, false},
		"gone, wider":      {Gone, func(e *Entry) { e.Role, e.Depth = Member, 1 }, false},
		"moved, wider":     {Moved, func(e *Entry) { e.Role = Member }, true},
		"failed, nearer":   {Failed, func(e *Entry) { e.Depth = 1 }, false},
		"page, as it was":  {Page, func(*Entry) {}, false},
		"page, high queue": {Page, func(e *Entry) { e.Queue, e.Wanted = 3, 1 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := link(t.Name())
			addOne(t, db, site, e)
			done(t, db, site, e, Visit{State: c.was, ETag: "x", Content: []byte("x")})
			a, _ := addOne(t, db, site, link(t.Name(), c.change))
			require.Equal(t, c.again, a.Waiting)
			n := 0
			for _, w := range waiting(t, db, site) {
				if w.Link.URL == e.Link.URL {
					n++
					require.Empty(t, w.ETag+string(w.Content), "it must come whole")
				}
			}
			require.Equal(t, c.again, n == 1)
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	db, site := open(t)
	e := link("trap", func(e *Entry) { e.Skip = "calendar-trap" })
	a, ok := addOne(t, db, site, e)
	require.True(t, ok)
	require.False(t, a.Waiting)
	require.Empty(t, waiting(t, db, site))
	var state State
	var outcome string
	row := func() {
		require.NoError(t, db.Pool.QueryRow(t.Context(), `SELECT state, outcome FROM urls WHERE site_id=$1`, site).Scan(&state, &outcome))
	}
	row()
	require.Equal(t, Skipped, state)
	require.Equal(t, "calendar-trap", outcome)
	a, _ = addOne(t, db, site, link("trap"))
	require.True(t, a.Waiting, "met within the limits")
	row()
	require.Equal(t, Waiting, state)
	require.Empty(t, outcome)
}

// TestRelax: a chain 0–1–…–6 was followed to depth 4; then the page at depth 3
// is found again at depth 1.
func TestRelax(t *testing.T) {
	t.Parallel()
	db, site := open(t)
	at := func(i int) string { return fmt.Sprintf("http://h.test/%d", i) }
	for i := range 6 {
		e := link(fmt.Sprint(i), func(e *Entry) {
			e.Depth, e.Parent = i, at(i-1)
			if i == 0 {
				e.Parent = ""
			}
			if i > 4 {
				e.Skip = TooDeep
			}
		})
		addOne(t, db, site, e)
		if i <= 4 {
			done(t, db, site, e, Visit{State: Page})
		}
	}
	n := devtest.Must(Relax(t.Context(), db.Pool, site, 4))(t)
	require.Zero(t, n, "it is as deep as it seemed")
	_, ok := addOne(t, db, site, link("3", func(e *Entry) { e.Depth, e.Parent = 1, at(0) }))
	require.True(t, ok)
	n = devtest.Must(Relax(t.Context(), db.Pool, site, 4))(t)
	require.Equal(t, 1, n)
	got := waiting(t, db, site)
	require.Len(t, got, 1)
	require.Equal(t, at(5), got[0].Link.URL)
	require.Equal(t, 3, got[0].Depth)
}

func TestWindowTakesTheBestOfEachMark(t *testing.T) {
	t.Parallel()
	db, site := open(t)
	other := devtest.Must(store.EnsureSite(t.Context(), db.Pool, "other.test"))(t)
	var es []Entry
	for queue := range 3 {
		for _, mark := range []int{-4, 0, 7, 1 << 30} {
			for i := range 5 {
				es = append(es, link(fmt.Sprintf("%d/%d/%d", queue, mark, i), func(e *Entry) {
					e.Queue, e.Mark, e.Priority = queue, mark, float64(i/2)
				}))
			}
		}
	}
	for _, id := range []int{site, other} {
		_, err := Add(t.Context(), db.Pool, id, es)
		require.NoError(t, err)
	}
	got := devtest.Must(Window(t.Context(), db.Pool, site, 24))(t)
	require.Len(t, got, 3*4*2)
	for i, e := range got {
		require.Equal(t, 2-i/8, e.Queue)
	}
	perMark := map[string]int{}
	for _, e := range got {
		perMark[fmt.Sprint(e.Queue, e.Mark)]++
		// 4 stands alone with priority 2; of 2 and 3 with priority 1 the first came first.
		require.True(t, strings.HasSuffix(e.Link.URL, "/4") || strings.HasSuffix(e.Link.URL, "/2"), e.Link.URL)
	}
	require.Len(t, perMark, 12)
	got = devtest.Must(Window(t.Context(), db.Pool, site, 3))(t)
	require.Len(t, got, 3)
	for _, e := range got {
		require.Equal(t, 2, e.Queue)
		require.InDelta(t, 2, e.Priority, 0)
	}
}

// TestWindowIsFilledWhereMarksAreFew: places that a mark does not need go to
// the others.
func TestWindowIsFilledWhereMarksAreFew(t *testing.T) {
	t.Parallel()
	db, site := open(t)
	var es []Entry
	for i := range 40 {
		es = append(es, link(fmt.Sprint(i), func(e *Entry) { e.Mark, e.Priority = min(i, 1), float64(i) }))
	}
	_, err := Add(t.Context(), db.Pool, site, es)
	require.NoError(t, err)
	got := devtest.Must(Window(t.Context(), db.Pool, site, 20))(t)
	require.Len(t, got, 20)
	require.Equal(t, es[39].Link.URL, got[0].Link.URL)
	require.Equal(t, es[0].Link.URL, got[19].Link.URL, "the worst of all is the best of its mark")
}

// TestPlansReadTheIndex: what the next URLs cost must not grow with what waits, nor what
// links kept lately cost with all that were kept.
func TestPlansReadTheIndex(t *testing.T) {
	t.Parallel()
	db, site := open(t)
	storetest.Exec(t, db.Pool, `INSERT INTO urls (site_id, hash, url, mark, priority)
		SELECT $1, sha256(n::text::bytea), 'http://h.test/' || n, n % 20, random() FROM generate_series(1, 30000) n`, site)
	storetest.Exec(t, db.Pool, `INSERT INTO kept_links (site_id, page, read_at)
		SELECT $1, hash, now() - seq * interval '1 hour' FROM urls`, site)
	storetest.Exec(t, db.Pool, `ANALYZE urls, kept_links`)
	for index, args := range map[string][]any{
		"urls_waiting":    {WindowSQL, site, 200},
		"kept_links_read": {KeptSQL, 0, 0, []byte{}, time.Now().Add(-100 * time.Hour), 200},
	} {
		lines := storetest.Column[string](t, db.Pool,
			`EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off) `+args[0].(string), args[1:]...)
		plan := strings.Join(lines, "\n")
		require.NotContains(t, plan, "Seq Scan", plan)
		require.Contains(t, plan, index)
		require.NotRegexp(t, `rows=\d{4,}|Filter: \d{4,}`, plan, "no step meets thousands of rows")
	}
}

func TestVisits(t *testing.T) {
	t.Parallel()
	db, site := open(t)
	a, b, c := link("a"), link("b"), link("c")
	_, err := Add(t.Context(), db.Pool, site, []Entry{a, b, c})
	require.NoError(t, err)
	at := time.Now().Truncate(time.Microsecond)
	a.Tries = 2
	err = Done(t.Context(), db.Pool, site, []Visit{
		{Entry: &a, State: Page, Outcome: gleaner.OK, Status: 200, Reason: "best\x00 of all", Crawl: 3, At: at, ETag: "caf\xe9", LastModified: "m", Content: []byte{1}, Bytes: 10},
		{Entry: &b, State: Failed, Outcome: fetch.Busy, Status: 503, At: at, NextTry: at.Add(time.Hour)},
	})
	require.NoError(t, err)
	left := waiting(t, db, site)
	require.Len(t, left, 1)
	require.Equal(t, c.Link.URL, left[0].Link.URL)
	var reason, etag string
	var tries, crawl, status int
	require.NoError(t, db.Pool.QueryRow(t.Context(), `SELECT reason, etag, tries, crawl, status FROM urls WHERE url=$1`, a.Link.URL).Scan(&reason, &etag, &tries, &crawl, &status))
	require.Equal(t, []any{"best\uFFFD of all", "caf\uFFFD", 2, 3, 200}, []any{reason, etag, tries, crawl, status})

	require.WithinDuration(t, at.Add(time.Hour), devtest.Must(NextTry(t.Context(), db.Pool, site))(t), time.Minute)
	n := devtest.Must(RetryDue(t.Context(), db.Pool, site))(t)
	require.Zero(t, n)
	done(t, db, site, b, Visit{State: Failed, NextTry: at.Add(-time.Second)})
	n = devtest.Must(RetryDue(t.Context(), db.Pool, site))(t)
	require.Equal(t, 1, n)
	count := devtest.Must(Count(t.Context(), db.Pool, site, 10))(t)
	require.Equal(t, 2, count)
	count = devtest.Must(Count(t.Context(), db.Pool, site, 1))(t)
	require.Equal(t, 1, count)
}

func TestAlias(t *testing.T) {
	t.Parallel()
	db, site := open(t)
	a, b := link("a"), link("b")
	_, err := Add(t.Context(), db.Pool, site, []Entry{a, b})
	require.NoError(t, err)
	done(t, db, site, b, Visit{State: Document, Outcome: gleaner.OK})
	for _, e := range []Entry{a, b} {
		require.NoError(t, Alias(t.Context(), db.Pool, site, e.Hash(), 1, "the end of a redirect"))
	}
	require.Equal(t, map[string]State{"a": Moved, "b": Document}, states(t, db, site))
}

func states(t *testing.T, db *store.DB, site int) map[string]State {
	t.Helper()
	const states = `SELECT replace(url, 'http://h.test/', ''), state FROM urls WHERE site_id=$1`
	return storetest.Map[string, State](t, db.Pool, states, site)
}
