package crawl

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/politeness"
)

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
	c.log = slog.New(told{func(message string) {
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
	ended := sliceOf(t, c, s.host)
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
	ended := sliceOf(t, w.crawler(w.client), s.host)
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

// TestAProcessThatStandsStillLosesItsHost: it is stopped while it crawls, and
// another one takes its host over. When it goes on it asks nothing and writes
// nothing more.
func TestAProcessThatStandsStillLosesItsHost(t *testing.T) {
	t.Parallel()
	w, s := newWorld(t), endless(t)
	w.seed(t, s.host, "/", "/")
	c := startChild(t, w.dsn, "none", t.TempDir())
	require.False(t, c.follow(20))
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGSTOP))
	var other *politeness.Lease
	require.Eventually(t, func() (had bool) {
		var err error
		other, err = politeness.NewKeeper(w.db.Pool, paced, "other").Acquire(t.Context(), s.host)
		return err == nil
	}, time.Minute, 20*time.Millisecond, "the lease runs out by itself")
	state := func() (requests int, record map[string]string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.total, w.rows(t, s.host, whole)
	}
	requests, record := state()
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGCONT))
	lost := false
	for line := range c.lines {
		lost = lost || strings.HasPrefix(line, "lost")
		if lost && strings.HasPrefix(line, "waiting") {
			break // it has found out, and knows that another one has the host
		}
		require.NoError(t, other.Renew(t.Context()))
	}
	require.True(t, lost)
	after, now := state()
	require.Equal(t, requests, after)
	require.Equal(t, record, now)
	require.NoError(t, other.Release(t.Context()))
	require.False(t, c.follow(10), "it goes on where it was")
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

// told is a log that a test listens to.
type told struct{ listen func(message string) }

func (told) Enabled(context.Context, slog.Level) bool { return true }

func (h told) Handle(_ context.Context, r slog.Record) error {
	h.listen(r.Message)
	return nil
}

func (h told) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h told) WithGroup(string) slog.Handler { return h }

// sliceOf begins a slice, and gives its result when it has ended.
func sliceOf(t *testing.T, c *Crawler, host string) <-chan Result {
	ended := make(chan Result, 1)
	go func() {
		r, err := c.Slice(t.Context(), host, func(Progress) {})
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	return ended
}
