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

// together renews the leases of all slices of a process, and looks whether their crawls
// are to go on, in two statements for all who ask within a moment: a host that waits
// costs next to nothing then.
type together struct {
	keeper *politeness.Keeper
	db     *store.DB
	wait   func(time.Duration)

	mu   sync.Mutex
	next *round // that takes on who asks; nil for none
}

// round is one look for several slices.
type round struct {
	leases    []*politeness.Lease
	done      chan struct{}
	renewed   map[*politeness.Lease]bool
	attention map[int]store.Attention
	err       error // the attention is not known
}

// look waits a moment for others, and then looks for all of them. A lease that is not
// renewed may be lost, or its row is held: who asked renews it by itself.
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
