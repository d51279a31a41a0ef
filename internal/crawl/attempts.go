package crawl

import (
	"context"

	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// Unfit is the outcome of a URL whose data the database refuses.
const Unfit gleaner.Outcome = "cannot-be-kept"

// orderly reports whether the error that ended a slice is not the site's doing: the slice
// was stopped, or the database or the store was unavailable.
func orderly(err error) bool {
	return !store.Refused(err) || store.Passes(err)
}

// pick lets the strategy choose. If it panics, or chooses an index out of range, the first
// candidate is taken.
func (l *loop) pick(ctx context.Context, from []page.Candidate) (i int, reason string) {
	err := guard.Logged(ctx, l.Log, from[0].Link.URL, func() error {
		i, reason = l.Strategy.Next(from)
		_ = from[i]
		return nil
	})
	if err != nil {
		return 0, "the first that waits, since the strategy failed: " + err.Error()
	}
	return i, reason
}

// setAside sets the outcome of an answer that the crawler could not process, or returns an
// error that is not the answer's.
func setAside(v *frontier.Visit, err error) error {
	switch {
	case guard.Panicked(err):
		v.Outcome = frontier.Panicked
	case store.Unfit(err):
		v.Outcome = Unfit
	default:
		return err
	}
	v.State, v.Reason = frontier.Failed, err.Error()
	return nil
}
