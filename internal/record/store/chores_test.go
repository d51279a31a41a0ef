package store_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/record/store"
)

// two opens one record by two processes.
func two(t *testing.T) (a, b *store.DB) {
	dsn := devtest.Postgres(t)
	dbs := make([]*store.DB, 2)
	for i := range dbs {
		var err error
		dbs[i], err = store.Open(t.Context(), dsn, 4)
		require.NoError(t, err)
		t.Cleanup(dbs[i].Close)
	}
	return dbs[0], dbs[1]
}

// TestOneDoesAChoreForAll: of all that ask at once one does it, and nobody does it
// again before its time.
func TestOneDoesAChoreForAll(t *testing.T) {
	t.Parallel()
	a, b := two(t)
	sweep := store.Chore{Name: "sweep", Every: time.Hour, Within: time.Hour}
	var done atomic.Int32
	do := func(context.Context) (any, error) { done.Add(1); return nil, nil }
	all := func() {
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				if _, err := []*store.DB{a, b}[i%2].Chore(t.Context(), sweep, do); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	all()
	all()
	require.EqualValues(t, 1, done.Load())
	passes(t, a, `last = last - interval '1 hour'`)
	all()
	require.EqualValues(t, 2, done.Load(), "an hour later")
}

// passes makes it later for all chores.
func passes(t *testing.T, db *store.DB, what string) {
	tag, err := db.Pool.Exec(t.Context(), `UPDATE chores SET `+what)
	require.NoError(t, err)
	require.Positive(t, tag.RowsAffected())
}

// TestAChoreThatIsNotDone: one that is broken off is due at once, one that failed
// when its time is up, and so is one whose process died.
func TestAChoreThatIsNotDone(t *testing.T) {
	t.Parallel()
	a, b := two(t)
	sweep := store.Chore{Name: "sweep", Every: time.Hour, Within: time.Hour}
	fine := func(context.Context) (any, error) { return nil, nil }
	does := func(db *store.DB) bool {
		ran, err := db.Chore(t.Context(), sweep, fine)
		require.NoError(t, err)
		return ran
	}

	stopping, stop := context.WithCancel(t.Context())
	ran, err := a.Chore(stopping, sweep, func(ctx context.Context) (any, error) {
		require.False(t, does(b), "another is at it")
		stop()
		return nil, ctx.Err()
	})
	require.True(t, ran)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, does(b), "its process was told to stop")
	require.False(t, does(a))

	passes(t, a, `last = last - interval '1 hour'`)
	trouble := errors.New("trouble")
	_, err = a.Chore(t.Context(), sweep, func(context.Context) (any, error) { return nil, trouble })
	require.ErrorIs(t, err, trouble)
	require.False(t, does(b), "not at once")
	passes(t, a, `claimed_until = claimed_until - interval '1 hour'`) // and likewise after a death
	require.True(t, does(b))

	// One that took longer than it may is broken off, and says nothing of the one after it.
	passes(t, a, `last = last - interval '1 hour'`)
	short := sweep
	short.Within = 200 * time.Millisecond
	_, err = a.Chore(t.Context(), short, func(ctx context.Context) (any, error) {
		<-ctx.Done()
		passes(t, a, `claimed_until = least(claimed_until, now())`)
		require.True(t, does(b))
		passes(t, a, `last = last - interval '2 hours'`)
		return nil, nil // it does not look at ctx
	})
	require.NoError(t, err)
	require.True(t, does(b), "the late one wrote that it was done")
}

// TestGaugesAreComputedOnce: every worker is scraped, one asks the record.
func TestGaugesAreComputedOnce(t *testing.T) {
	t.Parallel()
	a, b := two(t)
	sites := func(db *store.DB) (n float64) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		gauges, err := store.SharedGauges{DB: db, Every: time.Hour}.Gauges(ctx)
		require.NoError(t, err)
		require.NotEmpty(t, gauges)
		for _, g := range gauges {
			if g.Name == "sites" {
				require.Equal(t, []string{"new"}, g.Labels)
				n += g.Value
			}
		}
		return n
	}
	site := func(host string) {
		_, err := store.EnsureSite(t.Context(), a.Pool, host)
		require.NoError(t, err)
	}
	site("one.test")
	require.EqualValues(t, 1, sites(a))
	site("two.test")
	require.EqualValues(t, 1, sites(b), "those that the other computed")
	passes(t, a, `last = last - interval '1 hour'`)
	require.EqualValues(t, 2, sites(b))
	require.EqualValues(t, 2, sites(a))

	// While another is at it, they are waited for.
	passes(t, a, `last = last - interval '1 hour', claimed_until = now() + interval '1 hour'`)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := store.SharedGauges{DB: b, Every: time.Hour}.Gauges(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded, "old numbers would look like a record that stands still")
}
