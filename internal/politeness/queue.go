package politeness

import (
	"context"
	"sync"
)

// queues lets the goroutines of one process that want a turn of the same host wait for one
// another, so that only one of them queries the database.
type queues struct {
	mu    sync.Mutex
	hosts map[string]*queue
}

type queue struct {
	slot  chan struct{} // holds a token while nobody has the turn
	users int           // with the turn, or waiting for it; guarded by queues.mu
}

// enter waits for the head of a host's queue; leave must be called once.
func (q *queues) enter(ctx context.Context, host string) (leave func(), err error) {
	q.mu.Lock()
	h := q.hosts[host]
	if h == nil {
		h = &queue{slot: make(chan struct{}, 1)}
		h.slot <- struct{}{}
		q.hosts[host] = h
	}
	h.users++
	q.mu.Unlock()
	gone := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if h.users--; h.users == 0 {
			delete(q.hosts, host)
		}
	}
	select {
	case <-h.slot:
		return func() { h.slot <- struct{}{}; gone() }, nil
	case <-ctx.Done():
		gone()
		return nil, context.Cause(ctx)
	}
}
