package metadata

import (
	"context"
	"sync"
	"time"

	"gleaner/internal/fetch"
)

// localGate paces requests within one process. It is what a Config without a
// gate falls back to: right for one command, not for a fleet.
type localGate struct {
	mu    sync.Mutex
	hosts map[string]*turn
}

type turn struct {
	busy chan struct{} // holds one token while a request is under way
	next time.Time     // guarded by the token
}

// NewLocalGate paces requests within this process. Clients share a pace by sharing
// the gate.
func NewLocalGate() fetch.Gate { return &localGate{hosts: map[string]*turn{}} }

// Turn implements fetch.Gate.
func (g *localGate) Turn(ctx context.Context, host string, minDelay time.Duration) (func(fetch.Visit), error) {
	g.mu.Lock()
	t, ok := g.hosts[host]
	if !ok {
		t = &turn{busy: make(chan struct{}, 1)}
		g.hosts[host] = t
	}
	g.mu.Unlock()

	select {
	case t.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := fetch.Wait(ctx, time.Until(t.next)); err != nil {
		<-t.busy
		return nil, err
	}
	return func(v fetch.Visit) {
		// The pause is counted from the end of the answer, so that a slow
		// service is never asked at its limit.
		t.next = time.Now().Add(max(minDelay, v.RetryAfter))
		<-t.busy
	}, nil
}
