package synthesis

import (
	"fmt"
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/rank"
	"gleaner/internal/record/collections"
	"gleaner/internal/topic"
	"gleaner/internal/web/page"
	"gleaner/internal/web/rules"
)

// Policy says which links a crawl takes, and which of them it asks for next. Each needs
// nothing but what is on record of a URL, so that any slice goes on where another
// ended.
type Policy string

// The policies.
const (
	BreadthFirst Policy = "bfs"     // every link, in the order in which they are met
	BestFirst    Policy = "best"    // links of the pages that are most on topic (Bergmark); the default
	ContextGraph Policy = "graph"   // of pages on topic, then of those that are like pages that led to such (Chen 2008); see contextGraph
	Gleaner      Policy = "gleaner" // the words of the link, the way to it and what its host brought count, too; see ours
)

// Policies are all of them.
func Policies() []Policy { return []Policy{BreadthFirst, BestFirst, ContextGraph, Gleaner} }

// Check says what a policy cannot be.
func (p Policy) Check() error {
	if p == "" || slices.Contains(Policies(), p) {
		return nil
	}
	names := each.Of(Policies(), func(known Policy) string { return string(known) })
	return fmt.Errorf("policy: %q is none of %s", p, strings.Join(names, ", "))
}

// The weights of Gleaner.
const (
	ownShare      = 0.6  // of what a page is like in what its links inherit; the rest is the priority with which it was asked for itself
	anchorShare   = 0.35 // of the words of a link beside what it inherits
	offSiteBonus  = 0.05 // what a link to another host is put before others by
	offTopicShare = 0.6  // what each page off topic on the way leaves of a priority
	farthest      = 5.0  // off-topic pages in a row that a path may hold, as the thesis looks back for a second layer
)

// Listed is the priority of the pages that a directory lists under a topic: as much on
// topic as an entry is at least. In the context graph seeds are of high priority.
func (c Config) Listed() float64 {
	if c.Policy == ContextGraph {
		return high
	}
	return c.Threshold
}

// follow is whether a policy takes the links of a page of a verdict.
func (l *loop) follow(at *collections.Visit, v topic.Verdict) bool {
	switch l.cfg.Policy {
	case BreadthFirst:
		return true
	case ContextGraph:
		return v.Follow || !at.About && l.graph.leads(at)
	case Gleaner:
		return v.Follow || !at.About && v.Off <= max(l.cfg.Cutoff, farthest)
	}
	return v.Follow
}

// hinter tells which share of the words of a link are words of the topics
// (topic.Vectors).
type hinter interface{ Hint(text string) float64 }

// priority of a link on a page of a verdict, which was asked for with a priority of its
// own.
func (l *loop) priority(v topic.Verdict, own float64, offSite bool, link *page.Link) float64 {
	switch l.cfg.Policy {
	case BreadthFirst:
		return 0
	case ContextGraph:
		if v.Best.Correlation < l.cfg.Threshold && !l.cfg.Words.Department(link.URL) {
			return low
		}
		return high
	case Gleaner:
		return l.ours(v, own, offSite, link.Anchor)
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
		inherited = offTopicShare * own
	}
	p := (1 - anchorShare) * inherited
	if h, ok := l.Classifier.(hinter); ok {
		p += anchorShare * h.Hint(anchor)
	}
	switch {
	case offSite && l.cfg.OffSite:
		return 1 + p
	case offSite:
		return offSiteBonus + p
	}
	return p
}

// The parts of CINDI's URL pattern inspection (Chen 2008, §4.2.1) that are switched; its filters
// of protocols and formats, robots.txt and the directories of departments are always on.
const (
	Directories = "directories" // stop directories: those of the program's list, and those learnt
	Levels      = "levels"      // seven levels of directories at most
	Traps       = "traps"       // a site is left of which hardly a page was on topic
)

// Patterns are all parts.
func Patterns() []string { return []string{Directories, Levels, Traps} }

// PatternLevels is how many directories an address may have.
const PatternLevels = 7

// PatternTrap is the rule by which a site is left: its page relevancy rate, as the crawl's
// classifier tells it, is below 5 % after 200 pages.
func PatternTrap() gleaner.Trap { return gleaner.Trap{After: 200, Rate: 0.05} }

func checkPatterns(parts []string) error {
	for _, p := range parts {
		if !slices.Contains(Patterns(), p) {
			return fmt.Errorf("url-patterns: %q is none of %s", p, strings.Join(Patterns(), ", "))
		}
	}
	return nil
}

// Inspected is a crawl with parts of URL pattern inspection. What its lists say of stop
// directories and levels stands.
func (c Config) Inspected(parts []string) (Config, error) {
	var l rules.Lists
	if slices.Contains(parts, Directories) {
		words, err := rank.DefaultLists()
		if err != nil {
			return c, err
		}
		l.StopDirectories = append(slices.Clone(words.StopDirectories), rules.Learnt)
	}
	if slices.Contains(parts, Levels) {
		l.Levels = PatternLevels
	}
	c.Links = c.Links.Over(l)
	if slices.Contains(parts, Traps) {
		c.Trap = PatternTrap()
	}
	return c, nil
}
