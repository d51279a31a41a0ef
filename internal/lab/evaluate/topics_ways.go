package evaluate

import (
	"maps"
	"slices"

	"gleaner/internal/classify"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/rank"
	"gleaner/internal/record/collections"
	"gleaner/internal/topic"
)

// The sets of ways that Topics compares, besides the policies as they are.
const (
	GleanerParts = "gleaner" // gleaner without each of its parts
	CindiParts   = "cindi"   // Table 14 of Chen (2008): the context graph with all heuristics, without each, and with none
)

// PartsOf are the names of the sets of ways.
func PartsOf() []string { return []string{GleanerParts, CindiParts} }

// way is a policy, or one without a part of it.
type way struct {
	name   string
	policy synthesis.Policy
	change func(*setting)
}

// setting is what a way may change of a crawl.
type setting struct {
	synthesis.Config
	learnt int // of so many pages classifiers are learnt that decide in place of centroids
}

// ways are all policies, and those of the sets that are asked for.
func ways(parts []string) (out []way, err error) {
	for _, p := range synthesis.Policies() {
		out = append(out, way{string(p), p, func(*setting) {}})
	}
	for _, set := range parts {
		switch set {
		case GleanerParts:
			out = append(out, gleanerWays()...)
		case CindiParts:
			more, err := cindiWays()
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	return out, nil
}

func gleanerWays() (out []way) {
	without := func(what string, change func(*setting)) {
		out = append(out, way{"gleaner, no " + what, synthesis.Gleaner, change})
	}
	without("words of links", func(c *setting) { c.Weights.Anchor = 0 })
	without("inheritance", func(c *setting) { c.Weights.Own = 1 })
	without("tunnelling", func(c *setting) { c.Weights.Farthest = 0 })
	without("loss on the way", func(c *setting) { c.Weights.OffTopic = 1 })
	without("worth of hosts", func(c *setting) { c.Weights.Host = collections.Worth{} })
	without("new hosts sooner", func(c *setting) { c.Weights.Host.New = 0 })
	out = append(out, way{"gleaner, with classifiers", synthesis.Gleaner, func(c *setting) { c.learnt = learntOf }})
	without("other hosts sooner", func(c *setting) { c.Weights.OffSite = 0 })
	return out
}

// cindiWays are the context graph with all of CINDI's heuristics, without each, and
// without all of them.
func cindiWays() ([]way, error) {
	lists, err := rank.DefaultLists()
	if err != nil {
		return nil, err
	}
	parts := map[string]func(*setting){
		"directories": func(c *setting) { c.Links.StopDirectories = lists.StopDirectories },
		"levels":      func(c *setting) { c.Links.Levels = synthesis.PatternLevels },
		"traps":       func(c *setting) { c.Trap = synthesis.PatternTrap() },
		"anchors": func(c *setting) {
			c.Inspect, c.Words.PruningAnchors, c.Words.ExtractingAnchors = true, lists.PruningAnchors, lists.ExtractingAnchors
		},
		"learnt anchors": func(c *setting) { c.Inspect, c.LearnLinks = true, true },
		"classifiers":    func(c *setting) { c.learnt = learntOf },
	}
	taken := map[string]func(*setting){
		"departments": func(c *setting) { c.Words.DepartmentWords = nil },
		"tunnelling":  func(c *setting) { c.NoTunnelling = true },
	}
	with := func(left ...string) func(*setting) {
		return func(c *setting) {
			for _, name := range slices.Sorted(maps.Keys(parts)) {
				if !slices.Contains(left, name) {
					parts[name](c)
				}
			}
			for _, name := range left {
				if take := taken[name]; take != nil {
					take(c)
				}
			}
		}
	}
	all := append(slices.Sorted(maps.Keys(parts)), slices.Sorted(maps.Keys(taken))...)
	out := []way{{"cindi, all", synthesis.ContextGraph, with()}}
	for _, name := range all {
		out = append(out, way{"cindi, no " + name, synthesis.ContextGraph, with(name)})
	}
	out = append(out, way{"cindi, no URL patterns", synthesis.ContextGraph, with("departments", "directories", "levels", "traps")},
		way{"cindi, no words of links", synthesis.ContextGraph, with("anchors", "learnt anchors")})
	return append(out, way{"cindi, none", synthesis.ContextGraph, with(all...)}), nil
}

// learntOf is how many pages of each topic, which a search for it finds first, its
// classifier is learnt of; for each page there are two that are not about it (Chen
// 2008): of each other topic a quarter as many, and those that no topic is searched for
// by.
const learntOf = 20

// learnTopics trains a classifier for each topic on what the search engine finds, never on
// what is true of a page.
func learnTopics(web TopicSource, filter *topic.Filter, of int) (map[string]*classify.Classifier, error) {
	found := map[string][]string{}
	for _, t := range web.Topics() {
		found[t.ID] = web.Search(t.Query, of)
	}
	out := map[string]*classify.Classifier{}
	for _, t := range web.Topics() {
		others := web.Others(2 * of)
		for _, o := range web.Topics() {
			if o.ID != t.ID {
				others = append(others, found[o.ID][:min(len(found[o.ID]), of/4)]...)
			}
		}
		examples := examplesOf(web, filter, found[t.ID], others)
		c, err := classify.Train(examples, classify.Options{})
		if err != nil {
			return nil, err
		}
		out[t.ID] = c
	}
	return out, nil
}

// examplesOf are pages about a topic and others, to learn from.
func examplesOf(web TopicSource, filter *topic.Filter, about, others []string) (out []classify.Example) {
	for i, u := range slices.Concat(about, others) {
		if p, ok := web.Page(u); ok {
			words := classify.Words(filter, topic.Page{URL: u, Title: p.Title, Text: p.Text})
			out = append(out, classify.Example{Words: words, Topic: i < len(about), Site: u})
		}
	}
	return out
}
