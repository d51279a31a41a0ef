package politeness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gleaner/internal/fetch"
)

// Every returns a keeper whose single turns have a least time between two requests to a host;
// 0 leaves the pacing as it is.
func (k *Keeper) Every(d time.Duration) *Keeper {
	s := *k
	s.every = d
	return &s
}

// Services returns a keeper for external APIs. It allows one request in flight, with the delay
// of the API's client instead of a web site's pacing.
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
// without "www.". For any other host it takes the host's lease for one request, and waits
// for its holder. Under a lease this wait is at most Pacing.MaxBlock, since the holders of
// two hosts could wait for each other. For a parked host it returns a BusyError at once.
func (k *Keeper) Turn(ctx context.Context, host string, crawlDelay time.Duration) (func(fetch.Visit), error) {
	waiting, over := ctx, func() {}
	if l := k.lease; l != nil {
		if paceName(l.Host) == paceName(host) {
			return l.turn(ctx, crawlDelay)
		}
		// Two that wait for each other must not give up at the same moment.
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

// alone takes a turn for the head of this process's queue. It waits for the host's holder until
// waiting ends.
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
			wait = k.waitFree // without the note of await: two leases must not yield to each other
		}
		if err := wait(waiting, host); err != nil && waiting.Err() != nil {
			return nil, context.Cause(waiting)
		} else if err != nil {
			return nil, err
		}
	}
}

// sayEvery is how often a wait for one turn is noted in the host's row.
const sayEvery = time.Second

// await is waitFree for one turn. It notes the wait in the rows of the host, so that a crawl
// that holds it yields.
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

// turn waits for the host's next allowed time. It writes the time of the following request
// before the request is sent, so that a killed process leaves the host its pause.
func (l *Lease) turn(ctx context.Context, crawlDelay time.Duration) (func(fetch.Visit), error) {
	pacing := l.pacing()
	crawlDelay = min(crawlDelay, pacing.MaxCrawlDelay)
	delay, by := pacing.Pause(fetch.Visit{}, crawlDelay)
	// A lease must not be held during a long wait.
	if wait := l.Ready(); l.ParkedFor() > 0 || wait > pacing.MaxBlock+slack {
		return nil, &BusyError{Host: l.Host, Wait: wait, Parked: true, Asked: l.remains(&l.asked) > 0, Failures: l.Failures(), By: by}
	}
	if err := fetch.Wait(ctx, l.Ready()); err != nil {
		return nil, err
	}
	if err := l.settle(ctx); err != nil {
		return nil, err
	}
	started, err := l.reserve(ctx, delay, by)
	if errors.Is(err, ErrLost) { // or a person paused or blacklisted the host or set its delay meanwhile
		s, unknown := readHostState(ctx, l.k.pool, l.Host, false)
		if unknown == nil && s.blocked != "" {
			err = &fetch.Error{Outcome: fetch.Blacklisted, URL: l.Host, Err: errors.New(s.blocked)}
		} else if unknown == nil && s.paused != "" {
			err = s.busy(l.Host)
		} else if unknown == nil && s.token == l.Token && l.slow(s.minDelay) {
			return l.turn(ctx, crawlDelay)
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

// reserve writes that a request is sent now, and makes sure that the lease is valid. If the
// write took long (the row was locked, or the process or the machine was suspended), it is
// repeated with a later time: the request must be sent by the time in the row, and well
// within the lease.
func (l *Lease) reserve(ctx context.Context, delay time.Duration, by string) (started time.Time, err error) {
	for late := slack; ; {
		started = time.Now()
		switch {
		case delay > 0:
			// The request is sent a moment after now(). late keeps the distance if
			// this process is killed and another one reads the row.
			err = l.write(ctx, `UPDATE sites SET next_allowed_at = now() + $3, paced_until = now() + $3, expires_at = greatest(expires_at, now() + $4), pace = $5, pace_by = $6
				WHERE id = $1 AND token = $2 AND paused = '' AND min_delay <= $5
					AND NOT EXISTS (SELECT FROM blacklist b WHERE b.host = sites.host)`, delay+late, l.k.ttl, delay, by)
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

// slack is how much later than the write of the row a request may be sent, unless the write
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
	// Otherwise the row as written before the request is still right.
	l.unsaved = failures != l.failures || parked || l.next.Sub(now) > delay
	l.failures = failures
	if parked {
		l.parked = l.next
	}
	l.mu.Unlock()
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = l.settle(keep) // after an error it is repeated before the next request, and by Release
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
