package politeness

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/record/store"
)

// nextIn is how long the row keeps a host from being asked.
func nextIn(t *testing.T, db *store.DB, host string) time.Duration {
	t.Helper()
	s := storetest.Get[float64](t, db.Pool, `SELECT CASE WHEN next_allowed_at > now() THEN extract(epoch FROM next_allowed_at - now())::float8 ELSE 0 END FROM sites WHERE host = $1`, host)
	return time.Duration(s * float64(time.Second))
}

// TestALongCrawlDelayIsBounded: what robots.txt asks is obeyed up to the bound,
// and nobody sleeps longer than MaxBlock with a host's lease in hand.
func TestALongCrawlDelayIsBounded(t *testing.T) {
	t.Parallel()
	db := open(t)
	k := NewKeeper(db.Pool, fetch.Pacing{MinDelay: time.Second, MaxCrawlDelay: 10 * time.Minute, MaxBlock: time.Minute}, "a")
	const day = 24 * time.Hour
	done, err := k.Turn(t.Context(), "host.test", day)
	require.NoError(t, err)
	require.InDelta(t, 10*time.Minute, nextIn(t, db, "host.test"), float64(10*time.Second), "while the request is under way")
	done(fetch.Visit{Status: 200})
	require.InDelta(t, 10*time.Minute, nextIn(t, db, "host.test"), float64(10*time.Second))

	_, err = k.Turn(t.Context(), "host.test", day)
	busy := requireBusy(t, err, true)
	require.InDelta(t, 10*time.Minute, busy.Wait, float64(10*time.Second))
	require.Contains(t, busy.Error(), "Crawl-delay", "the host asked for no pause and failed in nothing")
	acquire(t, k, "host.test") // the lease was given back
}

// TestADelaySetByHandHoldsForAll who ask a host, by either name: from the next request on, under
// a lease that was taken before, for external APIs, and where no pause is made else.
func TestADelaySetByHandHoldsForAll(t *testing.T) {
	t.Parallel()
	db := open(t)
	k := NewKeeper(db.Pool, fetch.Pacing{MinDelay: time.Millisecond}, "a")
	l := acquire(t, k, "www.host.test")
	visit(t, k.Under(l), "host.test", 0, fetch.Visit{Status: 200})
	visit(t, k, "lone.test", 0, fetch.Visit{Status: 200})
	waits := func(k *Keeper, hosts ...string) {
		t.Helper()
		for _, host := range hosts {
			_, err := k.Turn(t.Context(), host, 0)
			busy := requireBusy(t, err, true)
			require.InDelta(t, 10*time.Minute, busy.Wait, float64(10*time.Second))
			require.Contains(t, busy.Error(), "set by hand")
		}
	}
	for _, host := range []string{"host.test", "lone.test", "lone.test"} {
		require.NoError(t, Slow(t.Context(), db.Pool, host, 10*time.Minute))
	}
	waits(k.Under(l), "host.test")
	require.NoError(t, l.Release(t.Context()))
	for _, other := range []*Keeper{k, k.Every(time.Second), NewKeeper(db.Pool, unpaced, "b"), NewKeeper(db.Pool, unpaced, "c").Services()} {
		waits(other, "host.test", "www.host.test", "lone.test", "www.lone.test")
	}
	for _, delay := range []time.Duration{4100 * time.Millisecond, 0} {
		require.NoError(t, Slow(t.Context(), db.Pool, "host.test", delay))
		storetest.Exec(t, db.Pool, `UPDATE sites SET next_allowed_at=now(), paced_until=now()`)
		visit(t, k, "host.test", 0, fetch.Visit{Status: 200})
	}
	require.Less(t, nextIn(t, db, "host.test"), time.Minute, "it was taken back")
}

// TestAskingInVainUsesUpNoNumbers: sites are numbered by their rows, not by how
// often they are asked for.
func TestAskingInVainUsesUpNoNumbers(t *testing.T) {
	t.Parallel()
	db := open(t)
	k := NewKeeper(db.Pool, unpaced, "a")
	l := acquire(t, k, "host.test")
	number := func() int64 {
		return storetest.Get[int64](t, db.Pool, `SELECT last_value FROM sites_id_seq`)
	}
	before := number()
	for range 20 {
		requireTaken(t, k, "host.test", false)
	}
	require.NoError(t, l.Release(t.Context()))
	for range 20 {
		visit(t, k, "host.test", 0, fetch.Visit{Status: 200})
	}
	for range 20 {
		id, err := store.EnsureSite(t.Context(), db.Pool, "host.test")
		require.NoError(t, err)
		require.Equal(t, l.SiteID, id)
	}
	require.Equal(t, before, number())
}

