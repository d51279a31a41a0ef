package evaluate

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"gleaner/internal/rank"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Simple policies, which a ranking that learns has to be worth its while beside. They
// are crawled as the strategies are.
const (
	// DocumentsFirst takes whatever is named like a document, then pages as found.
	DocumentsFirst = "documents-first"
	// NamesLast is the paper's queues (rank.Zhuang), but that documents which are named
	// like slides, homework or parts of a course wait until nothing else does.
	NamesLast = "zhuang-names-last"
)

// Policies are the names of all that a comparison may run: the strategies, the default
// first, and the simple policies.
func Policies() []string { return append(rank.Names(), DocumentsFirst, NamesLast) }

// policy makes the one of that name.
func policy(name string, opts rank.Options) (rank.Strategy, error) {
	switch name {
	case DocumentsFirst:
		s, err := rank.New(rank.BreadthFirst, opts)
		return documentsFirst{s}, err
	case NamesLast:
		s, err := rank.New(rank.Zhuang, opts)
		return namesLast{s}, err
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

type namesLast struct{ rank.Strategy }

func (namesLast) Name() string { return NamesLast }

// Enter puts documents of telling names behind the last queue.
func (n namesLast) Enter(c *page.Candidate) {
	n.Strategy.Enter(c)
	if c.Document && namedOtherwise(c.Link.URL) {
		c.Queue = rank.QueueLow - 1
	}
}

// otherwise are beginnings of words in the path of what is no paper.
var otherwise = strings.Fields("slide talk present poster lecture homework hw assign exercise solution exam quiz syllabus course class teach")

// namedOtherwise looks for them among the words of a path.
func namedOtherwise(address string) bool {
	path := strings.ToLower(strings.TrimPrefix(weburl.Key(address), weburl.Host(address)))
	for word := range strings.FieldsFuncSeq(path, func(r rune) bool { return !unicode.IsLetter(r) }) {
		for _, w := range otherwise {
			if strings.HasPrefix(word, w) {
				return true
			}
		}
	}
	return false
}
