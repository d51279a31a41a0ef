package crawl

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/library/repository"
	"gleaner/internal/politeness"
	"gleaner/internal/record/store"
)

// paced is the pacing of leases that are lost.
var paced = fetch.Pacing{MinDelay: 40 * time.Millisecond, MaxDelay: 40 * time.Millisecond, BackoffBase: time.Millisecond, BackoffMax: time.Millisecond}

// TestADatabaseThatGoesAwayCostsNoRequest: it is away again and again, for longer
// than a lease lasts as well. What was fetched is kept and written when it is
// back, and the same slice goes on.
func TestADatabaseThatGoesAwayCostsNoRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Batch = 4
	want, _ := undisturbed(t, w)
	dsn, line := devtest.Lay(t, w.dsn)
	db := storetest.At(t, dsn, 4)
	s := serve(t, small())
	w.seed(t, s.host, "/", "/")
	s.at = func(n int) {
		if n%3 == 2 {
			line.Cut()
		}
	}
	c := w.crawler(w.client)
	c.db = db
	c.keeper = politeness.NewKeeper(db.Pool, paced, "away")
	waits := 0
	c.log = slog.New(logListener{func(message string) {
		if strings.HasPrefix(message, "the record cannot be asked") { // it is back by now, and the lease is out
			waits++
			_, err := w.db.Pool.Exec(context.Background(), `UPDATE sites SET expires_at = now() - interval '1s' WHERE host=$1`, s.host)
			if err != nil {
				t.Error(err)
			}
			line.Mend()
		}
	}})
	r := sliced(t, c, s.host)
	require.Equal(t, Exhausted, r.Ending)
	require.Greater(t, waits, 2)
	require.Equal(t, want, w.bare(t, s.host))
	for p, n := range s.asked() {
		if p != "/e.html" { // the end of a redirect, too
			require.Equal(t, 1, n, p)
		}
	}
}

// TestASilentDatabaseCostsNoHost: the record does not answer and its connections do
// not end, while a page is slow. The lease goes by connections of its own, and is
// kept; so the host sees no second request at the same time.
func TestASilentDatabaseCostsNoHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dsn, line := devtest.Lay(t, w.dsn)
	db := storetest.At(t, dsn, 4)
	asked, goOn := make(chan struct{}), make(chan struct{})
	s := serve(t, map[string]any{"/": links("/slow.html"), "/slow.html": func(rw http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-goOn
		_, _ = rw.Write([]byte(links()))
	}})
	w.seed(t, s.host, "/", "/")
	c := w.crawler(w.client)
	c.db = db
	ended := sliceOf(t, c, s.host, func(Progress) {})
	<-asked
	line.Hush()
	defer line.Mend()
	answer := sync.OnceFunc(func() { close(goOn) })
	defer answer()
	expires := func() time.Time {
		return storetest.Get[time.Time](t, w.db.Pool, `SELECT expires_at FROM sites WHERE host=$1`, s.host)
	}
	// What looked at the record before it was silent has its answer by now or never.
	for range 3 {
		before := expires()
		require.Eventually(t, func() bool { return expires().After(before.Add(time.Second)) }, time.Minute, 20*time.Millisecond, "the lease is renewed no more")
	}
	answer()
	line.Mend()
	require.Equal(t, Exhausted, (<-ended).Ending)
	require.Equal(t, map[string]int{"/": 1, "/slow.html": 1}, s.asked())
}

// TestARequestEndsWithItsLease: the record answers nobody who asks for the lease,
// while a page is slow. The request is broken off before another process may ask the
// host, though a client finishes what it sent when it is told to stop; and the page is
// asked for again when the record is back.
func TestARequestEndsWithItsLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dsn, line := devtest.Lay(t, w.dsn)
	far := storetest.At(t, dsn, 4)
	w.keeper = politeness.NewKeeper(far.Pool, paced, "away")
	var err error
	w.client, err = fetch.New(fetch.Config{AllowLoopback: true, Proxy: "none", Gate: w.keeper, Linger: 2 * time.Minute})
	require.NoError(t, err)
	t.Cleanup(w.client.Close)
	asked, left, once := make(chan struct{}), make(chan struct{}), sync.Once{}
	s := serve(t, map[string]any{"/": links("/slow.html"), "/slow.html": func(rw http.ResponseWriter, r *http.Request) {
		once.Do(func() {
			close(asked)
			<-r.Context().Done()
			close(left)
		})
		_, _ = rw.Write([]byte(links()))
	}})
	w.seed(t, s.host, "/", "/")
	ended := sliceOf(t, w.crawler(w.client), s.host, func(Progress) {})
	<-asked
	line.Hush()
	defer line.Mend()
	require.Eventually(t, func() bool {
		return storetest.Get[bool](t, w.db.Pool, `SELECT expires_at < now() FROM sites WHERE host=$1`, s.host)
	}, time.Minute, 20*time.Millisecond, "the lease runs out by itself")
	select {
	case <-left:
	case <-time.After(10 * time.Second):
		t.Error("the request goes on, and another process may have the host")
	}
	line.Mend()
	require.Equal(t, Exhausted, (<-ended).Ending)
	require.Equal(t, map[string]int{"/": 1, "/slow.html": 2}, s.asked())
}

