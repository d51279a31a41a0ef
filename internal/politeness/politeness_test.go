package politeness

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

func open(t *testing.T) *store.DB { return storetest.Open(t, 20) }

// unpaced grants turns at once, so that a test waits only for what it is about.
var unpaced = fetch.Pacing{Unpaced: true, BackoffBase: time.Millisecond, BackoffMax: time.Millisecond}

// expire lets a host's lease run out without waiting for it.
func expire(t *testing.T, db *store.DB, host string) {
	t.Helper()
	storetest.Exec(t, db.Pool, `UPDATE sites SET expires_at = now() - interval '1s' WHERE host = $1`, host)
}

func requireBusy(t *testing.T, err error, parked bool) *BusyError {
	t.Helper()
	var busy *BusyError
	require.ErrorAs(t, err, &busy)
	require.Equal(t, parked, busy.Parked)
	require.Positive(t, busy.RetryIn())
	require.Contains(t, busy.Error(), busy.Host)
	return busy
}

// requireTaken checks that the lease of a host is not to be had, and returns why.
func requireTaken(t *testing.T, k *Keeper, host string, parked bool) *BusyError {
	t.Helper()
	_, err := k.Acquire(t.Context(), host)
	return requireBusy(t, err, parked)
}

func acquire(t *testing.T, k *Keeper, host string) *Lease {
	t.Helper()
	l, err := k.Acquire(t.Context(), host)
	require.NoError(t, err)
	return l
}

// visit is one request to a host, with its answer.
func visit(t *testing.T, k *Keeper, host string, crawlDelay time.Duration, answer fetch.Visit) {
	t.Helper()
	done, err := k.Turn(t.Context(), host, crawlDelay)
	require.NoError(t, err)
	done(answer)
}

func TestOneLeaseAHost(t *testing.T) {
	t.Parallel()
	db := open(t)
	keepers := []*Keeper{NewKeeper(db.Pool, unpaced, "a"), NewKeeper(db.Pool, unpaced, "b")}
	var got atomic.Int32
	var wg sync.WaitGroup
	leases := make(chan *Lease, 40)
	for i := range 40 {
		wg.Go(func() {
			l, err := keepers[i%2].Acquire(t.Context(), "host.test")
			var busy *BusyError
			if err == nil {
				got.Add(1)
				leases <- l
			} else if !errors.As(err, &busy) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, got.Load())
	requireTaken(t, keepers[0], "host.test", false)
	acquire(t, keepers[0], "other.test") // another host is another lease
	require.NoError(t, (<-leases).Release(t.Context()))
	acquire(t, keepers[1], "host.test")
}

func TestAHolderThatLostItsLeaseWritesNothing(t *testing.T) {
	t.Parallel()
	db := open(t)
	k := NewKeeper(db.Pool, unpaced, "a")
	old := acquire(t, k, "host.test")
	expire(t, db, "host.test")
	young := acquire(t, NewKeeper(db.Pool, unpaced, "b"), "host.test")
	require.Greater(t, young.Token, old.Token)

	require.ErrorIs(t, old.Renew(t.Context()), ErrLost)
	require.ErrorIs(t, old.Release(t.Context()), ErrLost)
	old.setDelay(time.Millisecond)
	_, err := k.Under(old).Turn(t.Context(), "host.test", 0)
	require.ErrorIs(t, err, ErrLost, "no request leaves")
	require.NoError(t, young.Renew(t.Context()))
}

// TestALeaseThatRanOutAsksNothing: where delays are off no row is written before
// a request, so the process's own clock has to tell.
func TestALeaseThatRanOutAsksNothing(t *testing.T) {
	t.Parallel()
	db := open(t)
	k := NewKeeper(db.Pool, unpaced, "a")
	l := acquire(t, k, "host.test")
	ctx, k := t.Context(), k.Under(l)
	visit(t, k, "host.test", 0, fetch.Visit{Status: 200})
	l.extend(time.Now().Add(-l.k.ttl - time.Second))
	require.True(t, l.Lapsed())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, l.Renew(gone))
	require.True(t, l.Lapsed(), "the database could not be asked")
	_, err := k.Under(l).Turn(gone, "host.test", 0)
	require.Error(t, err)
	_, err = k.Turn(ctx, "host.test", 0)
	require.NoError(t, err, "nobody took it, so it is had on")
	require.False(t, l.Lapsed())

	l.extend(time.Now().Add(-l.k.ttl - time.Second))
	expire(t, db, "host.test")
	acquire(t, NewKeeper(db.Pool, unpaced, "b"), "host.test")
	_, err = k.Turn(ctx, "host.test", 0)
	require.ErrorIs(t, err, ErrLost)
}

// TestALeaseThatWasNotGivenBackIsTakenUp: a process whose database was away when
// a slice ended need not wait for itself; the host has its rest all the same.
func TestALeaseThatWasNotGivenBackIsTakenUp(t *testing.T) {
	t.Parallel()
	db := open(t)
	k := NewKeeper(db.Pool, fetch.Pacing{MinDelay: time.Minute}, "a")
	l := acquire(t, k, "host.test")
	visit(t, k.Under(l), "host.test", 0, fetch.Visit{Status: 200})
	requireTaken(t, k, "host.test", false)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, l.Release(gone))
	storetest.Exec(t, db.Pool, `UPDATE sites SET next_allowed_at = now() WHERE host = 'host.test'`)

	requireTaken(t, NewKeeper(db.Pool, unpaced, "a"), "host.test", false) // another process of the same name
	again := acquire(t, k, "host.test")
	require.InDelta(t, time.Minute, again.Ready(), float64(5*time.Second))
	requireTaken(t, k, "host.test", false)
	require.ErrorIs(t, l.Renew(t.Context()), ErrLost, "what was given back stays so")

	storetest.Exec(t, db.Pool, `UPDATE sites SET expires_at = now() - interval '1 hour'`)
	now, err := db.Now(t.Context())
	require.NoError(t, err)
	_, err = db.DropLeases(t.Context(), now, true)
	require.NoError(t, err)
	require.ErrorIs(t, again.Renew(t.Context()), ErrLost, "a row without a holder is free to others")
}

