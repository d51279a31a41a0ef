package pool_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/worker/pool"
)

// TestOneWorkerKeepsHouseForAll: of two workers one mends and prunes, and neither
// does it again before its time.
func TestOneWorkerKeepsHouseForAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	houses := make([]func(), 2)
	for i := range houses {
		house, err := pool.OpenHouse(t.Context(), w.cfg, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		t.Cleanup(house.Close)
		houses[i] = func() { house.Once(t.Context()) }
	}
	// Each end of a chore leaves a line.
	w.exec(t, `CREATE TABLE ends (name text);
		CREATE FUNCTION ended() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO ends VALUES (NEW.name); RETURN NEW; END';
		CREATE TRIGGER ended AFTER UPDATE OF last ON chores FOR EACH ROW WHEN (NEW.last > OLD.last) EXECUTE FUNCTION ended()`)
	ends := func() (reconciled, pruned int) {
		require.NoError(t, w.db.Pool.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE name='reconcile'), count(*) FILTER (WHERE name='prune') FROM ends`).Scan(&reconciled, &pruned))
		return reconciled, pruned
	}
	// What a reconciler drops, and what pruning removes.
	litter := func() {
		w.exec(t, `INSERT INTO sites (host, holder, expires_at) VALUES ('held.test', 'dead', now() - interval '1 hour') ON CONFLICT (host) DO UPDATE SET holder='dead';
			INSERT INTO searches (provider, query, wanted, results, asked_at) VALUES ('p', 'old', 10, '[]', now() - interval '9 years')`)
	}
	left := func() (held, searches int) {
		require.NoError(t, w.db.Pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM sites WHERE holder <> ''), (SELECT count(*) FROM searches)`).Scan(&held, &searches))
		return held, searches
	}
	all := func() {
		var wg sync.WaitGroup
		for _, house := range houses {
			wg.Go(house)
		}
		wg.Wait()
	}
	is := func(reconciled, pruned, held, searches int) {
		t.Helper()
		r, p := ends()
		require.Equal(t, []int{reconciled, pruned}, []int{r, p}, "reconciled, pruned")
		h, s := left()
		require.Equal(t, []int{held, searches}, []int{h, s}, "leases, searches left")
	}
	litter()
	all()
	is(1, 1, 0, 0)
	litter()
	all()
	is(1, 1, 1, 1)
	w.exec(t, `UPDATE chores SET last = last - interval '10 minutes'`)
	all()
	is(2, 1, 0, 1)
	w.exec(t, `UPDATE chores SET last = last - interval '1 day'`)
	all()
	is(3, 2, 0, 0)
}

// TestAPruneHoldsNothingElseUp: while it takes its hour, what does not run is started again.
func TestAPruneHoldsNothingElseUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	house, err := pool.OpenHouse(t.Context(), w.cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(house.Close)
	w.exec(t, `CREATE FUNCTION ended() RETURNS trigger LANGUAGE plpgsql AS
			'BEGIN PERFORM pg_notify(''ended'', NEW.name); RETURN NEW; END';
		CREATE TRIGGER ended AFTER UPDATE OF last ON chores
			FOR EACH ROW WHEN (NEW.last > OLD.last) EXECUTE FUNCTION ended()`)
	ends, err := w.db.Pool.Acquire(t.Context())
	require.NoError(t, err)
	defer ends.Release()
	_, err = ends.Exec(t.Context(), `LISTEN ended`)
	require.NoError(t, err)
	long, err := w.db.Pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = long.Exec(t.Context(), `LOCK TABLE searches`) // which prune waits for
	require.NoError(t, err)

	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() { defer close(left); house.Keep(ctx, time.Millisecond) }()
	for range 2 {
		end, err := ends.Conn().WaitForNotification(t.Context())
		require.NoError(t, err)
		require.Equal(t, "reconcile", end.Payload)
		w.exec(t, `UPDATE chores SET last = last - interval '10 minutes' WHERE name = 'reconcile'`)
	}
	require.NoError(t, long.Rollback(t.Context()))
	leave()
	<-left
}

func (w *world) exec(t *testing.T, sql string) {
	t.Helper()
	_, err := w.db.Pool.Exec(t.Context(), sql)
	require.NoError(t, err)
}
