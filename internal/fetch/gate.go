package fetch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gleaner/internal/text"
)

// ParkedError is returned by Gate.Turn if the pause of the host is longer than a caller should
// wait.
type ParkedError struct {
	Host     string
	Until    time.Time
	Failures int // consecutive; 0 where the host itself asked for the pause
	Wait     time.Duration
}

func (e *ParkedError) Error() string {
	why := "it asked for the pause"
	if e.Failures > 0 {
		why = text.Count(e.Failures, "failure") + " in a row"
	}
	return fmt.Sprintf("host %s is parked until %s: %s", e.Host, e.Until.UTC().Format(time.RFC3339), why)
}

// RetryIn returns the wait before a retry.
func (e *ParkedError) RetryIn() time.Duration { return e.Wait }

// memoryGate is a Gate for one process, without persistence.
type memoryGate struct {
	pacing Pacing
	clock  Clock

	mu    sync.Mutex
	hosts map[string]*hostTurns
	sweep int // number of hosts at which idle ones are forgotten
}

// hostTurns is one host's queue. slot holds a token while nobody is visiting.
type hostTurns struct {
	slot     chan struct{}
	users    int       // turns held or waited for; guarded by memoryGate.mu
	next     time.Time // these two belong to the holder of the token
	failures int
}

// NewGate makes a Gate for this process alone.
func NewGate(p Pacing) Gate { return newMemoryGate(p, nil) }

// newMemoryGate returns a gate with this pacing; a nil clock is the system's.
func newMemoryGate(p Pacing, clock Clock) *memoryGate {
	if clock == nil {
		clock = systemClock{}
	}
	return &memoryGate{pacing: p.WithDefaults(), clock: clock, hosts: map[string]*hostTurns{}, sweep: 1024}
}

// Turn implements Gate. It returns a *ParkedError for a wait longer than Pacing.MaxBlock. done
// may be called from another goroutine, and again without effect.
func (g *memoryGate) Turn(ctx context.Context, host string, crawlDelay time.Duration) (func(Visit), error) {
	h := g.enter(host)
	select {
	case <-h.slot:
	case <-ctx.Done():
		g.leave(h)
		return nil, context.Cause(ctx)
	}
	now := g.clock.Now()
	wait := h.next.Sub(now)
	if wait > g.pacing.MaxBlock {
		err := &ParkedError{Host: host, Until: h.next, Failures: h.failures, Wait: wait}
		h.slot <- struct{}{}
		g.leave(h)
		return nil, err
	}
	if wait > 0 {
		if err := g.clock.Wait(ctx, wait); err != nil {
			h.slot <- struct{}{}
			g.leave(h)
			return nil, err
		}
	}
	var once sync.Once
	return func(v Visit) {
		once.Do(func() {
			wait, failures, _ := g.pacing.After(v, h.failures, crawlDelay)
			h.next, h.failures = g.clock.Now().Add(wait), failures
			h.slot <- struct{}{}
			g.leave(h)
		})
	}, nil
}

func (g *memoryGate) enter(host string) *hostTurns {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.hosts[host]
	if h == nil {
		if len(g.hosts) >= g.sweep {
			g.forgetIdle()
		}
		h = &hostTurns{slot: make(chan struct{}, 1)}
		h.slot <- struct{}{}
		g.hosts[host] = h
	}
	h.users++
	return h
}

func (g *memoryGate) leave(h *hostTurns) {
	g.mu.Lock()
	h.users--
	g.mu.Unlock()
}

// forgetIdle drops hosts without turns and pauses, so that memory depends on the hosts in use
// and not on all those ever seen.
func (g *memoryGate) forgetIdle() {
	now := g.clock.Now()
	for name, h := range g.hosts {
		if h.users == 0 && h.failures == 0 && !h.next.After(now) {
			delete(g.hosts, name)
		}
	}
	g.sweep = max(1024, 2*len(g.hosts))
}