// TestASliceWaitsForADeadHolder: its lease runs out within seconds, and the slice
// that waits for that goes on at this moment.
func TestASliceWaitsForADeadHolder(t *testing.T) {
	t.Parallel()
	w, s := newWorld(t), serve(t, small())
	w.seed(t, s.host, "/", "/")
	_, err := politeness.NewKeeper(w.db.Pool, paced, "dead").Acquire(t.Context(), s.host)
	require.NoError(t, err)
	c := w.crawler(w.client)
	r := sliced(t, c, s.host)
	require.Equal(t, Waiting, r.Ending)
	require.Positive(t, r.Wait)
	require.Empty(t, s.asked())
	c.patience = time.Minute
	r = sliced(t, c, s.host)
	require.Equal(t, Exhausted, r.Ending)
}

// logListener is a log that a test listens to.
type logListener struct{ listen func(message string) }

func (logListener) Enabled(context.Context, slog.Level) bool { return true }

func (h logListener) Handle(_ context.Context, r slog.Record) error {
	h.listen(r.Message)
	return nil
}

func (h logListener) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h logListener) WithGroup(string) slog.Handler { return h }

// sliceOf begins a slice, and gives its result when it has ended.
func sliceOf(t *testing.T, c *Crawler, host string, report func(Progress)) <-chan Result {
	ended := make(chan Result, 1)
	go func() {
		r, err := c.Slice(t.Context(), host, report)
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	return ended
}

// TestNothingIsFetchedThatCannotBeKept: while the blob store takes no file, a
// document is downloaded once, however often its crawl is tried, and none of
// another site is.
func TestNothingIsFetchedThatCannotBeKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.crawler(w.client)
	s := serve(t, map[string]any{"/": links("1.pdf", "2.pdf"), "/1.pdf": "one", "/2.pdf": "two"})
	other := serve(t, map[string]any{"/": links("3.pdf"), "/3.pdf": "three"})
	w.seed(t, s.host, "/", "/")
	w.seed(t, other.host, "/", "/")
	s.at = func(n int) {
		if n == 3 { // after robots.txt and the first page
			require.NoError(t, os.Rename(w.files, w.files+".away"))
		}
	}
	for range 5 {
		_, err := c.Slice(t.Context(), s.host, func(Progress) {})
		require.ErrorIs(t, err, repository.ErrAway)
		_, err = c.Slice(t.Context(), other.host, func(Progress) {})
		require.ErrorIs(t, err, repository.ErrAway)
	}
	require.Equal(t, map[string]int{"/": 1, "/1.pdf": 1}, s.asked())
	require.Empty(t, other.asked())

	s.at = nil
	require.NoError(t, os.Rename(w.files+".away", w.files))
	require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
	require.Equal(t, Exhausted, w.finish(t, c, other.host).Ending)
	require.Equal(t, map[string]int{"/": 1, "/1.pdf": 2, "/2.pdf": 1}, s.asked())
	require.Equal(t, map[string]string{"/": "page success", "/1.pdf": "document success", "/2.pdf": "document success"}, w.record(t, s.host))
	require.Equal(t, "document success", w.record(t, other.host)["/3.pdf"])
}

// TestACrawlGivesWayToWhoWaitsForOnePage, who else would wait for the end of the slice;
// and what another crawl waits for on its way ends nobody's slice.
func TestACrawlGivesWayToWhoWaitsForOnePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.TrapPages, w.cfg.SlicePages, w.cfg.SliceTime, w.cfg.MaxPages, w.cfg.DirPages, w.cfg.MaxDepth = 0, math.MaxInt, time.Hour, math.MaxInt, math.MaxInt, math.MaxInt
	s := endless(t)
	w.seed(t, s.host, "/", "/")
	c := w.crawler(w.client)
	other := politeness.NewKeeper(w.db.Pool, fetch.Pacing{Unpaced: true, MaxBlock: 100 * time.Millisecond}, "other")
	crossing, err := other.Acquire(t.Context(), "elsewhere.test")
	require.NoError(t, err)

	asked, begun := make(chan struct{}), false
	ended := sliceOf(t, c, s.host, func(p Progress) {
		if !begun && p.Requests > 0 {
			begun = true
			close(asked)
		}
	})
	<-asked
	_, err = other.Under(crossing).Turn(t.Context(), s.host, 0)
	var busy *politeness.BusyError
	require.ErrorAs(t, err, &busy)
	said := storetest.Get[bool](t, w.db.Pool, `SELECT awaited_at > '-infinity' FROM sites WHERE host=$1`, s.host)
	require.False(t, said)
	done, err := other.Turn(t.Context(), s.host, 0)
	require.NoError(t, err)
	done(fetch.Visit{})
	r := <-ended
	require.Equal(t, Waiting, r.Ending, r.Reason)
	require.Positive(t, r.Wait)
	w.cfg.SlicePages = 5
	r = sliced(t, w.crawler(w.client), s.host)
	require.Equal(t, SliceFull, r.Ending, "it goes on, and nobody waits")
}

