package homepages

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/guard"
	"gleaner/internal/homepage"
)

// FindAll is a whole homepage.Search, at most parallel authors at a time, of which nothing
// is kept but the decisions, in the order of the subjects.
//
// Searches that failed are in the decisions; the error joins homepage.ErrSearchUnavailable
// where any author has none for that reason, or is that of ctx.
func FindAll(ctx context.Context, f *homepage.Finder, subjects []homepage.Subject, parallel int) ([]evidence.Decision, error) {
	book := &notes{of: map[string]note{}}
	s := homepage.Search{Finder: f, Book: book}
	var unavailable error
	var settled time.Time
	for pass := 1; pass <= homepage.Passes; pass++ {
		failed, err := onePass(ctx, s, subjects, pass, settled, parallel)
		unavailable = errors.Join(unavailable, failed)
		if err == nil {
			err = s.Settle(ctx)
		}
		if err != nil {
			return book.about(subjects), err
		}
		settled = book.now()
	}
	return book.about(subjects), unavailable
}

func onePass(ctx context.Context, s homepage.Search, subjects []homepage.Subject, pass int, settled time.Time, parallel int) (unavailable, err error) {
	g, gctx := guard.WithContext(ctx)
	g.SetLimit(max(1, parallel))
	var mu sync.Mutex
	for _, sub := range subjects {
		g.Go(func() error {
			if pass > 1 {
				var again bool
				var err error
				if sub, again, err = s.Second(gctx, sub, settled); err != nil || !again {
					return err
				}
			}
			_, err := s.Look(gctx, sub, pass)
			if !errors.Is(err, homepage.ErrSearchUnavailable) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			unavailable = err
			return nil
		})
	}
	return unavailable, g.Wait()
}

// notes are a homepage.Book in memory. Its time is the number of what was written.
type notes struct {
	mu    sync.Mutex
	of    map[string]note // by author
	count int64
}

type note struct {
	evidence.Decision
	at time.Time
}

func (n *notes) now() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Unix(n.count, 0)
}

func (n *notes) Decisions(_ context.Context, authorIDs []string, until time.Time) (out []evidence.Decision, _ error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, id := range authorIDs {
		if d, ok := n.of[id]; ok && (until.IsZero() || !d.at.After(until)) {
			out = append(out, d.Decision)
		}
	}
	return out, nil
}

func (n *notes) All(context.Context) (out []evidence.Decision, _ error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, d := range n.of {
		one := d.Decision
		one.Homepages = slices.Clone(one.Homepages) // who settles changes them
		out = append(out, one)
	}
	return out, nil
}

// ApplyOverrides implements homepage.Book: nobody said anything.
func (*notes) ApplyOverrides(_ context.Context, d evidence.Decision) (evidence.Decision, error) {
	return d, nil
}

func (n *notes) Save(_ context.Context, d evidence.Decision) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.save(d)
	return nil
}

func (n *notes) save(d evidence.Decision) {
	n.count++
	n.of[d.Author.ID()] = note{d, time.Unix(n.count, 0)}
}

func (n *notes) Replace(_ context.Context, d evidence.Decision, were []evidence.Candidate) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if homepage.SameHomepages(n.of[d.Author.ID()].Homepages, were) {
		n.save(d)
	}
	return nil
}

func (n *notes) about(subjects []homepage.Subject) []evidence.Decision {
	out := make([]evidence.Decision, len(subjects))
	for i, s := range subjects {
		out[i] = n.of[s.Author.ID()].Decision
		if out[i].Author == (gleaner.Author{}) {
			out[i].Author = s.Author
		}
	}
	return out
}
