package synthesis

import (
	"fmt"
	"slices"
	"strings"

	"gleaner/internal/topic"
)

// Policy says which links a crawl takes, and which of them it asks for next. Each needs
// nothing but what is on record of a URL, so that any slice goes on where another
// ended.
type Policy string

// The policies.
const (
	BreadthFirst Policy = "bfs"     // every link, in the order in which they are met
	BestFirst    Policy = "best"    // links of the pages that are most on topic (Bergmark); the default
	Gleaner      Policy = "gleaner" // the words of the link and the way to it count, too; see ours
)

// Policies are all of them.
func Policies() []Policy { return []Policy{BreadthFirst, BestFirst, Gleaner} }

// Check says what a policy cannot be.
func (p Policy) Check() error {
	if p == "" || slices.Contains(Policies(), p) {
		return nil
	}
	var names []string
	for _, known := range Policies() {
		names = append(names, string(known))
	}
	return fmt.Errorf("policy: %q is none of %s", p, strings.Join(names, ", "))
}

// The weights of Gleaner: of what a page is like in what its links inherit, the rest
// being the priority with which the page itself was asked for; of the words of a link
// beside what it inherits; of what a path of off-topic pages leaves of it, each.
const (
	ownShare    = 0.6
	anchorShare = 0.35
	offSitePlus = 0.05
	perOffTopic = 0.6
	farthestOff = 5 // off-topic pages in a row that a path may hold, as the thesis looks back for a second layer
)

// follow is whether a policy takes the links of a page of a verdict.
func (c Config) follow(v topic.Verdict) bool {
	switch c.Policy {
	case BreadthFirst:
		return true
	case Gleaner:
		return v.Follow || v.Best.Correlation < c.Threshold && v.Off <= max(c.Cutoff, farthestOff)
	}
	return v.Follow
}

// hinter tells which share of the words of a link are words of the topics
// (topic.Vectors).
type hinter interface{ Hint(text string) float64 }

// priority of a link on a page of a verdict, which was asked for with a priority of its
// own.
func (l *loop) priority(v topic.Verdict, own float64, offSite bool, anchor string) float64 {
	switch l.cfg.Policy {
	case BreadthFirst:
		return 0
	case Gleaner:
		return l.ours(v, own, offSite, anchor)
	}
	return l.cfg.LinkPriority(v, offSite)
}

// ours is the priority as shark-search has it (Hersovici et al., 1998): a link inherits
// from its page, and a page off topic hands on less with each step, but never nothing;
// what the link itself says is added. Links to other hosts come a little sooner, since
// a collection is to span sites.
func (l *loop) ours(v topic.Verdict, own float64, offSite bool, anchor string) float64 {
	inherited := ownShare*v.Best.Correlation + (1-ownShare)*own
	if v.Best.Correlation < l.cfg.Threshold {
		inherited = perOffTopic * own
	}
	p := (1 - anchorShare) * inherited
	if h, ok := l.Classifier.(hinter); ok {
		p += anchorShare * h.Hint(anchor)
	}
	switch {
	case offSite && l.cfg.OffSite:
		return 1 + p
	case offSite:
		return offSitePlus + p
	}
	return p
}
