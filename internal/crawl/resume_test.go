package crawl

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/politeness"
)

// small is a site of a dozen URLs of most kinds.
func small() map[string]any {
	return map[string]any{
		"/":         links("a.html", "b.html", "1.pdf", "old.html", "none.html", "x.html?year=2099&calendar=1"),
		"/a.html":   links("2.pdf", "c.html", "/"),
		"/b.html":   links("a.html", "3.pdf", "http://lead.test/l.pdf"),
		"/c.html":   links("d.html"),
		"/d.html":   links("1.pdf", "c.html"),
		"/old.html": redirect("/e.html"),
		"/e.html":   links("d.html", "b.html"),
		"/1.pdf":    "one", "/2.pdf": "two", "/3.pdf": "three",
	}
}

const whole = `state || ' ' || outcome || ' ' || depth || ' ' || role || ' ' || parent || ' ' || tries || ' ' || crawl || ' ' || coalesce(encode(content, 'hex'), '')`

// undisturbed crawls the site in one go and says what the record has then, and
// how many requests it took, robots.txt included.
func undisturbed(t *testing.T, w *world) (record map[string]string, requests int) {
	t.Helper()
	s := serve(t, small())
	w.exhaust(t, s.host, "/")
	return w.bare(t, s.host), s.total
}

// bare is the record without the site's own name, which differs from test to test.
func (w *world) bare(t *testing.T, host string) map[string]string {
	t.Helper()
	return w.rows(t, host, fmt.Sprintf(`replace(%s, '%s', 'host')`, whole, host))
}

// dies runs f and reports whether it ended without returning, as Goexit ends it.
// That is as near to the death of a process as a test in it comes: a panic would
// be taken for one over the answer.
func dies(f func()) bool {
	returned := make(chan bool, 1)
	go func() {
		back := false
		defer func() { returned <- back }()
		f()
		back = true
	}()
	return !<-returned
}

// TestKilledAtAnyRequest: the process dies right after its k-th answer, before
// anything of it is written. What is resumed comes to the same record, and
// nothing is fetched again but what was in flight.
func TestKilledAtAnyRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want, requests := undisturbed(t, w)
	fetches := requests - 2 // without robots.txt, and what was redirected to
	for k := 1; k <= fetches; k++ {
		s := serve(t, small())
		w.seed(t, s.host, "/", "/")
		f := &fetcher{Client: w.client, after: func(n int) {
			if n == k {
				runtime.Goexit()
			}
		}}
		require.True(t, dies(func() { _, _ = w.crawler(f).Slice(t.Context(), s.host, func(Progress) {}) }), "request %d", k)
		require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
		require.Equal(t, want, w.bare(t, s.host), "killed at %d", k)
		twice := 0
		for p, n := range s.asked() {
			if n > 1 && p != "/e.html" { // the end of the redirect in flight
				twice++
			}
			require.LessOrEqual(t, n, 2, p)
		}
		require.Equal(t, 1, twice, "killed at %d", k)
	}
}

// TestStoppedAtAnyRequest: a worker that is told to stop while a request is under way
// finishes it, and writes what came: no URL is asked for twice. Of a redirect in two
// requests the second is left to the next worker.
func TestStoppedAtAnyRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lingers(t)
	w.cfg.Batch, w.cfg.WARC = 32, true
	want, requests := undisturbed(t, w)
	for k := 1; k <= requests; k++ {
		s := serve(t, small())
		w.seed(t, s.host, "/", "/")
		ctx, cancel := context.WithCancel(t.Context())
		s.at = func(n int) {
			if n == k {
				cancel()
			}
		}
		_, err := w.crawler(w.client).Slice(ctx, s.host, func(Progress) {})
		require.ErrorIs(t, err, context.Canceled, "request %d", k)
		require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
		got := w.bare(t, s.host)
		for _, p := range []string{"/old.html", "/e.html", "/d.html"} { // a redirect may be two entries, and what it leads to found elsewhere
			require.Contains(t, got, p)
			got[p] = want[p]
		}
		require.Equal(t, want, got, "stopped at %d", k)
		require.Equal(t, requests, s.total, "stopped at %d: %v", k, s.asked())
		cancel()
	}
}

// lingers has the client finish what it sent when it is told to stop, as a worker's does.
func (w *world) lingers(t *testing.T) {
	t.Helper()
	w.client = w.connect(t, fetch.Config{Linger: time.Minute})
}

// TestTheLastRequestKeepsItsLease: the lease of a host is renewed until a worker that
// stops has the answer that it waits for.
func TestTheLastRequestKeepsItsLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lingers(t)
	s := serve(t, small())
	w.seed(t, s.host, "/", "/")
	ctx, cancel := context.WithCancel(t.Context())
	s.at = func(n int) {
		if n != 4 {
			return
		}
		cancel()
		for range 3 { // one renewal may be under way
			var before, after time.Time
			read := func(at *time.Time) bool {
				return w.db.Pool.QueryRow(t.Context(), `SELECT expires_at FROM sites WHERE host=$1`, s.host).Scan(at) == nil
			}
			read(&before)
			if !assert.Eventually(t, func() bool { return read(&after) && after.After(before) }, 20*time.Second, 2*time.Millisecond, "the lease is not renewed") {
				return
			}
		}
	}
	_, err := w.crawler(w.client).Slice(ctx, s.host, func(Progress) {})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 4, s.total)
}

