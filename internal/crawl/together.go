package crawl

import (
	"context"
	"sync"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/guard"
	"gleaner/internal/politeness"
	"gleaner/internal/record/store"
)

// together renews the leases of all slices of a process and reads their controls. It takes
// two statements for all calls within a moment, so that a waiting host costs next to
// nothing.
type together struct {
	keeper *politeness.Keeper
	db     *store.DB
	wait   func(time.Duration)

	mu   sync.Mutex
	next *round // that further calls join; nil for none
}

// round is one pair of statements for several slices.
type round struct {
	leases    []*politeness.Lease
	done      chan struct{}
	renewed   map[*politeness.Lease]bool
	attention map[int]store.Attention
	err       error // of reading the attention
}

// look waits a moment for other calls, and then renews all their leases and reads their
// controls. A lease that is not renewed may be lost, or its row is locked: the caller
// renews it by itself.
func (t *together) look(ctx context.Context, l *politeness.Lease, moment time.Duration) (renewed bool, a store.Attention, err error) {
	t.mu.Lock()
	r := t.next
	if r == nil {
		r = &round{done: make(chan struct{})}
		t.next = r
		guard.Go(func() { t.run(r, moment) })
	}
	r.leases = append(r.leases, l)
	t.mu.Unlock()
	select {
	case <-ctx.Done():
		return false, a, context.Cause(ctx)
	case <-r.done:
		return r.renewed[l], r.attention[l.SiteID], r.err
	}
}

func (t *together) run(r *round, moment time.Duration) {
	defer close(r.done)
	t.wait(moment)
	t.mu.Lock()
	t.next = nil
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), max(2*moment, time.Second/2))
	defer cancel()
	r.renewed = t.keeper.RenewAll(ctx, r.leases)
	ids := each.Of(r.leases, func(l *politeness.Lease) int { return l.SiteID })
	r.attention, r.err = t.db.Attention(ctx, ids...)
}
