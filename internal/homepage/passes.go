package homepage

import (
	"context"
	"errors"
	"slices"
	"time"

	"gleaner/internal/gleaner/evidence"
)

// Passes is how many passes a search for many authors takes.
const Passes = 2

// Book holds what was decided about authors: the record, or memory.
type Book interface {
	// Decisions returns the decisions on some authors, made until a time (zero: at any
	// time). It omits authors on whom a later decision was made.
	Decisions(ctx context.Context, authorIDs []string, until time.Time) ([]evidence.Decision, error)
	// All returns the decisions on all authors of the search.
	All(ctx context.Context) ([]evidence.Decision, error)
	// ApplyOverrides applies what people said of an author's homepages to a decision.
	ApplyOverrides(ctx context.Context, d evidence.Decision) (evidence.Decision, error)
	// Save replaces the decision on an author.
	Save(ctx context.Context, d evidence.Decision) error
	// Replace saves a decision unless the author's homepages on record differ from those
	// given: another decision was made meanwhile.
	Replace(ctx context.Context, d evidence.Decision, were []evidence.Candidate) error
}

// Search finds the homepages of many authors. The first pass searches for each author
// alone. Settle then assigns each page to one author. The second pass (Second) searches
// again for authors without a homepage. It uses the homepages of their co-authors from
// the first pass, and leaves out pages assigned to others. Settle follows it, too. No
// pass reads what it writes, so the result depends neither on the order of work, nor on
// interruptions, nor on what is done in parallel.
type Search struct {
	Finder *Finder
	Book   Book
}

// Look searches for an author in a pass, and saves the decision. The decision returned
// counts the requests of this call alone. If the error is ErrSearchUnavailable, the
// decision was saved none the less.
func (s Search) Look(ctx context.Context, sub Subject, pass int) (evidence.Decision, error) {
	asked, found := s.Finder.find(ctx, sub)
	if found != nil && !errors.Is(found, ErrSearchUnavailable) {
		return asked, found
	}
	// The decision is saved also if the worker is being stopped.
	ctx = context.WithoutCancel(ctx)
	before, err := s.Book.Decisions(ctx, []string{sub.Author.ID()}, time.Time{})
	if err != nil {
		return asked, err
	}
	var first evidence.Decision
	if len(before) > 0 {
		first = before[0]
	}
	d := asked.Again(time.Now(), max(0, first.Tries-(pass-1)))
	if pass > 1 {
		d.Searches += first.Searches
		d.Fetches += first.Fetches
		if d.NotFound != "" && first.NotFound == evidence.GivenToAnother {
			d.NotFound = first.NotFound // still the reason
		}
	}
	if d, err = s.Book.ApplyOverrides(ctx, d); err != nil {
		return asked, err
	}
	if err := s.Book.Save(ctx, d); err != nil {
		return asked, err
	}
	asked.Homepages = d.Homepages
	return asked, found
}

// Second returns the subject of a second pass, and whether one is worthwhile. It uses
// only decisions made until the first pass was settled.
func (s Search) Second(ctx context.Context, sub Subject, settled time.Time) (Subject, bool, error) {
	ids := []string{sub.Author.ID()}
	for _, co := range coAuthors(sub) {
		ids = append(ids, co.ID())
	}
	decided, err := s.Book.Decisions(ctx, ids, settled)
	if err != nil {
		return sub, false, err
	}
	own, others := evidence.Decision{Author: sub.Author}, map[string]string{}
	for _, d := range decided {
		if d.Author.ID() == sub.Author.ID() {
			own = d
		} else if best := d.Best(); best != "" {
			others[d.Author.ID()] = best
		}
	}
	sub, again := sub.again(own, others)
	return sub, again, nil
}

// Settle assigns each page that several authors were given to one of them.
func (s Search) Settle(ctx context.Context) error {
	decisions, err := s.Book.All(ctx)
	if err != nil {
		return err
	}
	before := make([][]evidence.Candidate, len(decisions))
	for i := range decisions {
		before[i] = slices.Clone(decisions[i].Homepages)
	}
	resolveConflicts(decisions)
	for i := range decisions {
		if len(decisions[i].Homepages) == len(before[i]) {
			continue
		}
		// People may have assigned one page to several authors.
		d, err := s.Book.ApplyOverrides(ctx, decisions[i])
		if err != nil {
			return err
		}
		if len(d.Homepages) == len(before[i]) {
			continue
		}
		if err := s.Book.Replace(ctx, d, before[i]); err != nil {
			return err
		}
	}
	return nil
}

// SameHomepages reports whether two decisions keep the same pages.
func SameHomepages(a, b []evidence.Candidate) bool {
	return slices.EqualFunc(a, b, func(x, y evidence.Candidate) bool { return x.URL == y.URL })
}
