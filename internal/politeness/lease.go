package politeness

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
)

// ErrLost is returned to a holder whose lease another process took over.
var ErrLost = errors.New("politeness: the lease on this host was lost")

// ErrLapsed is the cause of a request that was cancelled since its lease expired while the
// database was unavailable. Another process may have the host; Renew finds out.
var ErrLapsed = errors.New("politeness: the lease on this host ran out over the request")

// BusyError reports that a host is not available now, for how long, and why.
type BusyError struct {
	Host     string
	Wait     time.Duration
	Parked   bool   // no request may be sent for long; else another process holds its lease
	Asked    bool   // the host itself asked for the pause (Retry-After)
	Pair     bool   // a crawl of its name with or without "www." goes first
	Failures int    // in a row, if it is parked
	By       string // who set the pause between two requests, if that is so long

	Paused string // why a person paused it; "" if nobody did
}

func (e *BusyError) Error() string {
	why := "another process is asking it"
	switch {
	case e.Paused != "":
		return fmt.Sprintf("politeness: %s is not asked: %s", e.Host, e.Paused)
	case e.Pair:
		why = `the crawl of its name with or without "www." goes first`
	case e.Asked && e.Failures > 0:
		why = fmt.Sprintf("it asked for the pause (Retry-After), failures in a row: %d", e.Failures)
	case e.Asked:
		why = "it asked for the pause (Retry-After)"
	case e.Parked && e.Failures > 0:
		why = fmt.Sprintf("it is parked, failures in a row: %d", e.Failures)
	case e.Parked:
		why = fmt.Sprintf("its pause between two requests is that long (%s)", e.By)
	}
	return fmt.Sprintf("politeness: %s cannot be asked before %s (in %s): %s", e.Host, time.Now().Add(e.Wait).UTC().Format(time.RFC3339), e.Wait.Round(time.Second), why)
}

// Of reports whether the error is a host's, by its name with or without "www.".
func (e *BusyError) Of(host string) bool { return paceName(e.Host) == paceName(host) }

// RetryIn returns the wait before a retry.
func (e *BusyError) RetryIn() time.Duration { return e.Wait }

// Keeper grants leases and turns. It is safe for concurrent use.
type Keeper struct {
	pool       *pgxpool.Pool
	pacing     fetch.Pacing
	holder     string        // names this process in the row
	ttl        time.Duration // of a lease that is not renewed
	unreleased *unreleased
	queues     *queues

	promised Promise // nil promises nothing
	services bool    // its hosts are external APIs, whose leases are short

	lease *Lease        // Under
	every time.Duration // Every
}

// Promise returns the delay for a site that its harvests now ask for, if there are any. def is
// the delay of harvests without one.
type Promise func(ctx context.Context, siteID int, def time.Duration) (delay time.Duration, any bool, err error)

// LeaseTime is the duration of a lease, and so how long a host waits after its holder died. A
// holder renews it several times in that time. A lease that expired while the database was
// unavailable may be renewed as well.
const LeaseTime = 6 * time.Second

// NewKeeper returns a keeper. holder names the process for people (host and pid); NewKeeper
// appends a random part, since other processes may have had that name.
func NewKeeper(pool *pgxpool.Pool, pacing fetch.Pacing, holder string) *Keeper {
	pacing = pacing.WithDefaults()
	if pacing.Unpaced {
		pacing.MinDelay = 0
	}
	return &Keeper{pool: pool, pacing: pacing, holder: holder + "/" + rand.Text()[:8], ttl: LeaseTime,
		unreleased: &unreleased{hosts: map[string]unreleasedLease{}, taken: map[Lapsed]bool{}}, queues: &queues{hosts: map[string]*queue{}}}
}

// Keep makes every lease use the delay promised for its site.
func (k *Keeper) Keep(p Promise) { k.promised = p }

// jitter draws from [0, d).
func (k *Keeper) jitter(d time.Duration) time.Duration {
	return time.Duration(k.pacing.Rand() * float64(d))
}

// Lease is the exclusive right to send requests to one host.
type Lease struct {
	SiteID int
	Host   string
	Token  int64

	k *Keeper

	mu       sync.Mutex
	minDelay time.Duration // between requests; the keeper's unless setDelay was called
	byHand   time.Duration // least time between requests that a person set; 0 if nobody did
	promised bool          // minDelay is the delay that the site's harvests asked for
	granted  time.Time     // when the lease was taken, by the database's clock
	awaited  bool          // a request for one turn of the host has waited since
	until    time.Time     // when the lease expires unless renewed, at the latest
	pacingState
}

