package crawl

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/record/store"
)

// deadlocks counts what the server undid.
type deadlocks struct{ n atomic.Int32 }

func (*deadlocks) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (d *deadlocks) TraceQueryEnd(_ context.Context, _ *pgx.Conn, q pgx.TraceQueryEndData) {
	if pg, ok := errors.AsType[*pgconn.PgError](q.Err); ok && pg.Code == "40P01" {
		d.n.Add(1)
	}
}

// TestSitesThatLeadToEachOther are written at the same moment, each what the other
// found, too: one waits for the other, and no transaction is undone.
func TestSitesThatLeadToEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cfg, seen := w.db.Pool.Config(), &deadlocks{}
	cfg.ConnConfig.Tracer = seen
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	a, b := serve(t, map[string]any{"/1.pdf": "one"}), serve(t, map[string]any{"/1.pdf": "another"})
	// Both crawls have begun when the first page is answered: one that begins later
	// would wait for the other's transaction, and be in none of its own.
	var begun sync.WaitGroup
	begun.Add(2)
	for _, s := range []*site{a, b} {
		s.at = func(n int) {
			if n == 1 {
				begun.Done()
				begun.Wait()
			}
		}
		w.seed(t, s.host, "/", "/")
		s.pages["/"] = links("http://"+a.host+"/1.pdf", "http://"+b.host+"/1.pdf")
	}
	// Whoever has added URLs waits, in the middle of its transaction, until the
	// lock is let go.
	for _, sql := range []string{
		`CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NULL; END'`,
		`CREATE TRIGGER gate AFTER INSERT ON urls FOR EACH STATEMENT EXECUTE FUNCTION gate()`,
	} {
		_, err := w.db.Pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	// In no transaction: one that stands still for long is undone, on a busy machine.
	gate, err := w.db.Pool.Acquire(t.Context())
	require.NoError(t, err)
	t.Cleanup(gate.Release)
	_, err = gate.Exec(t.Context(), `SELECT pg_advisory_lock(4711)`)
	require.NoError(t, err)
	c := w.crawler(w.client)
	c.db = store.New(pool)
	done := make(chan error)
	for _, s := range []*site{a, b} {
		go func() {
			_, err := c.Slice(context.Background(), s.host, func(Progress) {})
			done <- err
		}()
	}
	require.Eventually(t, func() bool {
		n := storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM pg_stat_activity WHERE datname=current_database() AND wait_event_type='Lock'
			AND (wait_event='advisory' OR query LIKE 'SELECT FROM sites WHERE id = ANY%')`)
		return n == 2
	}, 30*time.Second, time.Millisecond)
	_, err = gate.Exec(t.Context(), `SELECT pg_advisory_unlock(4711)`)
	require.NoError(t, err)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.Zero(t, seen.n.Load())
	for _, s := range []*site{a, b} {
		require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
		require.Equal(t, map[string]string{"/": "page success", "/1.pdf": "document success"}, w.record(t, s.host))
		require.Equal(t, 1, s.asked()["/1.pdf"])
	}
}