// asking counts who asks the database.
type asking struct {
	mu  sync.Mutex
	who map[any]int
	all chan struct{} // one for each question
}

type whoKey struct{}

func (a *asking) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	if who := ctx.Value(whoKey{}); who != nil {
		a.mu.Lock()
		a.who[who]++
		a.mu.Unlock()
		select {
		case a.all <- struct{}{}:
		default:
		}
	}
	return ctx
}

func (a *asking) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestWaitersQueueInTheProcess: of all that wait for a host in one process, one
// asks the database.
func TestWaitersQueueInTheProcess(t *testing.T) {
	t.Parallel()
	db := open(t)
	held := acquire(t, NewKeeper(db.Pool, unpaced, "another"), "host.test")
	cfg := db.Pool.Config()
	trace := &asking{who: map[any]int{}, all: make(chan struct{}, 1000)}
	cfg.ConnConfig.Tracer = trace
	traced, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(traced.Close)
	k := NewKeeper(traced, unpaced, "a")
	var wg sync.WaitGroup
	for i := range 20 {
		host := []string{"host.test", "www.host.test"}[i%2]
		wg.Go(func() {
			done, err := k.Turn(context.WithValue(t.Context(), whoKey{}, i), host, 0)
			if err != nil {
				t.Error(err)
				return
			}
			done(fetch.Visit{Status: 200})
		})
	}
	for range 12 {
		<-trace.all
	}
	trace.mu.Lock()
	require.Len(t, trace.who, 1, "%v", trace.who)
	trace.mu.Unlock()
	require.NoError(t, held.Release(t.Context()))
	wg.Wait()
	require.Len(t, trace.who, 20)
	require.Empty(t, k.queues.hosts, "nothing is kept of a host that nobody wants")
}

// TestWithAndWithoutWWWIsOneHost: both names are one server, which sees one
// request at a time, and its pause between them.
func TestWithAndWithoutWWWIsOneHost(t *testing.T) {
	t.Parallel()
	db := open(t)
	k := NewKeeper(db.Pool, fetch.Pacing{MinDelay: time.Minute}, "a")
	l := acquire(t, k, "lab.test")
	requireTaken(t, k, "www.lab.test", false)
	for _, other := range []string{"www.test", "www2.lab.test", "www.www.lab.test"} {
		acquire(t, k, other)
	}
	visit(t, k.Under(l), "www.lab.test", 0, fetch.Visit{Status: 200}) // who has the one has the other
	require.NoError(t, l.Release(t.Context()))
	l = acquire(t, k, "www.lab.test")
	require.InDelta(t, time.Minute, l.Ready(), float64(5*time.Second))
	requireTaken(t, k, "lab.test", false)
	require.NoError(t, l.Release(t.Context()))

	// That one name does not answer says nothing of the other.
	storetest.Exec(t, db.Pool, `UPDATE sites SET parked_until = now() + interval '1 hour', next_allowed_at = now() + interval '1 hour', failures = 5 WHERE host = 'www.lab.test'`)
	l = acquire(t, k, "lab.test")
	require.Less(t, l.Ready(), 2*time.Minute)
	require.NoError(t, l.Release(t.Context()))

	// The pause that one name asked for is the other's, too.
	storetest.Exec(t, db.Pool, `UPDATE sites SET asked_until = now() + interval '1 hour'
		WHERE host = 'www.lab.test'`)
	l = acquire(t, k, "lab.test")
	require.InDelta(t, time.Hour, l.Ready(), float64(5*time.Second))
}

// TestBothNamesAreTakenOnce lets many take a new host by both names at once.
func TestBothNamesAreTakenOnce(t *testing.T) {
	t.Parallel()
	db := open(t)
	keepers := []*Keeper{NewKeeper(db.Pool, unpaced, "a"), NewKeeper(db.Pool, unpaced, "b")}
	var wg sync.WaitGroup
	got := make(chan *Lease, 16)
	for i := range 16 {
		wg.Go(func() {
			if l, err := keepers[i%2].Acquire(t.Context(), []string{"lab.test", "www.lab.test"}[i/2%2]); err == nil {
				got <- l
			}
		})
	}
	wg.Wait()
	require.Len(t, got, 1)
}