func TestPacingSurvivesTheProcess(t *testing.T) {
	t.Parallel()
	db := open(t)
	paced := fetch.Pacing{MinDelay: time.Minute}
	visit(t, NewKeeper(db.Pool, paced, "a"), "host.test", 0, fetch.Visit{Status: 200, Elapsed: time.Millisecond})
	l := acquire(t, NewKeeper(db.Pool, paced, "b"), "host.test")
	require.InDelta(t, time.Minute, l.Ready(), float64(5*time.Second))

	// A process killed in the middle of a request has said so before it.
	_, err := NewKeeper(db.Pool, paced, "a").Turn(t.Context(), "killed.test", 0)
	require.NoError(t, err)
	expire(t, db, "killed.test")
	l = acquire(t, NewKeeper(db.Pool, paced, "b"), "killed.test")
	require.InDelta(t, time.Minute, l.Ready(), float64(5*time.Second))
}

func TestAHostThatKeepsFailingIsParked(t *testing.T) {
	t.Parallel()
	db := open(t)
	p := unpaced
	p.ParkAfter, p.ParkFor = 3, time.Hour
	k := NewKeeper(db.Pool, p, "a")
	for range 3 {
		visit(t, k, "host.test", 0, fetch.Visit{Status: 500, Failed: true})
	}
	_, err := NewKeeper(db.Pool, p, "b").Turn(t.Context(), "host.test", 0)
	busy := requireBusy(t, err, true)
	require.InDelta(t, time.Hour, busy.Wait, float64(time.Minute))
	require.Equal(t, 3, busy.Failures)
	site, err := db.Site(t.Context(), "host.test")
	require.NoError(t, err)
	require.Equal(t, 3, site.Failures)
	require.NotNil(t, site.Parked)

	// One good answer after the pause, and the host is as any other.
	storetest.Exec(t, db.Pool, `UPDATE sites SET parked_until = now(), next_allowed_at = now() WHERE host = 'host.test'`)
	visit(t, k, "host.test", 0, fetch.Visit{Status: 200})
	site, err = db.Site(t.Context(), "host.test")
	require.NoError(t, err)
	require.Zero(t, site.Failures)
	require.Nil(t, site.Parked)
}

