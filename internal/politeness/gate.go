package politeness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gleaner/internal/fetch"
)

// Every returns a keeper whose single turns keep a least time between two requests to a
// host; 0 leaves the pacing as it is.
func (k *Keeper) Every(d time.Duration) *Keeper {
	s := *k
	s.every = d
	return &s
}

// Services is a keeper for outside APIs. It keeps one request in flight and the
// delay that the API's client names, instead of a web site's pacing.
func (k *Keeper) Services() *Keeper {
	s := *k
	s.pacing.MinDelay, s.pacing.Unpaced, s.pacing.Floor = 0, true, 0
	s.promised, s.services = nil, true
	return &s
}

// Under returns a keeper whose turns of the lease's host are turns of that lease. Turns of
// other hosts are taken one by one.
func (k *Keeper) Under(l *Lease) *Keeper {
	s := *k
	s.lease = l
	return &s
}

// Turn implements fetch.Gate. Under a lease it uses that lease, for the host's name with or
// without "www."; for any other host it takes the host's lease for this one request and
// waits for its holder: under a lease for Pacing.MaxBlock at most, since the holders of two
// hosts could wait for each other. A host that is parked fails with a BusyError at once.
func (k *Keeper) Turn(ctx context.Context, host string, crawlDelay time.Duration) (func(fetch.Visit), error) {
	waiting, over := ctx, func() {}
	if l := k.lease; l != nil {
		if paceName(l.Host) == paceName(host) {
			return l.turn(ctx, crawlDelay)
		}
		// Two that wait for each other are not to give up at the same moment.
		half := k.pacing.MaxBlock / 2
		waiting, over = context.WithTimeoutCause(ctx, half+k.jitter(half), &BusyError{Host: host, Wait: k.ttl})
	}
	defer over()
	leave, err := k.queues.enter(waiting, paceName(host))
	if err != nil {
		return nil, err
	}
	done, err := k.alone(ctx, waiting, host, crawlDelay)
	if err != nil {
		leave()
		return nil, err
	}
	return func(v fetch.Visit) { defer leave(); done(v) }, nil
}

// alone is the turn of the first in this process's queue, who waits for the host's
// holder until waiting ends.
func (k *Keeper) alone(ctx, waiting context.Context, host string, crawlDelay time.Duration) (func(fetch.Visit), error) {
	for {
		l, err := k.Acquire(ctx, host)
		var busy *BusyError
		switch {
		case err == nil:
			return k.single(ctx, l, crawlDelay)
		case !errors.As(err, &busy) || busy.Parked:
			return nil, err
		}
		wait := k.await
		if k.services || waiting != ctx {
			wait = k.waitFree // two leases that give way to one another go on with neither
		}
		if err := wait(waiting, host); err != nil && waiting.Err() != nil {
			return nil, context.Cause(waiting)
		} else if err != nil {
			return nil, err
		}
	}
}

// sayEvery is how often who waits for one turn of a host says so.
const sayEvery = time.Second

// await is waitFree of who wants one turn, and says so in the rows of the host: a
// crawl that holds it gives way.
func (k *Keeper) await(ctx context.Context, host string) error {
	for {
		_, err := k.pool.Exec(ctx, `WITH held AS (SELECT id FROM sites WHERE host = ANY($1) AND awaited_at < clock_timestamp() - $2::interval
				ORDER BY host COLLATE "C" FOR NO KEY UPDATE SKIP LOCKED)
			UPDATE sites s SET awaited_at = clock_timestamp() FROM held WHERE s.id = held.id`, paired(host), sayEvery/2)
		if err != nil {
			return fmt.Errorf("politeness: turn of %s: %w", host, err)
		}
		within, over := context.WithTimeout(ctx, sayEvery)
		err = k.waitFree(within, host)
		over()
		if err == nil || within.Err() == nil || ctx.Err() != nil {
			return err
		}
	}
}

