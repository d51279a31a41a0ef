package crawl

import (
	"context"
	"errors"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/politeness"
	"gleaner/internal/record/store"
)

// passing reports whether an error is one of the record's that passes: the
// database is away or its disk is full, or two transactions stood in each other's way.
// What a web site does to a request is none.
func passing(err error) bool {
	if _, ok := errors.AsType[*fetch.Error](err); ok {
		return false
	}
	return store.Passes(err)
}

// patiently does something with the record, and does it again until the record
// can be asked: what the slice has fetched must not be fetched twice because the
// database was away for a while. It gives up when ctx ends.
func (s *slice) patiently(ctx context.Context, do func() error) error {
	return store.Patiently(ctx, passing, func(err error) {
		s.log.WarnContext(ctx, "the record cannot be asked; waiting for it", "host", s.site.Host, "error", err)
	}, do)
}

// hold makes sure that the host is this slice's alone, before it writes or judges
// what it fetched: a process that stood still may have lost it meanwhile.
func (s *slice) hold(ctx context.Context) error {
	if !s.lease.Lapsed() {
		return nil
	}
	return s.patiently(ctx, func() error { return s.lease.Renew(ctx) })
}

// looksBefore is how often a slice looks whether to go on before it gives way: who
// waits for single pages is not to leave it the time for one request and no more.
const looksBefore = 3

// watch renews the lease, and looks whether the crawl is still wanted and whether somebody
// waits for a page of the host. It never waits for long for the record.
func (s *slice) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	within := func(do func(context.Context) error) error {
		ctx, over := context.WithTimeout(ctx, max(s.look, time.Second))
		defer over()
		return do(ctx)
	}
	looks := 0
	fetch.Every(ctx, s.look, func() bool {
		if p := s.loop.latest.Load(); p != nil {
			s.loop.report(*p) // alive, though a page is slow
		}
		renewed, attention, known := false, store.Attention{}, error(nil)
		_ = within(func(ctx context.Context) error {
			renewed, attention, known = s.all.look(ctx, s.lease, s.look/3)
			return known
		})
		if !renewed {
			if err := within(s.lease.Renew); errors.Is(err, politeness.ErrLost) {
				cancel(err)
				return false
			}
		}
		if looks++; looks >= looksBefore && s.lease.Awaited() {
			s.loop.stop.CompareAndSwap(nil, Waiting)
		}
		if known == nil { // where the record is away the loop's own writes say so
			s.checkControls(attention)
		}
		return true
	})
}