// TestAHostThatIsPausedIsAskedByNobody, by its name with "www." or without, until it is
// resumed.
func TestAHostThatIsPausedIsAskedByNobody(t *testing.T) {
	t.Parallel()
	db := open(t)
	k := NewKeeper(db.Pool, unpaced, "a")
	held := acquire(t, k, "www.host.test")
	require.NoError(t, Pause(t.Context(), db.Pool, "host.test", "asked by mail"))
	require.NoError(t, Pause(t.Context(), db.Pool, "host.test", "asked again"))
	require.NoError(t, held.Release(t.Context()), "who asks it finishes that")
	for _, host := range []string{"host.test", "www.host.test"} {
		require.Equal(t, "paused by a person: asked again", requireTaken(t, k, host, true).Paused)
		_, err := k.Turn(t.Context(), host, 0)
		requireBusy(t, err, true)
	}
	visit(t, k, "other.test", 0, fetch.Visit{Status: 200})
	names, err := Resume(t.Context(), db.Pool, "www.host.test")
	require.NoError(t, err)
	require.Equal(t, []string{"host.test", "www.host.test"}, names)
	visit(t, k, "host.test", 0, fetch.Visit{Status: 200})
	names, err = Resume(t.Context(), db.Pool, "host.test")
	require.NoError(t, err)
	require.Empty(t, names)
}

// TestAPauseHoldsForWhoWaitsForItsTurn: a request that was to leave after the pause does not, nor
// one after its host was put on the blacklist.
func TestAPauseHoldsForWhoWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	db, ctx := open(t), t.Context()
	k := NewKeeper(db.Pool, fetch.Pacing{MinDelay: time.Second, MaxDelay: time.Second}, "a")
	crawl := k.Under(acquire(t, k, "crawl.test"))
	for host, keeper := range map[string]*Keeper{"single.test": k, "crawl.test": crawl} {
		visit(t, keeper, host, 0, fetch.Visit{Status: 200})
		timer := time.AfterFunc(200*time.Millisecond, func() { assert.NoError(t, Pause(ctx, db.Pool, host, "asked by mail")) })
		_, err := keeper.Turn(ctx, host, 0)
		require.False(t, timer.Stop(), "it waited for its turn")
		require.Equal(t, "paused by a person: asked by mail", requireBusy(t, err, true).Paused)
	}
	visit(t, k, "black.test", 0, fetch.Visit{Status: 200})
	time.AfterFunc(200*time.Millisecond, func() {
		_, err := db.Pool.Exec(ctx, `INSERT INTO blacklist (host, reason) VALUES ('black.test', 'asked us to')`)
		assert.NoError(t, err)
	})
	_, err := k.Turn(ctx, "black.test", 0)
	require.ErrorContains(t, err, "blacklist: asked us to")
}

func TestALongPauseIsAnError(t *testing.T) {
	t.Parallel()
	k := NewKeeper(open(t).Pool, unpaced, "a")
	l := acquire(t, k, "host.test")
	ctx, k := t.Context(), k.Under(l)
	visit(t, k, "host.test", 0, fetch.Visit{Status: 503, Failed: true, RetryAfter: time.Hour})
	_, err := k.Turn(ctx, "host.test", 0)
	busy := requireBusy(t, err, true)
	require.InDelta(t, time.Hour, busy.Wait, float64(time.Minute))
	require.NoError(t, l.Release(t.Context()))
	_, err = k.Turn(t.Context(), "host.test", 0)
	requireBusy(t, err, true)
}

func TestDelays(t *testing.T) {
	t.Parallel()
	db := open(t)
	paced := NewKeeper(db.Pool, fetch.Pacing{MinDelay: 10 * time.Second}, "a")
	for name, c := range map[string]struct {
		keeper     *Keeper
		crawlDelay time.Duration
		want       time.Duration
	}{
		"the keeper's":         {paced, 0, 10 * time.Second},
		"the caller's":         {paced.Every(20 * time.Second), 0, 20 * time.Second},
		"robots.txt's":         {paced, 30 * time.Second, 30 * time.Second},
		"none":                 {NewKeeper(db.Pool, unpaced, "a"), 0, 0},
		"a service's":          {paced.Services(), 3 * time.Second, 3 * time.Second},
		"a service's own none": {paced.Services().Every(20 * time.Second), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := t.Name()
			visit(t, c.keeper, host, c.crawlDelay, fetch.Visit{Status: 200})
			l := acquire(t, c.keeper, host)
			require.InDelta(t, c.want, l.Ready(), float64(2*time.Second))
		})
	}
}