func (k *Keeper) single(ctx context.Context, l *Lease, crawlDelay time.Duration) (func(fetch.Visit), error) {
	// The wait for the turn and a slow answer may both outlast the lease.
	release := l.Hold(ctx, func() { fetch.Revoke(ctx, ErrLost) })
	if d := k.every; d > 0 && !k.pacing.Unpaced {
		if l.promised {
			d = max(d, l.minDelay)
		}
		l.setDelay(d)
	}
	done, err := l.turn(ctx, crawlDelay)
	if err != nil {
		release()
		return nil, err
	}
	return func(v fetch.Visit) {
		done(v)
		release()
	}, nil
}

// turn waits for the host's next allowed time. The row says "not before the
// delay has passed" already while the request is under way, so that a process
// killed in the middle leaves the host its rest.
func (l *Lease) turn(ctx context.Context, crawlDelay time.Duration) (func(fetch.Visit), error) {
	pacing := l.pacing()
	crawlDelay = min(crawlDelay, pacing.MaxCrawlDelay)
	delay, by := pacing.Pause(fetch.Visit{}, crawlDelay)
	// Nobody sleeps for long with a lease in hand: what waits does something else.
	if wait := l.Ready(); l.ParkedFor() > 0 || wait > pacing.MaxBlock+slack {
		return nil, &BusyError{Host: l.Host, Wait: wait, Parked: true, Asked: l.remains(&l.asked) > 0, Failures: l.Failures()}
	}
	if err := fetch.Wait(ctx, l.Ready()); err != nil {
		return nil, err
	}
	if err := l.settle(ctx); err != nil {
		return nil, err
	}
	started, err := l.reserve(ctx, delay, by)
	if errors.Is(err, ErrLost) { // or the host was paused meanwhile
		if s, unknown := readHostState(ctx, l.k.pool, l.Host, false); unknown == nil && s.paused != "" {
			err = s.busy(l.Host)
		}
	}
	if err != nil {
		return nil, err
	}
	answered := l.outlast(ctx)
	return func(v fetch.Visit) {
		answered()
		l.visited(ctx, v, crawlDelay, started, delay)
	}, nil
}

// reserve writes that a request leaves now, and makes sure that the lease holds.
// Where the write took long (the row was locked, or the process was stopped, or the
// machine slept) it is written anew, with so much more: the request leaves when the
// row says at the latest, and well within the time of the lease.
func (l *Lease) reserve(ctx context.Context, delay time.Duration, by string) (started time.Time, err error) {
	for late := slack; ; {
		started = time.Now()
		switch {
		case delay > 0:
			// The request leaves a moment after now(): what is added keeps the
			// distance where this process is killed and another reads the row.
			err = l.write(ctx, `UPDATE sites SET next_allowed_at = now() + $3, paced_until = now() + $3, expires_at = greatest(expires_at, now() + $4), pace = $5, pace_by = $6
				WHERE id = $1 AND token = $2 AND paused = ''`, delay+late, l.k.ttl, delay, by)
			if err == nil {
				l.extend(started)
			}
		case l.Lapsed():
			err = l.Renew(ctx)
		}
		took := time.Since(started)
		if err != nil || took < l.k.ttl/2 && (delay == 0 || took <= late) {
			return started, err
		}
		late = max(late, min(2*took, l.k.ttl/2))
	}
}

// slack is what a request may leave later than the row was written, unless that
// took longer.
const slack = 100 * time.Millisecond

func (l *Lease) visited(ctx context.Context, v fetch.Visit, crawlDelay time.Duration, started time.Time, delay time.Duration) {
	pacing := l.pacing()
	l.mu.Lock()
	wait, failures, parked := pacing.After(v, l.failures, crawlDelay)
	now := time.Now()
	l.pace, l.paceBy = pacing.Pause(v, crawlDelay)
	l.paced = later(now.Add(l.pace), started.Add(delay))
	l.next = later(now.Add(wait), l.paced)
	l.asked = time.Time{}
	if asked := pacing.Asked(v); asked > 0 {
		l.asked = now.Add(asked)
	}
	// Else what was written before the request still holds.
	l.unsaved = failures != l.failures || parked || l.next.Sub(now) > delay
	l.failures = failures
	if parked {
		l.parked = l.next
	}
	l.mu.Unlock()
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = l.settle(keep) // what cannot be written now is before the next request, or with the lease's end
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
