package crawl

import (
	"context"
	"errors"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/politeness"
	"gleaner/internal/record/store"
)

// passing reports whether an error of the record is transient: the database is unavailable
// or its disk is full, or two transactions conflicted. The failure of a request is not.
func passing(err error) bool {
	if _, ok := errors.AsType[*fetch.Error](err); ok {
		return false
	}
	return store.Passes(err)
}

// patiently calls do, and repeats it until the record is available: pages must not be
// fetched twice because the database was unavailable for a while. It ends with ctx.
func (s *slice) patiently(ctx context.Context, do func() error) error {
	return store.Patiently(ctx, passing, func(err error) {
		s.log.WarnContext(ctx, "the record cannot be asked; waiting for it", "host", s.site.Host, "error", err)
	}, do)
}

// hold makes sure that this slice has the lease, before it writes or judges: a process that
// was suspended may have lost it.
func (s *slice) hold(ctx context.Context) error {
	if !s.lease.Lapsed() {
		return nil
	}
	return s.patiently(ctx, func() error { return s.lease.Renew(ctx) })
}

// looksBefore is how many checks a slice makes before it yields to a request for a single
// page. Otherwise such requests would leave it time for one request only.
const looksBefore = 3

// watch renews the lease, and checks whether the crawl is still wanted and whether a request
// for a single page waits for the host. It never waits long for the record.
func (s *slice) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	within := func(do func(context.Context) error) error {
		ctx, over := context.WithTimeout(ctx, max(s.look, time.Second))
		defer over()
		return do(ctx)
	}
	looks := 0
	fetch.Every(ctx, s.look, func() bool {
		if p := s.loop.latest.Load(); p != nil {
			s.loop.report(*p) // a page may be slow
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
		if known == nil { // else the loop's own writes report that the record is unavailable
			s.checkControls(attention)
		}
		return true
	})
}