// TestASlowAnswerKeepsItsTurn: a request that outlasts the lease is still the
// only one.
func TestASlowAnswerKeepsItsTurn(t *testing.T) {
	t.Parallel()
	db := open(t)
	k := NewKeeper(db.Pool, unpaced, "a")
	k.ttl = time.Second // a renewal that takes longer than a third of it fails
	done, err := k.Turn(t.Context(), "host.test", 0)
	require.NoError(t, err)
	var first time.Time
	expires := func() time.Time {
		return storetest.Get[time.Time](t, db.Pool, `SELECT expires_at FROM sites WHERE host = 'host.test'`)
	}
	first = expires()
	require.Eventually(t, func() bool { return expires().After(first.Add(3 * k.ttl)) }, 10*time.Second, 5*time.Millisecond)
	done(fetch.Visit{Status: 200})
	l := acquire(t, NewKeeper(db.Pool, unpaced, "b"), "host.test")
	require.EqualValues(t, 2, l.Token, "nobody took the lease in between")
}

// TestATurnEndsWithItsLease: the record does not answer, and its connections do not
// end either, while a request is under way. The request is broken off when another
// process may ask the host.
func TestATurnEndsWithItsLease(t *testing.T) {
	t.Parallel()
	dsn := devtest.Postgres(t)
	through, line := devtest.Lay(t, dsn)
	far := storetest.At(t, through, 4)
	near := storetest.At(t, dsn, 4)
	ctx, cancel := fetch.Revocable(t.Context())
	defer cancel(nil)
	k := NewKeeper(far.Pool, unpaced, "a")
	k.ttl = 2 * time.Second
	done, err := k.Turn(ctx, "host.test", 0)
	require.NoError(t, err)
	line.Hush()
	defer line.Mend()
	patience, over := context.WithTimeout(t.Context(), time.Minute)
	defer over()
	select {
	case <-ctx.Done():
		require.ErrorIs(t, context.Cause(ctx), ErrLapsed)
	case <-patience.Done():
		t.Error("the request goes on, and another process may have the host")
	}
	_, err = NewKeeper(near.Pool, unpaced, "b").AcquireWithin(patience, "host.test", time.Minute)
	require.NoError(t, err)
	line.Mend()
	done(fetch.Visit{Status: 200})
}

