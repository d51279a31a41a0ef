package crawl

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"gleaner/internal/fetch"
	"gleaner/internal/frontier"
	"gleaner/internal/rank"
	"gleaner/internal/store"
)

// Outcomes of URLs that are set aside because of what they do to the crawler.
const (
	outcomePanic fetch.Outcome = "crawler-panic"  // its answer made the program panic
	outcomeUnfit fetch.Outcome = "cannot-be-kept" // the database refuses what came of it
)

// maxKilled is how often the process may die over an answer, where the record was
// told of it before. The first death of all it was not told of.
const maxKilled = 2

// beginAttempt counts the slice until it comes to an orderly end, or gets
// something done. Where the one before did not, its URL is charged with that if it
// is known, and from now on the record is told of each URL before the work on its
// answer: a page that kills the process is found out so, and set aside.
func (s *slice) beginAttempt(ctx context.Context) (err error) {
	if s.attempts, s.crawl, err = s.db.BeginSlice(ctx, s.of(), maxKilled); err == nil && s.attempts > 0 {
		s.log.WarnContext(ctx, "the slice before did not come to an end", "host", s.site.Host, "in_a_row", s.attempts)
	}
	return err
}

// of names the slice to the record.
func (s *slice) of() store.Slice {
	return store.Slice{SiteID: s.site.ID, Crawl: s.site.Crawl, Token: s.lease.Token}
}

// handle tells the record which answer is being worked on, where slices of this
// site have died.
func (s *slice) handle(ctx context.Context, e *frontier.Entry) error {
	if s.attempts == 0 {
		return nil
	}
	return s.patiently(ctx, func() error { return s.db.Handling(context.WithoutCancel(ctx), s.of(), e.Hash()) })
}

// orderly reports whether a slice that ended with err came to an end that says
// nothing against its site: it stopped, or what it stands on was away.
func orderly(err error) bool {
	return !store.Refused(err) || passing(err) || store.Full(err)
}

// panicked is a panic over what a URL answered.
type panicked struct{ value any }

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// guarded does some work on what a URL answered. A panic over it is that URL's
// failure, and no other's.
func (s *slice) guarded(ctx context.Context, url string, work func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			s.log.ErrorContext(ctx, "panic over a URL or its answer", "url", url, "panic", v, "stack", string(debug.Stack()))
			err = &panicked{v}
		}
	}()
	return work()
}

// pick lets the strategy choose. One that panics over what waits, or chooses what
// is not there, does not hold the site up.
func (s *slice) pick(ctx context.Context, from []rank.Candidate) (i int, reason string) {
	err := s.guarded(ctx, from[0].Link.URL, func() error {
		i, reason = s.strategy.Next(from)
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
	var p *panicked
	switch {
	case errors.As(err, &p):
		v.Outcome = outcomePanic
	case store.Unfit(err):
		v.Outcome = outcomeUnfit
	default:
		return err
	}
	v.State, v.Reason = frontier.Failed, err.Error()
	return nil
}