// pacingState is the pacing state of a host after its last answer, by this process's clock.
type pacingState struct {
	next     time.Time // when the next request may be sent
	paced    time.Time // when the ordinary pause ends, which is part of next
	asked    time.Time // when the pause ends that the host asked for
	parked   time.Time
	pace     time.Duration // the ordinary pause
	paceBy   string        // which rule set pace; "" before the first answer
	failures int
	unsaved  bool // the row is older than this state
}

// Renew extends the lease, also an expired one that nobody else has taken. After ErrLost the
// holder must end its work. Any other error means that the database is unavailable; the
// lease is valid until Lapsed.
func (l *Lease) Renew(ctx context.Context) error {
	asked := time.Now()
	var awaited bool
	_, err := untilFree(ctx, l.k.pool, &awaited, `UPDATE sites SET expires_at = now() + $3 WHERE id = $1 AND token = $2 RETURNING awaited_at > $4`,
		l.SiteID, l.Token, l.k.ttl, l.granted)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrLost
	}
	if err != nil {
		return fmt.Errorf("politeness: %s: %w", l.Host, err)
	}
	l.renewed(asked, awaited)
	return nil
}

// renewed notes a renewal that was requested at a time.
func (l *Lease) renewed(asked time.Time, awaited bool) {
	l.extend(asked)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.awaited = awaited
}

// RenewAll extends several leases in one statement, and returns those it extended. It omits
// lost leases and locked rows; Renew distinguishes them.
func (k *Keeper) RenewAll(ctx context.Context, leases []*Lease) map[*Lease]bool {
	asked, none := time.Now(), map[*Lease]bool{}
	ids, tokens, granted := make([]int, len(leases)), make([]int64, len(leases)), make([]time.Time, len(leases))
	for i, l := range leases {
		ids[i], tokens[i], granted[i] = l.SiteID, l.Token, l.granted
	}
	rows, _ := k.pool.Query(ctx, `WITH held AS (SELECT s.id, l.n, l.granted
			FROM sites s JOIN unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) WITH ORDINALITY AS l(id, token, granted, n)
				ON s.id = l.id AND s.token = l.token
			WHERE s.holder = $4 ORDER BY s.host COLLATE "C" FOR NO KEY UPDATE OF s SKIP LOCKED)
		UPDATE sites s SET expires_at = now() + $5 FROM held WHERE s.id = held.id RETURNING held.n, s.awaited_at > held.granted`,
		ids, tokens, granted, k.holder, k.ttl)
	awaited := map[int]bool{} // by place in leases, from 1
	var n int
	var is bool
	if _, err := pgx.ForEachRow(rows, []any{&n, &is}, func() error { awaited[n] = is; return nil }); err != nil {
		return none // it may have been rolled back
	}
	renewed := map[*Lease]bool{}
	for n, is := range awaited {
		l := leases[n-1]
		l.renewed(asked, is)
		renewed[l] = true
	}
	return renewed
}

// Awaited reports whether a request for one turn of the host was waiting at the last renewal.
// Holders for long release the lease then, for a moment.
func (l *Lease) Awaited() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.awaited
}

// extend notes that the lease is valid for its whole duration from asked on, which is before
// the time that the database set.
func (l *Lease) extend(asked time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = asked.Add(l.k.ttl)
}

// Lapsed reports whether the lease may have expired, by this process's clock. No request may
// be sent until it is renewed.
func (l *Lease) Lapsed() bool { return l.remains(&l.until) == 0 }

// outlast cancels the request of a turn, made under the given context, when the lease
// expires, until stop is called.
func (l *Lease) outlast(turn context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(turn))
	guard.Go(func() {
		for !l.Lapsed() { // it may be renewed meanwhile
			if fetch.Wait(ctx, l.remains(&l.until)) != nil {
				return
			}
		}
		if ctx.Err() == nil {
			fetch.Revoke(turn, ErrLapsed)
		}
	})
	return cancel
}

// Hold is Renewed with a function that also releases the lease, as Free does.
func (l *Lease) Hold(ctx context.Context, lost func()) (release func()) {
	stop := l.Renewed(ctx, lost)
	return func() { stop(); l.Free(ctx) }
}