// TestClocksApart: whatever the clock of the machine says on which a worker runs,
// what failed waits as long as it is to wait, by the database's clock, and what was
// asked since a moment of the database's was asked since.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	for name, apart := range map[string]time.Duration{"the database is ahead": 10 * time.Minute, "the database is behind": -10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOn(t, devtest.PostgresApart(t, apart))
			busy := func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusInternalServerError) }
			s := serve(t, map[string]any{"/": links("/busy.html", "/page.html"), "/busy.html": busy, "/page.html": links()})
			id := w.seed(t, s.host, "/", "/")
			began := storetest.Get[time.Time](t, w.db.Pool, `SELECT clock_timestamp()`)
			for range 2 {
				w.cfg.RetryBase = 5 * time.Minute
				r := sliced(t, w.crawler(w.client), s.host)
				require.Equal(t, Waiting, r.Ending, r.Reason)
				require.InDelta(t, 5*time.Minute, r.Wait, float64(time.Minute))
				require.Equal(t, 1, s.asked()["/busy.html"], "it is to rest for five minutes")
				w.rested(t, s.host)
			}
			require.Empty(t, storetest.Column[string](t, w.db.Pool, `SELECT url FROM urls
				WHERE site_id=$1 AND fetched_at NOT BETWEEN $2 AND clock_timestamp()`, id, began),
				"URLs that were asked outside of the time of the crawl")

			// A harvest that began before the crawl asks nothing of it again.
			require.NoError(t, w.db.FinishCrawl(t.Context(), s.host, store.CrawlEnd{State: "stopped"}, w.cfg.Recrawl))
			waiting, err := w.db.RequeueDue(t.Context(), s.host, store.PutBack{All: true, Before: began}, w.cfg.Recrawl)
			require.NoError(t, err)
			require.Zero(t, waiting)
		})
	}
}

// TestTimeOfACrawlIsLimited: a server that keeps each answer back, or asks for a
// pause before each, has no crawl for ever, in however many slices; its crawl ends
// by name, with what it has.
func TestTimeOfACrawlIsLimited(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit time.Duration
		most  int // requests
		page  func(n int) func(http.ResponseWriter, *http.Request)
	}{
		"slow answers": {2 * time.Second, 2 * 25, func(n int) func(http.ResponseWriter, *http.Request) {
			return func(rw http.ResponseWriter, _ *http.Request) {
				time.Sleep(100 * time.Millisecond) // the server's, not the test's
				_, _ = fmt.Fprint(rw, links(fmt.Sprintf("/%d.html", n+1), fmt.Sprintf("/%d.pdf", n)))
			}
		}},
		"pauses": {time.Hour, 2 * 15, func(n int) func(http.ResponseWriter, *http.Request) {
			return busyThen("240", links(fmt.Sprintf("/%d.html", n+1)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages := map[string]any{"/": links("/0.html")}
			for n := range 150 {
				pages[fmt.Sprintf("/%d.html", n)] = c.page(n)
				pages[fmt.Sprintf("/%d.pdf", n)] = fmt.Sprint(n)
			}
			w, s := newWorld(t), serve(t, pages)
			w.cfg.SlicePages, w.cfg.MaxTime, w.cfg.TrapPages, w.cfg.MaxDepth = 4, c.limit, 0, 150
			w.seed(t, s.host, "/", "/")
			cr := w.crawler(w.client)
			r := w.finish(t, cr, s.host)
			require.Equal(t, TimeLimit, r.Ending, "%s %v", r.Reason, w.record(t, s.host))
			require.Regexp(t, `^time-limit: \d+ requests took .+, the limit of a crawl is `, r.Reason)
			before := s.asked()
			require.Greater(t, len(before), 2, "what it had is kept")
			require.LessOrEqual(t, len(before), c.most)
			require.Equal(t, TimeLimit, w.finish(t, cr, s.host).Ending)
			require.Equal(t, before, s.asked(), "another slice of the crawl asks nothing")

			storetest.Exec(t, w.db.Pool, `UPDATE sites SET state='stopped'`)
			w.hurry(t, s.host)
			sliced(t, cr, s.host)
			require.NotEqual(t, before, s.asked(), "the next crawl has its own time")
		})
	}
}