// TestAPairThatIsMadeMeanwhileIsSeen: who waits for the row of a host sees the lease that its
// pair, which had no row when the wait began, was given meanwhile.
func TestAPairThatIsMadeMeanwhileIsSeen(t *testing.T) {
	t.Parallel()
	db := open(t)
	storetest.Exec(t, db.Pool, `INSERT INTO sites (host) VALUES ('lab.test')`)
	got := make(chan error, 1)
	require.NoError(t, pgx.BeginFunc(t.Context(), db.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SELECT FROM sites WHERE host='lab.test' FOR NO KEY UPDATE`); err != nil {
			return err
		}
		go func() { _, err := NewKeeper(db.Pool, unpaced, "a").Acquire(t.Context(), "lab.test"); got <- err }()
		storetest.AwaitLock(t, db.Pool)
		_, err := tx.Exec(t.Context(), `INSERT INTO sites (host, holder, expires_at) VALUES ('www.lab.test', 'b', now() + interval '1 hour')`)
		return err
	}))
	requireBusy(t, <-got, false)
}

func web(t *testing.T, k *Keeper) *fetch.Client {
	t.Helper()
	c, err := fetch.New(fetch.Config{AllowLoopback: true, Proxy: "none", Gate: k, Linger: time.Minute})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// TestALostLeaseEndsTheRequestUnderWay: once another may ask the host, the
// answer that is still coming is left.
func TestALostLeaseEndsTheRequestUnderWay(t *testing.T) {
	t.Parallel()
	db := open(t)
	left := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		_, err := db.Pool.Exec(r.Context(), `UPDATE sites SET holder = 'another', token = token + 1, expires_at = now() + interval '1 hour'`)
		if err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
		close(left)
	}))
	t.Cleanup(srv.Close)
	k := NewKeeper(db.Pool, unpaced, "a")
	k.ttl = 2 * time.Second // a busy machine renews it before it runs out
	_, err := web(t, k).Fetch(t.Context(), fetch.Request{URL: srv.URL + "/"})
	require.ErrorIs(t, err, ErrLost)
	var ended *fetch.Error
	require.ErrorAs(t, err, &ended)
	require.Equal(t, fetch.Canceled, ended.Outcome)
	<-left
}

// TestRetryAfterIsInTheRecordBeforeTheAnswerEnds: a process that is killed while
// a server in trouble takes its time still leaves it the pause it asked for.
func TestRetryAfterIsInTheRecordBeforeTheAnswerEnds(t *testing.T) {
	t.Parallel()
	db := open(t)
	var inTime time.Duration
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
		_ = http.NewResponseController(w).Flush()
		deadline := time.Now().Add(10 * time.Second) // of a client that waits for the end
		for inTime < 50*time.Minute && time.Now().Before(deadline) {
			var s float64
			if err := db.Pool.QueryRow(context.Background(), `SELECT CASE WHEN next_allowed_at > now() THEN extract(epoch FROM next_allowed_at - now())::float8 ELSE 0 END FROM sites`).Scan(&s); err != nil {
				t.Error(err)
				return
			}
			inTime = time.Duration(s * float64(time.Second))
		}
	}))
	_, err := web(t, NewKeeper(db.Pool, unpaced, "a")).Fetch(t.Context(), fetch.Request{URL: srv.URL + "/"})
	var busy *fetch.Error
	require.ErrorAs(t, err, &busy)
	require.Equal(t, fetch.Busy, busy.Outcome)
	srv.Close() // and wait for the server's view of it
	require.InDelta(t, time.Hour, inTime, float64(time.Minute))
}

// TestRetryAfterOfAGoodAnswer is waited for within the slice, as a Crawl-delay is; that of a
// redirect is in the record while the lease goes on.
func TestRetryAfterOfAGoodAnswer(t *testing.T) {
	t.Parallel()
	db := open(t)
	k := NewKeeper(db.Pool, unpaced, "a")
	for _, status := range []int{http.StatusOK, http.StatusFound} {
		host := fmt.Sprintf("status%d.test", status)
		l := acquire(t, k, host)
		visit(t, k.Under(l), host, 0, fetch.Visit{Status: status, RetryAfter: time.Hour})
		next := nextIn(t, db, host)
		require.Greater(t, next, k.pacing.MaxCrawlDelay-10*time.Second, status)
		require.Equal(t, status != http.StatusOK, next > k.pacing.MaxBlock, status)
	}
}

// TestWhatCouldNotBeWrittenIsWrittenWithTheLease: the database may be away when
// an answer asks for a pause; the lease's end says it then.
func TestWhatCouldNotBeWrittenIsWrittenWithTheLease(t *testing.T) {
	t.Parallel()
	db := open(t)
	cfg := db.Pool.Config()
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	p := unpaced
	p.ParkAfter, p.ParkFor = 1, time.Hour
	k := NewKeeper(pool, p, "a")
	l := acquire(t, k, "host.test")
	done, err := k.Under(l).Turn(t.Context(), "host.test", 0)
	require.NoError(t, err)
	pool.Close()
	done(fetch.Visit{Status: 503, Failed: true, RetryAfter: 2 * time.Hour})
	require.Zero(t, nextIn(t, db, "host.test"))
	k.pool = db.Pool // it is back
	require.NoError(t, l.Release(t.Context()))
	busy := requireTaken(t, k, "host.test", true)
	require.InDelta(t, 2*time.Hour, busy.Wait, float64(time.Minute))
	require.Equal(t, 1, busy.Failures)
	require.True(t, busy.Asked)
}

// TestWhatASiteWasPromisedHolds: whoever asks one page of a host keeps the delay
// that those who want the site asked for, where it is the longer one.
func TestWhatASiteWasPromisedHolds(t *testing.T) {
	t.Parallel()
	db := open(t)
	k := NewKeeper(db.Pool, fetch.Pacing{MinDelay: time.Second}, "a")
	promised := map[int]time.Duration{}
	k.Keep(func(_ context.Context, site int, def time.Duration) (time.Duration, bool, error) {
		require.Equal(t, time.Second, def)
		d, ok := promised[site]
		return d, ok, nil
	})
	for host, c := range map[string]struct{ promise, asks, want time.Duration }{
		"long.test":  {time.Minute, 20 * time.Second, time.Minute},
		"short.test": {20 * time.Second, time.Minute, time.Minute},
		"none.test":  {0, 20 * time.Second, 20 * time.Second},
		"crawl.test": {20 * time.Second, 0, 20 * time.Second},
	} {
		id, err := store.EnsureSite(t.Context(), db.Pool, host)
		require.NoError(t, err)
		if c.promise > 0 {
			promised[id] = c.promise
		}
		visit(t, k.Every(c.asks), host, 0, fetch.Visit{Status: 200})
		require.InDelta(t, c.want, nextIn(t, db, host), float64(2*time.Second), host)
	}
}

// TestPublicHostsHaveAFloor: no setting and no harvest asks a host faster than
// the floor.
func TestPublicHostsHaveAFloor(t *testing.T) {
	t.Parallel()
	db := open(t)
	for name, base := range map[string]fetch.Pacing{"unpaced": {Unpaced: true}, "a typo": {MinDelay: time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			base.Floor = time.Minute
			visit(t, NewKeeper(db.Pool, base, "a").Every(time.Millisecond), name+".test", 0, fetch.Visit{Status: 200})
			require.InDelta(t, time.Minute, nextIn(t, db, name+".test"), float64(5*time.Second))
		})
	}
	services := NewKeeper(db.Pool, fetch.Pacing{Floor: time.Minute}, "a").Services()
	visit(t, services, "service.test", time.Second, fetch.Visit{Status: 200})
	require.Less(t, nextIn(t, db, "service.test"), 10*time.Second, "an interface for programs has a pace of its own")
}

// TestRenewAllLeavesWhatIsNotItsOwn: of four leases the one that nobody has taken or
// locked is renewed.
func TestRenewAllLeavesWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	db := open(t)
	k := NewKeeper(db.Pool, unpaced, "a")
	var leases []*Lease
	for _, host := range []string{"kept.test", "lost.test", "released.test", "locked.test"} {
		l := acquire(t, k, host)
		leases = append(leases, l)
		expire(t, db, host)
	}
	storetest.Exec(t, db.Pool, `UPDATE sites SET token = token + 1 WHERE host = 'lost.test'`)
	storetest.Exec(t, db.Pool, `UPDATE sites SET awaited_at = now() WHERE host = 'kept.test'`)
	require.NoError(t, leases[2].Release(t.Context()))
	tx, err := db.Pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), `SELECT FROM sites WHERE host = 'locked.test' FOR UPDATE`)
	require.NoError(t, err)

	require.Equal(t, map[*Lease]bool{leases[0]: true}, k.RenewAll(t.Context(), leases))
	require.False(t, leases[0].Lapsed())
	require.True(t, leases[0].Awaited())
	require.ErrorIs(t, leases[1].Renew(t.Context()), ErrLost)
	rows, err := db.Pool.Query(t.Context(), `SELECT host FROM sites WHERE expires_at > now()`)
	require.NoError(t, err)
	held, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{"kept.test"}, held)
}
