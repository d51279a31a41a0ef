package crawl

import (
	"context"

	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// Unfit is the outcome of a URL if the database refuses what came of it.
const Unfit gleaner.Outcome = "cannot-be-kept"

// orderly reports whether a slice that ended with err came to an end that says
// nothing against its site: it stopped, or what it stands on was away.
func orderly(err error) bool {
	return !store.Refused(err) || store.Passes(err)
}

// pick lets the strategy choose. One that panics over what waits, or chooses what
// is not there, does not hold the site up.
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

// setAside names what an answer did to the crawler, or gives back an error that
// was not the answer's.
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