// TestAWriteThatWaitedLeavesTheWholePause: the row is locked by others when a request
// is written there, which so leaves later. A process that is killed over the request
// leaves the host all of its pause nevertheless.
func TestAWriteThatWaitedLeavesTheWholePause(t *testing.T) {
	t.Parallel()
	const delay = 20 * time.Second
	db := open(t)
	l := acquire(t, NewKeeper(db.Pool, fetch.Pacing{MinDelay: delay}, "a"), "host.test")
	tx, err := db.Pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT FROM sites WHERE id=$1 FOR NO KEY UPDATE`, l.SiteID)
	require.NoError(t, err)
	time.AfterFunc(time.Second, func() {
		if err := tx.Rollback(context.Background()); err != nil {
			t.Error(err)
		}
	})
	_, err = l.turn(t.Context(), 0)
	leaves := time.Now()
	require.NoError(t, err)
	next := storetest.Get[float64](t, db.Pool, `SELECT extract(epoch FROM next_allowed_at - clock_timestamp())::float8 FROM sites WHERE id=$1`, l.SiteID)
	require.GreaterOrEqual(t, seconds(next)+time.Since(leaves), delay)
}

// TestManyAskOneHost: two processes with many goroutines, some of them under a
// lease, judged by what the server saw.
func TestManyAskOneHost(t *testing.T) {
	t.Parallel()
	const delay = 25 * time.Millisecond
	db := open(t)
	log := sampleweb.NewJournal(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }))
	srv := httptest.NewServer(log)
	t.Cleanup(srv.Close)
	host := srv.Listener.Addr().String()
	p := fetch.Pacing{MinDelay: delay, MaxDelay: delay}
	keepers := []*Keeper{NewKeeper(db.Pool, p, "a"), NewKeeper(db.Pool, p, "b")}
	ask := func(ctx context.Context, k *Keeper) error {
		done, err := k.Turn(ctx, host, 0)
		if err != nil {
			return err
		}
		start := time.Now()
		resp, err := http.Get(srv.URL)
		if err == nil {
			err = resp.Body.Close()
		}
		done(fetch.Visit{Status: 200, Elapsed: time.Since(start)})
		return err
	}
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			if err := ask(t.Context(), keepers[i%2]); err != nil {
				t.Error(err)
			}
		})
	}
	for range 2 {
		wg.Go(func() { // a slice of a crawl among them
			var l *Lease
			for l == nil {
				var err error
				if l, err = keepers[0].Acquire(t.Context(), host); err != nil {
					if err := fetch.Wait(t.Context(), time.Millisecond); err != nil {
						t.Error(err)
						return
					}
				}
			}
			for range 4 {
				if err := ask(t.Context(), keepers[0].Under(l)); err != nil {
					t.Error(err)
				}
			}
			if err := l.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Len(t, log.Log(), 20)
	for _, q := range log.Log() {
		require.Equal(t, 1, q.InFlight)
		require.True(t, q.Gap < 0 || q.Gap >= delay, "%s after an answer", q.Gap)
	}
}

// TestALockedRowHoldsUpNoLease: while the rows of some hosts are locked for long, those who want
// their leases or have them leave connections for the leases of other hosts.
func TestALockedRowHoldsUpNoLease(t *testing.T) {
	t.Parallel()
	db := open(t)
	leases, err := db.SidePool(t.Context(), 2)
	require.NoError(t, err)
	t.Cleanup(leases.Close)
	k := NewKeeper(leases, unpaced, "a")
	l, locked := acquire(t, k, "a.example"), acquire(t, k, "b.example")
	tx, err := db.Pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	_, err = tx.Exec(t.Context(), `INSERT INTO sites (host) VALUES ('c.example')`)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT FROM sites WHERE host='b.example' FOR NO KEY UPDATE`)
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 4 {
		for _, want := range []func() error{
			func() error { _, err := k.Turn(ctx, "b.example", 0); return err },
			func() error { _, err := k.Acquire(ctx, "c.example"); return err },
			func() error { return locked.Renew(ctx) },
			func() error { return locked.Release(ctx) },
		} {
			wg.Go(func() {
				for err := error(nil); ctx.Err() == nil; err = want() {
					var busy *BusyError
					if err != nil && !errors.As(err, &busy) && !errors.Is(err, context.Canceled) {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	require.Eventually(t, func() bool { return leases.Stat().AcquiredConns() == 2 }, time.Minute, time.Millisecond)
	for range 3 {
		within, over := context.WithTimeout(t.Context(), k.ttl)
		require.NoError(t, l.Renew(within))
		over()
	}
	end()
	wg.Wait()
}

// TestRobotsOnRecordDeny: what a file denies is denied to the process that asked for it and
// to others, at every look.
func TestRobotsOnRecordDeny(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			_, _ = w.Write([]byte("User-agent: *\nDisallow: /private/\n"))
			return
		}
		asked.Add(1)
	}))
	t.Cleanup(web.Close)
	cache := NewRobots(open(t).Pool)
	for range 2 {
		client, err := fetch.New(fetch.Config{AllowLoopback: true, Proxy: "none", Contact: "test@example.org", Robots: cache, Pacing: unpaced})
		require.NoError(t, err)
		t.Cleanup(client.Close)
		for range 3 {
			_, err := client.Fetch(t.Context(), fetch.Request{URL: web.URL + "/private/a"})
			e, _ := errors.AsType[*fetch.Error](err)
			require.Equal(t, fetch.RobotsDenied, e.Outcome)
		}
	}
	require.Zero(t, asked.Load())
	host := web.Listener.Addr().String()
	first, _, err := cache.LoadRobots(t.Context(), host, fetch.RobotsRecord{})
	require.NoError(t, err)
	first.Body, first.FetchedAt = nil, first.FetchedAt.Add(time.Nanosecond)
	again, found, err := cache.LoadRobots(t.Context(), host, first)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, first, again, "the body of what is known is not read")
}
