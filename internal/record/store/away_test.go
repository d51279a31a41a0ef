package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
)

// TestAServerThatDiesIsAway: whatever was asked of it, and whether it said that it
// goes or its connections just ended, nobody is told that his question was wrong.
func TestAServerThatDiesIsAway(t *testing.T) {
	t.Parallel()
	dsn := devtest.Postgres(t)
	other := storetest.At(t, dsn, 2)
	for name, end := range map[string]func(*testing.T, func()){
		"it says that it stops": func(t *testing.T, _ func()) {
			storetest.Exec(t, other.Pool, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname=current_database() AND wait_event_type='Lock'`)
		},
		"it is killed": func(_ *testing.T, cut func()) { cut() },
	} {
		t.Run(name, func(t *testing.T) {
			through, line := devtest.Lay(t, dsn)
			db := storetest.At(t, through, 2)
			held := devtest.Must(other.Pool.Begin(t.Context()))(t)
			defer func() { _ = held.Rollback(context.Background()) }()
			storetest.Exec(t, held, `LOCK blacklist`)
			answer := make(chan error, 1)
			go func() { answer <- db.Block(context.Background(), []store.Blocked{{Host: "a.test"}}) }()
			storetest.AwaitLock(t, other.Pool)
			end(t, line.Cut)
			err := <-answer
			require.True(t, store.Away(err), "%v", err)
			require.False(t, store.Unfit(err) || store.Crossed(err) || store.Full(err), "%v", err)
			line.Cut()
			_, err = db.Blacklist(t.Context(), "", 0)
			require.True(t, store.Away(err), "then nothing answers: %v", err)
		})
	}
	t.Run("it says nothing to who comes", func(t *testing.T) {
		through, line := devtest.Lay(t, dsn)
		db := storetest.At(t, through, 2)
		line.Hush()
		defer line.Mend()
		db.Pool.Reset()
		_, err := db.Blacklist(t.Context(), "", 0)
		require.True(t, store.Away(err), "%v", err)
	})
	require.False(t, store.Away(nil))
	require.False(t, store.Away(errors.New("anything else")))
	_, err := other.Pool.Exec(t.Context(), `SELECT wrong`)
	require.False(t, store.Away(err), "%v", err)
}

// TestATransactionThatStandsStillHoldsNobodyUp: a worker that is frozen, or whose
// machine is cut off, in the middle of a transaction does not keep what it locked
// for as long as its connection looks alive.
func TestATransactionThatStandsStillHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	frozen, other := two(t)
	_, err := store.EnsureSite(t.Context(), other.Pool, "ada.test")
	require.NoError(t, err)
	held, ended := make(chan struct{}), make(chan error, 1)
	thawed := make(chan struct{})
	thaw := sync.OnceFunc(func() { close(thawed) })
	defer thaw()
	go func() {
		ended <- frozen.Tx(context.Background(), func(tx pgx.Tx) error {
			_, err := store.HoldSite(context.Background(), tx, "ada.test")
			close(held)
			<-thawed
			return err
		})
	}()
	<-held
	patience, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	require.NoError(t, other.FinishCrawl(patience, "ada.test", store.CrawlEnd{State: "done"}, recrawl.Defaults()))
	thaw()
	require.Error(t, <-ended, "it is too late for what the other one did")
}

// TestTheEndOfAProgramWaitsForNoStatement that does not end.
func TestTheEndOfAProgramWaitsForNoStatement(t *testing.T) {
	t.Parallel()
	silent, _ := two(t)
	c := devtest.Must(silent.Pool.Acquire(t.Context()))(t)
	closed := make(chan struct{})
	go func() {
		silent.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Error("closing a pool waits for its connection")
	}
	c.Release()
}

// tracers is what the tracer of a pool is.
type tracers interface {
	pgx.QueryTracer
	pgx.BatchTracer
}

// counting counts the statements of a pool.
type counting struct {
	tracers
	n int
}

func (c *counting) TraceQueryStart(ctx context.Context, conn *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	c.n++
	return c.tracers.TraceQueryStart(ctx, conn, q)
}

func (c *counting) TraceBatchStart(ctx context.Context, conn *pgx.Conn, b pgx.TraceBatchStartData) context.Context {
	c.n += b.Batch.Len()
	return c.tracers.TraceBatchStart(ctx, conn, b)
}

// TestTogether: documents that are saved and judged together take as many statements as one,
// and of two that lie at one location the last is current.
func TestTogether(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cfg := open(t).Pool.Config()
	asked := &counting{tracers: cfg.ConnConfig.Tracer.(tracers)}
	cfg.ConnConfig.Tracer = asked
	pool := devtest.Must(pgxpool.NewWithConfig(ctx, cfg))(t)
	db := store.New(pool)
	t.Cleanup(db.Close)
	job := devtest.Must(db.AddJob(ctx, store.JobImport, map[string]string{}))(t)
	require.NoError(t, db.BeginJob(ctx, job, 1))
	took := func(from, to int) int {
		asked.n = 0
		var begun []*store.ImportRecord
		var all []store.Fetched
		var shas []string
		for i := from; i < to; i++ {
			sha, url := fmt.Sprintf("%064d", i), fmt.Sprintf("http://a.example/%d", i/2)
			hash := frontier.HashOf(url)
			begun = append(begun, &store.ImportRecord{N: int64(i), URL: url})
			shas = append(shas, sha)
			all = append(all, store.Fetched{
				Document: store.Document{SHA256: sha, Kind: "pdf"},
				Location: store.Location{Hash: hash[:], URL: url, Parent: "http://b.example/", Found: time.Unix(1, 0)},
			})
		}
		require.NoError(t, db.BeginRecords(ctx, job, 1, begun))
		require.NoError(t, db.SaveAllFetched(ctx, all))
		fresh := devtest.Must(db.New(ctx, shas))(t)
		require.Len(t, fresh, len(shas))
		for i := range fresh {
			fresh[i].State = gleaner.DocumentAccepted
		}
		require.NoError(t, db.SaveUnread(ctx, fresh))
		return asked.n
	}
	require.Equal(t, took(0, 1), took(2, 40))
	var current, earlier int
	require.NoError(t, pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE current AND right(sha256, 1)::int % 2 = 1),
		count(*) FILTER (WHERE NOT current AND right(sha256, 1)::int % 2 = 0) FROM locations JOIN documents USING (sha256)
		WHERE sha256 > repeat('0', 64) AND state='accepted'`).Scan(&current, &earlier))
	require.Equal(t, []int{19, 19}, []int{current, earlier})
}

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
	require.Positive(t, devtest.Must(db.Pool.Exec(t.Context(), `UPDATE chores SET `+what))(t).RowsAffected())
}

// TestAChoreThatIsNotDone: one that is broken off is due at once, one that failed
// when its time is up, and so is one whose process died.
func TestAChoreThatIsNotDone(t *testing.T) {
	t.Parallel()
	a, b := two(t)
	sweep := store.Chore{Name: "sweep", Every: time.Hour, Within: time.Hour}
	fine := func(context.Context) (any, error) { return nil, nil }
	does := func(db *store.DB) bool {
		return devtest.Must(db.Chore(t.Context(), sweep, fine))(t)
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
		gauges := devtest.Must(store.SharedGauges{DB: db, Every: time.Hour}.Gauges(ctx))(t)
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