// Renewed renews the lease until stop is called, which waits for a renewal in progress. It
// calls lost if another process has taken the lease.
func (l *Lease) Renewed(ctx context.Context, lost func()) (stop func()) {
	held, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := guard.Go(func() {
		fetch.Every(held, l.k.ttl/4, func() bool {
			within, over := context.WithTimeout(held, l.k.ttl/4)
			defer over()
			if err := l.Renew(within); held.Err() != nil || !errors.Is(err, ErrLost) {
				return true
			}
			lost()
			return false
		})
	})
	return func() { cancel(); <-ended }
}

// Free releases the lease within a few seconds, also if ctx has ended. If that fails, the
// lease expires.
func (l *Lease) Free(ctx context.Context) {
	free, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = l.Release(free)
}

// Release releases the lease. It writes the rest of the wait into the row, since the wait
// counts from the end of the last answer and the row was written before the request.
func (l *Lease) Release(ctx context.Context) error {
	err := l.settle(ctx)
	if err == nil {
		pace, by := l.kept()
		err = l.write(ctx, `UPDATE sites SET holder = '', next_allowed_at = greatest(next_allowed_at, now() + $3), paced_until = greatest(paced_until, now() + $4),
				pace = CASE WHEN $6 = '' THEN pace ELSE $5 END, pace_by = CASE WHEN $6 = '' THEN pace_by ELSE $6 END
			WHERE id = $1 AND token = $2`, l.Ready(), l.remains(&l.paced), pace, by)
	}
	if err != nil && !errors.Is(err, ErrLost) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.k.unreleased.put(l.Host, unreleasedLease{token: l.Token, pacingState: l.pacingState})
	}
	return err
}

// settle writes the pacing state after the last answer, unless the row has it.
func (l *Lease) settle(ctx context.Context) error {
	l.mu.Lock()
	unsaved, failures, pace, by := l.unsaved, l.failures, l.pace, l.paceBy
	l.mu.Unlock()
	if !unsaved {
		return nil
	}
	err := l.write(ctx, `UPDATE sites SET next_allowed_at = greatest(next_allowed_at, now() + $3), paced_until = greatest(paced_until, now() + $4),
			asked_until = CASE WHEN $5::interval > '0' THEN now() + $5::interval ELSE '-infinity' END, failures = $6,
			parked_until = CASE WHEN $7::interval > '0' THEN now() + $7::interval ELSE '-infinity' END, pace = $8, pace_by = $9
		WHERE id = $1 AND token = $2`, l.Ready(), l.remains(&l.paced), l.remains(&l.asked), failures, l.ParkedFor(), pace, by)
	if err == nil {
		l.mu.Lock()
		l.unsaved = false
		l.mu.Unlock()
	}
	return err
}

// kept returns the ordinary pause after the last answer, and which rule set it.
func (l *Lease) kept() (pace time.Duration, by string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pace, l.paceBy
}

// remains returns the time until a moment of the lease, 0 if it is past.
func (l *Lease) remains(at *time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, time.Until(*at))
}

func (l *Lease) write(ctx context.Context, sql string, args ...any) error {
	changed, err := untilFree(ctx, l.k.pool, nil, sql, append([]any{l.SiteID, l.Token}, args...)...)
	if err != nil {
		return fmt.Errorf("politeness: %s: %w", l.Host, err)
	}
	if changed == 0 {
		return ErrLost
	}
	return nil
}

// setDelay sets the least time between two requests.
func (l *Lease) setDelay(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.minDelay = d
}

func (l *Lease) pacing() fetch.Pacing {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.k.pacing.With(l.minDelay)
	if l.byHand > p.MinDelay {
		p = p.With(l.byHand)
		p.SetBy = gleaner.SetByHand
	}
	return p
}

// slow keeps to a delay that a person set for the host since the lease was taken, and reports
// whether it is longer than before.
func (l *Lease) slow(d time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d <= l.byHand {
		return false
	}
	l.byHand, l.paced = d, l.paced.Add(d) // since the last pause, which is over
	l.next = later(l.next, l.paced)
	return true
}

// Paced reports whether there is a least time between two requests.
func (l *Lease) Paced() bool {
	return l.pacing().MinDelay > 0 || l.Ready() > 0
}

// Ready returns the time until the next request may be sent; 0 for now.
func (l *Lease) Ready() time.Duration { return l.remains(&l.next) }

// Failures returns how many consecutive visits have failed.
func (l *Lease) Failures() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failures
}

// ParkedFor returns how long the host is parked; 0 if it is not.
func (l *Lease) ParkedFor() time.Duration { return l.remains(&l.parked) }
