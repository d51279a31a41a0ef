package crawl

import (
	"context"

	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// Outcomes of URLs that are set aside because of what they do to the crawler.
const (
	outcomeUnfit gleaner.Outcome = "cannot-be-kept" // the database refuses what came of it
)

// orderly reports whether a slice that ended with err came to an end that says
// nothing against its site: it stopped, or what it stands on was away.
func orderly(err error) bool {
	return !store.Refused(err) || passing(err) || store.Full(err)
}

func (l *loop) guarded(ctx context.Context, url string, work func() error) error {
	return guard.Logged(ctx, l.log, url, work)
}

// pick lets the strategy choose. One that panics over what waits, or chooses what
// is not there, does not hold the site up.
func (l *loop) pick(ctx context.Context, from []page.Candidate) (i int, reason string) {
	err := l.guarded(ctx, from[0].Link.URL, func() error {
		i, reason = l.strategy.Next(from)
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
		v.Outcome = outcomeUnfit
	default:
		return err
	}
	v.State, v.Reason = frontier.Failed, err.Error()
	return nil
}
