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
)

// ErrLost is returned to a holder whose lease another process took over.
var ErrLost = errors.New("politeness: the lease on this host was lost")

// BusyError says that a host cannot be asked now, until when, and why.
type BusyError struct {
	Host     string
	Wait     time.Duration
	Parked   bool // it kept failing, or asked for a long pause; else another process holds its lease
	Failures int  // in a row, where it is parked
}

func (e *BusyError) Error() string {
	why := "another process is asking it"
	switch {
	case e.Parked && e.Failures > 0:
		why = fmt.Sprintf("it is parked, failures in a row: %d", e.Failures)
	case e.Parked:
		why = "it asked for the pause"
	}
	return fmt.Sprintf("politeness: %s cannot be asked before %s (in %s): %s", e.Host, time.Now().Add(e.Wait).UTC().Format(time.RFC3339), e.Wait.Round(time.Second), why)
}

// RetryIn says after how long asking again may help.
func (e *BusyError) RetryIn() time.Duration { return e.Wait }

// Keeper grants leases and turns. It is safe for concurrent use.
type Keeper struct {
	pool   *pgxpool.Pool
	pacing fetch.Pacing
	holder string        // names this process in the row
	ttl    time.Duration // of a lease that is not renewed
	left   *left
}

// leaseTime is how long a lease lasts that is not renewed: how long a host waits
// when its holder died. A holder renews it several times in that time, and one
// whose lease ran out because the database was away takes it up again.
const leaseTime = 9 * time.Second

// NewKeeper makes a keeper. holder names the process for people (host and pid);
// what is added to it tells the process from all others that had the name.
func NewKeeper(pool *pgxpool.Pool, pacing fetch.Pacing, holder string) *Keeper {
	pacing = pacing.Defaults()
	if pacing.Unpaced {
		pacing.MinDelay = 0
	}
	return &Keeper{pool: pool, pacing: pacing, holder: holder + "/" + rand.Text()[:8], ttl: leaseTime, left: &left{hosts: map[string]leftover{}}}
}

// Lease is the right to ask one host.
type Lease struct {
	SiteID int
	Host   string
	Token  int64

	k *Keeper

	mu       sync.Mutex
	minDelay time.Duration // between requests; the keeper's unless SetDelay was called
	next     time.Time     // when the next request may leave, by this process's clock
	until    time.Time     // when the lease runs out unless renewed, at the latest
	failures int
	parked   time.Time
}

// Acquire takes the lease of a host, or says with a BusyError for how long it
// cannot be had. A parked host's lease is not given. One that this process could
// not give back, since the database was away, it need not wait for.
func (k *Keeper) Acquire(ctx context.Context, host string) (*Lease, error) {
	l, own := &Lease{Host: host, k: k}, k.left.get(host)
	var wait float64
	asked := time.Now()
	err := k.pool.QueryRow(ctx, `
		INSERT INTO sites (host, holder, token, expires_at) VALUES ($1, $2, 1, now() + $3)
		ON CONFLICT (host) DO UPDATE SET holder = $2, token = sites.token + 1, expires_at = now() + $3
			WHERE (sites.holder = '' OR sites.expires_at < now() OR sites.holder = $2 AND sites.token = $4) AND sites.parked_until <= now()
		RETURNING id, token, failures, CASE WHEN next_allowed_at > now() THEN extract(epoch FROM next_allowed_at - now()) ELSE 0 END`,
		host, k.holder, k.ttl, own.token).Scan(&l.SiteID, &l.Token, &l.failures, &wait)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, k.busy(ctx, host)
	}
	if err != nil {
		return nil, fmt.Errorf("politeness: lease of %s: %w", host, err)
	}
	l.minDelay = k.pacing.MinDelay
	l.next, l.until = time.Now().Add(seconds(wait)), asked.Add(k.ttl)
	if own.rest.After(l.next) {
		l.next = own.rest
	}
	k.left.forget(host, own)
	return l, nil
}