// TestBatchesLost: with delays off, visits are written in batches, and a death
// costs no more than one.
func TestBatchesLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Batch = 4
	want, _ := undisturbed(t, w)
	s := serve(t, small())
	w.seed(t, s.host, "/", "/")
	f := &fetcher{Client: w.client, after: func(n int) {
		if n == 8 {
			runtime.Goexit()
		}
	}}
	require.True(t, dies(func() { _, _ = w.crawler(f).Slice(t.Context(), s.host, func(Progress) {}) }))
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.Equal(t, want, w.bare(t, s.host))
	again := 0
	for _, n := range s.asked() {
		again += n - 1
	}
	require.LessOrEqual(t, again, 4)
}

// TestATakenLeaseEndsTheSlice: another process takes the host over in the middle
// of a request; the first writes nothing more.
func TestATakenLeaseEndsTheSlice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want, _ := undisturbed(t, w)
	s := serve(t, small())
	w.seed(t, s.host, "/", "/")
	var taken *politeness.Lease
	s.at = func(n int) {
		if n != 5 {
			return
		}
		_, err := w.db.Pool.Exec(t.Context(), `UPDATE sites SET expires_at = now() - interval '1s' WHERE host=$1`, s.host)
		if err == nil {
			taken, err = w.keeper.Acquire(t.Context(), s.host)
		}
		if err != nil {
			t.Error(err)
		}
	}
	c := w.crawler(w.client)
	c.look = time.Hour // it is not told, but finds out
	_, err := c.Slice(t.Context(), s.host, func(Progress) {})
	require.ErrorIs(t, err, politeness.ErrLost)
	r := sliced(t, c, s.host)
	require.Equal(t, Waiting, r.Ending, "another holds it")
	require.Positive(t, r.Wait)
	require.NoError(t, taken.Release(t.Context()))
	require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
	require.Equal(t, want, w.bare(t, s.host))
}

// endless is a site without an end: each page leads to the next two.
func endless(t *testing.T) *site {
	t.Helper()
	s := serve(t, map[string]any{"/": links("/d/1.html")})
	s.otherwise = func(path string) string {
		var n int
		if _, err := fmt.Sscanf(path, "/d/%d.html", &n); err != nil {
			return ""
		}
		return links(fmt.Sprintf("/d/%d.html", 2*n), fmt.Sprintf("/d/%d.html", 2*n+1))
	}
	return s
}

func TestEndings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		change func(*Config)
		want   Ending
		most   int
	}{
		"slice":     {func(c *Config) { c.SlicePages = 7 }, SliceFull, 7},
		"time":      {func(c *Config) { c.SliceTime = time.Nanosecond }, SliceFull, 0},
		"pages":     {func(c *Config) { c.MaxPages = 9 }, PageLimit, 9},
		"budget":    {func(c *Config) { c.Budget, c.Strategy = 20, "bfs" }, OverBudget, 20},
		"trap":      {func(c *Config) { c.TrapPages = 20 }, Trap, 20},
		"directory": {func(c *Config) { c.DirPages = 5 }, Exhausted, 6},
		"depth":     {func(c *Config) { c.MaxDepth = 3 }, Exhausted, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, own := endless(t), *w
			own.cfg.TrapPages, own.cfg.MaxPages = 0, 60
			c.change(&own.cfg)
			own.seed(t, s.host, "/", "/")
			r := sliced(t, own.crawler(w.client), s.host)
			require.Equal(t, c.want, r.Ending, r.Reason)
			require.Equal(t, c.most, r.Requests)
			if c.want != SliceFull && c.want != Exhausted {
				require.NotEmpty(t, r.Reason)
			}
			skipped := 0
			for _, is := range own.record(t, s.host) {
				switch is {
				case "skipped directory-limit", "skipped max-depth":
					skipped++
				}
			}
			require.Equal(t, name == "directory" || name == "depth", skipped > 0)
		})
	}
}

// TestTheRecordOfATrapIsBounded: what a limit keeps out is named, but not
// without end.
func TestTheRecordOfATrapIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var many []string
	for i := range maxSkipped + 100 {
		many = append(many, fmt.Sprintf("/calendar?year=%d", 2100+i))
	}
	s := serve(t, map[string]any{"/": links(many...)})
	w.seed(t, s.host, "/", "/")
	r := w.finish(t, w.crawler(w.client), s.host)
	require.Equal(t, Exhausted, r.Ending)
	require.Contains(t, r.Reason, "100 links beyond the limits")
	require.Len(t, w.record(t, s.host), maxSkipped+1)
}

