package crawl

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/politeness"
	"gleaner/internal/record/store"
)

// cable is the way to the database, which a test may cut.
type cable struct {
	net.Listener
	to string

	mu    sync.Mutex
	cut   bool
	lines []net.Conn
}

// lay gives a DSN that leads to the database of dsn through a cable.
func lay(t *testing.T, dsn string) (string, *cable) {
	t.Helper()
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cable{Listener: l, to: u.Host}
	t.Cleanup(func() { _ = l.Close(); c.set(true) })
	go c.serve()
	u.Host = l.Addr().String()
	return u.String(), c
}

func (c *cable) serve() {
	for {
		in, err := c.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", c.to)
		c.mu.Lock()
		if err != nil || c.cut {
			_ = in.Close()
		} else {
			c.lines = append(c.lines, in, out)
			go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
			go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
		}
		c.mu.Unlock()
	}
}

func (c *cable) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	for _, l := range c.lines {
		_ = l.Close()
	}
	c.lines = nil
}

// TestADatabaseThatGoesAwayCostsNoRequest: it is away again and again, for longer
// than a lease lasts as well. What was fetched is kept and written when it is
// back, and the same slice goes on.
func TestADatabaseThatGoesAwayCostsNoRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Batch = 4
	want, _ := undisturbed(t, w)
	dsn, cable := lay(t, w.dsn)
	db, err := store.Open(t.Context(), dsn, 4)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	s := serve(t, small())
	w.seed(t, s.host, "/", "/")
	s.at = func(n int) {
		if n%3 == 2 {
			cable.set(true)
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
			cable.set(false)
		}
	}})
	r, err := c.Slice(t.Context(), s.host, func(Progress) {})
	require.NoError(t, err)
	require.Equal(t, Exhausted, r.Ending)
	require.Greater(t, waits, 2)
	require.Equal(t, want, w.bare(t, s.host))
	for p, n := range s.asked() {
		if p != "/e.html" { // the end of a redirect, too
			require.Equal(t, 1, n, p)
		}
	}
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
	r, err := c.Slice(t.Context(), s.host, func(Progress) {})
	require.NoError(t, err)
	require.Equal(t, Waiting, r.Ending)
	require.Positive(t, r.Wait)
	require.Empty(t, s.asked())
	c.patience = time.Minute
	r, err = c.Slice(t.Context(), s.host, func(Progress) {})
	require.NoError(t, err)
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