func (k *Keeper) busy(ctx context.Context, host string) error {
	var parked, held float64
	var failures int
	err := k.pool.QueryRow(ctx, `SELECT
			CASE WHEN parked_until > now() THEN extract(epoch FROM parked_until - now()) ELSE 0 END,
			CASE WHEN holder <> '' AND expires_at > now() THEN extract(epoch FROM expires_at - now()) ELSE 0 END, failures
		FROM sites WHERE host = $1`, host).Scan(&parked, &held, &failures)
	if err != nil {
		return fmt.Errorf("politeness: lease of %s: %w", host, err)
	}
	if parked > 0 {
		return &BusyError{Host: host, Wait: seconds(parked), Parked: true, Failures: failures}
	}
	return &BusyError{Host: host, Wait: seconds(held)}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Renew keeps the lease for another while, or takes it up again where it ran out
// and nobody else has taken it. ErrLost ends the holder's work. Any other error
// says that the database could not be asked; Lapsed tells what that means.
func (l *Lease) Renew(ctx context.Context) error {
	asked := time.Now()
	err := l.write(ctx, `UPDATE sites SET expires_at = now() + $3 WHERE id = $1 AND token = $2`, l.k.ttl)
	if err == nil {
		l.extend(asked)
	}
	return err
}

// extend notes that the row gives the lease a whole while from asked on, which
// is before the database set the time.
func (l *Lease) extend(asked time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = asked.Add(l.k.ttl)
}

// Lapsed reports whether the lease may be another's by now, as far as this
// process knows: until it is renewed nothing may be asked.
func (l *Lease) Lapsed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().After(l.until)
}

// keep renews the lease until the returned function is called, which waits for
// a renewal under way.
func (l *Lease) keep(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(l.k.ttl / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if errors.Is(l.Renew(ctx), ErrLost) {
				return // the next write of this holder says so
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// Release gives the lease back. What is left of the wait goes into the row: it
// counts from the end of the last answer, while the row was written before the
// request left.
func (l *Lease) Release(ctx context.Context) error {
	err := l.write(ctx, `UPDATE sites SET holder = '', next_allowed_at = greatest(next_allowed_at, now() + $3) WHERE id = $1 AND token = $2`, l.Ready())
	if err != nil && !errors.Is(err, ErrLost) {
		l.k.left.put(l.Host, leftover{token: l.Token, rest: time.Now().Add(l.Ready())})
	}
	return err
}

func (l *Lease) write(ctx context.Context, sql string, args ...any) error {
	tag, err := l.k.pool.Exec(ctx, sql, append([]any{l.SiteID, l.Token}, args...)...)
	if err != nil {
		return fmt.Errorf("politeness: %s: %w", l.Host, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrLost
	}
	return nil
}

// Check fails with ErrLost inside a transaction whose holder lost its lease, and
// holds off a take-over until the transaction ends.
func (l *Lease) Check(ctx context.Context, tx pgx.Tx) error {
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM sites WHERE id = $1 AND token = $2 FOR SHARE`, l.SiteID, l.Token).Scan(&one)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrLost
	}
	return err
}

// SetDelay sets the least time between two requests.
func (l *Lease) SetDelay(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.minDelay = d
}

func (l *Lease) pacing() fetch.Pacing {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.k.pacing
	p.MinDelay, p.Unpaced = l.minDelay, l.minDelay <= 0
	return p
}

// Paced reports whether there is a least time between two requests.
func (l *Lease) Paced() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.minDelay > 0 || time.Now().Before(l.next)
}

// Ready says how long until the next request may leave; 0 for now.
func (l *Lease) Ready() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, time.Until(l.next))
}

// Failures says how many visits in a row have failed.
func (l *Lease) Failures() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failures
}

// ParkedFor says for how long the host is parked; 0 if it is not.
func (l *Lease) ParkedFor() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, time.Until(l.parked))
}