// TestAPageWithinItselfIsALoop: a program that answers every path below its own
// with one page, whose links are relative, has no end.
func TestAPageWithinItselfIsALoop(t *testing.T) {
	t.Parallel()
	w, s := newWorld(t), serve(t, map[string]any{"/cv.pdf": "one"})
	s.otherwise = func(path string) string {
		if strings.HasSuffix(path, ".pdf") {
			return ""
		}
		return links("pubs/", "talks/", "cv.pdf")
	}
	w.cfg.SlicePages = 2 // what a slice read, the next one knows
	w.exhaust(t, s.host, "/")
	require.Equal(t, map[string]string{"/": "page success", "/cv.pdf": "document success", "/pubs/": "gone link-loop", "/talks/": "gone link-loop"}, w.record(t, s.host))
}

func TestOneFramesetInManyDirectoriesIsNoLoop(t *testing.T) {
	t.Parallel()
	frames := "<frameset><frame src=main.html></frameset>"
	w, s := newWorld(t), serve(t, map[string]any{
		"/": frames, "/main.html": links("2001/"), "/2001/": frames, "/2001/main.html": links("a.pdf"), "/2001/a.pdf": "one",
	})
	w.exhaust(t, s.host, "/")
	require.Equal(t, "document success", w.record(t, s.host)["/2001/a.pdf"])
}

// TestAShorterWayOpensWhatWasTooDeep: c3 is read at the greatest depth; later it
// is found one link from home, and what lies below it is asked for.
func TestAShorterWayOpensWhatWasTooDeep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.MaxDepth = 3
	near := serve(t, map[string]any{
		"/": links("busy.html", "c1.html"), "/c1.html": links("c2.html"), "/c2.html": links("c3.html"), "/c3.html": links("c4.html", "p.pdf"),
		"/c4.html": links("c5.html"), "/c5.html": links(), "/p.pdf": "one",
		"/busy.html": busyThen("3600", links("c3.html")),
	})
	w.exhaust(t, near.host, "/")
	got := w.record(t, near.host)
	require.Equal(t, "page success", got["/c4.html"])
	require.Equal(t, "document success", got["/p.pdf"])
	require.Equal(t, "skipped max-depth", got["/c5.html"])
	require.Equal(t, 1, near.asked()["/c3.html"], "it was not fetched again for that")
}

// TestAParkedHostSaysWhy: and until when.
func TestAParkedHostSaysWhy(t *testing.T) {
	t.Parallel()
	broken := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	w, s := newWorld(t), serve(t, numbered("/", "/%d.html", 6, func(int) any { return broken }))
	w.seed(t, s.host, "/", "/")
	for _, part := range []string{"5 failures in a row, the last one server-error (http://" + s.host + "/4.html)",
		"failures in a row: 5"} {
		r := sliced(t, w.crawler(w.client), s.host)
		require.Equal(t, Waiting, r.Ending)
		require.Contains(t, r.Reason, part)
		require.InDelta(t, time.Hour, r.Wait, float64(time.Minute))
	}
	require.Zero(t, s.asked()["/5.html"])
}

// TestASitemapTellsWhatChanged: a page that it dates after the last visit is
// asked again before it is due, the others are not.
func TestASitemapTellsWhatChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	day := func(ago int) string { return time.Now().AddDate(0, 0, -ago).Format(time.DateOnly) }
	a, b := day(30), day(20)
	s := serve(t, map[string]any{"/": links("a.html", "b.html", "c.html"), "/a.html": links(), "/b.html": links(), "/c.html": links(),
		"/robots.txt": func(rw http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(rw, "Sitemap: http://%s/map.xml", r.Host)
		},
		"/map.xml": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "application/xml")
			_, _ = fmt.Fprintf(rw, `<urlset><url><loc>http://%[1]s/a.html</loc><lastmod>%[2]s</lastmod></url><url><loc>http://%[1]s/b.html</loc><lastmod>%[3]s</lastmod></url>
				<url><loc>http://%[1]s/c.html</loc></url></urlset>`, r.Host, a, b)
		}})
	id := w.seed(t, s.host, "/", "/")
	again := func() {
		require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
		for _, sql := range []string{`UPDATE urls SET fetched_at=now() - interval '10 days', state=CASE WHEN source='sitemap-file' THEN 0 ELSE state END WHERE site_id=$1`,
			`UPDATE sites SET state='new' WHERE id=$1`} {
			storetest.Exec(t, w.db.Pool, sql, id)
		}
	}
	again()
	a = day(5)
	again()
	require.Equal(t, map[string]int{"/": 1, "/a.html": 2, "/b.html": 1, "/c.html": 1, "/map.xml": 2}, s.asked())
	a, b = day(4), day(4) // the time of the program's own run
	again()
	require.Equal(t, 3, s.asked()["/map.xml"])
	require.Equal(t, 2, s.asked()["/a.html"])
	require.Equal(t, 1, s.asked()["/b.html"])
}
