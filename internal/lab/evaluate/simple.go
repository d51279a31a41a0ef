package evaluate

import (
	"errors"
	"fmt"

	"gleaner/internal/rank"
	"gleaner/internal/web/page"
)

// DocumentsFirst is a simple policy, which a ranking that learns has to be worth its while
// beside: it takes whatever is named like a document, then pages as found.
const DocumentsFirst = "documents-first"

// Policies are the names of all that a comparison may run: the strategies, the default
// first, and the simple policy.
func Policies() []string { return append(rank.Names(), DocumentsFirst) }

// policy makes the one of that name.
func policy(name string, opts rank.Options) (rank.Strategy, error) {
	if name == DocumentsFirst {
		s, err := rank.New(rank.BreadthFirst, opts)
		return documentsFirst{s}, err
	}
	s, err := rank.New(name, opts)
	if errors.Is(err, rank.ErrUnknownStrategy) {
		return nil, fmt.Errorf("%w %q: want one of %v", rank.ErrUnknownStrategy, name, Policies())
	}
	return s, err
}

type documentsFirst struct{ rank.Strategy }

func (documentsFirst) Name() string { return DocumentsFirst }

// Enter puts documents into a queue before that of the pages.
func (d documentsFirst) Enter(c *page.Candidate) {
	d.Strategy.Enter(c)
	if c.Document {
		c.Queue = 1
	}
}

// Next takes the oldest of the first queue.
func (d documentsFirst) Next(waiting []page.Candidate) (int, string) {
	best := 0
	for i := range waiting {
		c, b := &waiting[i], &waiting[best]
		if c.Document != b.Document {
			if c.Document {
				best = i
			}
		} else if c.ID < b.ID {
			best = i
		}
	}
	return best, "documents first, in the order of discovery"
}
