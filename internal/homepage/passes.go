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
	// Decisions lists what was decided about some authors until a time (zero:
	// ever). Of an author decided on again since then nothing is listed.
	Decisions(ctx context.Context, authorIDs []string, until time.Time) ([]evidence.Decision, error)
	// All lists what was decided about all authors of the search.
	All(ctx context.Context) ([]evidence.Decision, error)
	// Heed lays a person's words over a decision.
	Heed(ctx context.Context, d evidence.Decision) (evidence.Decision, error)
	// Save replaces what was decided about an author.
	Save(ctx context.Context, d evidence.Decision) error
	// Replace does so unless the author's homepages are others than they were: somebody
	// else has decided, or spoken, meanwhile.
	Replace(ctx context.Context, d evidence.Decision, were []evidence.Candidate) error
}

// Search looks for the homepages of many authors. In the first pass each is looked
// for by what is known of that author alone. Then each page is left to one author
// (Settle). In the second pass those without a homepage are looked for again
// (Second), by the homepages of their co-authors from the first, and without the
// pages that went to others; and it is settled again. No pass reads what it
// writes, so that what is found does not depend on the order of work, nor on how
// often the work was cut off, nor on what of it is done side by side.
type Search struct {
	Finder *Finder
	Book   Book
}

// Look looks for an author in a pass, and writes what was decided. The decision
// returned counts what this look took alone. The error may be
// ErrSearchUnavailable; the decision is then written none the less.
func (s Search) Look(ctx context.Context, sub Subject, pass int) (evidence.Decision, error) {
	asked, found := s.Finder.find(ctx, sub)
	if found != nil && !errors.Is(found, ErrSearchUnavailable) {
		return asked, found
	}
	// What was found out is kept also when the worker is being stopped.
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
	if d, err = s.Book.Heed(ctx, d); err != nil {
		return asked, err
	}
	if err := s.Book.Save(ctx, d); err != nil {
		return asked, err
	}
	asked.Homepages = d.Homepages
	return asked, found
}

// Second is the subject of a second pass, and whether one is worth while. Only
// what was decided until the first pass was settled counts.
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

// Settle leaves each page that several authors were given to one of them.
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
		// A page that a person gave to two is the page of both.
		d, err := s.Book.Heed(ctx, decisions[i])
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
