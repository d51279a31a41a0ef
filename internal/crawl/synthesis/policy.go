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

// Policy selects and orders the links of a crawl. It depends only on the record of a URL, so that
// slices are interchangeable.
type Policy string

// Policies.
const (
	BreadthFirst Policy = "bfs"     // every link, in the order of discovery
	BestFirst    Policy = "best"    // links of the most similar pages first (Bergmark); the default
	ContextGraph Policy = "graph"   // links of pages on topic, then of the second layer (Chen 2008); see contextGraph
	Gleaner      Policy = "gleaner" // also uses the link's words, its path and its host's results; see ours
)

// Policies returns all policies.
func Policies() []Policy { return []Policy{BreadthFirst, BestFirst, ContextGraph, Gleaner} }

// Check returns an error for an unknown policy.
func (p Policy) Check() error {
	if p == "" || slices.Contains(Policies(), p) {
		return nil
	}
	names := each.Of(Policies(), func(known Policy) string { return string(known) })
	return fmt.Errorf("policy: %q is none of %s", p, strings.Join(names, ", "))
}

// Weights of Gleaner.
const (
	ownShare      = 0.6  // weight of a page's correlation in its links' priority; the rest is its own priority
	anchorShare   = 0.35 // weight of a link's words
	offSiteBonus  = 0.05 // added for links to other hosts
	offTopicShare = 0.6  // factor for each off-topic page on the path
	farthest      = 5.0  // greatest number of consecutive off-topic pages on a path, as for the thesis's second layer
)

// Listed returns the priority of pages that a directory lists under a topic: that of the least
// similar entry. In the context graph seeds have high priority.
func (c Config) Listed() float64 {
	if c.Policy == ContextGraph {
		return high
	}
	return c.Threshold
}

// follow reports whether a policy follows the links of a page with this verdict.
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

// hinter returns the share of topic words in a link's text (topic.Vectors).
type hinter interface{ Hint(text string) float64 }

// priority returns the priority of a link on a page with a verdict and a priority of its own.
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

// ours returns the priority by shark-search (Hersovici et al., 1998): a link inherits from its
// page, a page off topic passes on less with each step but never 0, and the link's own words are
// added. Links to other hosts come slightly earlier, since a collection should cover several
// sites.
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

// Optional parts of CINDI's URL pattern inspection (Chen 2008, §4.2.1). Its filters of protocols
// and formats, robots.txt and the directories of departments are always on.
const (
	Directories = "directories" // stop directories: those of the program's list, and those learnt
	Levels      = "levels"      // seven levels of directories at most
	Traps       = "traps"       // sites with hardly any pages on topic are left
)

// Patterns returns all parts.
func Patterns() []string { return []string{Directories, Levels, Traps} }

// PatternLevels is the greatest number of directories in an address.
const PatternLevels = 7

// PatternTrap returns the rule for leaving a site: its page relevancy rate, by the crawl's
// classifier, is below 5 % after 200 pages.
func PatternTrap() gleaner.Trap { return gleaner.Trap{After: 200, Rate: 0.05} }

func checkPatterns(parts []string) error {
	for _, p := range parts {
		if !slices.Contains(Patterns(), p) {
			return fmt.Errorf("url-patterns: %q is none of %s", p, strings.Join(Patterns(), ", "))
		}
	}
	return nil
}

// Inspected returns the configuration with parts of URL pattern inspection. Stop directories and
// levels already set in its lists stay.
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
