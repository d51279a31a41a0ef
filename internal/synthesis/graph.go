package synthesis

import (
	"context"
	"errors"

	"gleaner/internal/classify"
	"gleaner/internal/record/collections"
	"gleaner/internal/topic"
)

// The priorities of the context graph (URL ordering, Chen 2008): of seeds, links of pages
// about a topic and links to departments, and of other links of pages that may lead to
// such.
const (
	high = 1.0
	low  = 0.5
)

const (
	trailPages = 3000 // the latest pages, of which the second layer is learnt
	learnEvery = 1000 // requests within a slice; each slice begins with learning
)

// contextGraph is the revised context graph with tunnelling (Chen 2008, §4.6, §4.7). The
// first layer are the pages about a topic, as the crawl's classifier tells them. The
// second are those that are like pages which led to the first in up to five links: a
// classifier learns that from the crawl's own trail, by the titles of pages and the words
// of the links to them. Links of other pages are not followed. Before there are examples
// of both kinds every page counts to the second layer.
//
// What it knows is on record: the trail, and whether it tunnels, which is of the whole
// queue and not of a slice.
type contextGraph struct {
	classify.Graph
	filter *topic.Filter
	asked  int // requests since it was learnt
}

// learn makes the second layer anew where that is due.
func (l *loop) learn(ctx context.Context) error {
	if l.cfg.Policy != ContextGraph || l.graph != nil && l.graph.asked < learnEvery {
		return nil
	}
	if l.graph == nil {
		l.graph = &contextGraph{filter: l.Filter}
	}
	l.graph.asked = 0
	trail, err := l.Queue.Trail(ctx, trailPages)
	if err != nil {
		return err
	}
	return l.graph.learn(trail, l.cfg.Threshold)
}

func (g *contextGraph) learn(trail []collections.Step, threshold float64) error {
	var links []classify.Link
	about, led := map[string]bool{}, map[string]bool{}
	for _, s := range trail {
		if s.Correlation >= threshold {
			about[s.URL] = true
		}
		if s.Parent != "" {
			led[s.Parent] = true
			links = append(links, classify.Link{From: s.Parent, To: s.URL})
		}
	}
	leads := map[string]bool{}
	for _, url := range classify.Leaders(links, about) {
		leads[url] = true
	}
	var examples []classify.Example
	for _, s := range trail {
		if !about[s.URL] && led[s.URL] { // of a page of which no link was followed nothing is known
			examples = append(examples, classify.Example{Words: g.words(s.Title, s.Anchor), Topic: leads[s.URL], Site: s.Host})
		}
	}
	second, err := classify.Train(examples, classify.Options{})
	if errors.Is(err, classify.ErrExamples) {
		return nil
	}
	g.Second = second
	return err
}

func (g *contextGraph) words(title, anchor string) []string {
	return classify.Words(g.filter, topic.Page{Title: title, Text: anchor})
}

// leads reports whether a page off topic is of the second layer.
func (g *contextGraph) leads(v *collections.Visit) bool {
	return g.Second == nil || g.Leads(g.words(v.Title, v.Anchor))
}

// tunnel heeds, before a URL is asked for, whether the crawl tunnels: from when nothing of
// high priority is left in the whole queue until enough new sites were met, which the queue
// counts.
func (l *loop) tunnel(ctx context.Context, u *collections.URL) (err error) {
	if l.graph == nil || l.cfg.NoTunnelling {
		return nil
	}
	l.graph.Tunnelling = l.at.Tunnels
	if !l.at.Tunnels && u.Priority < high {
		l.graph.Tunnelling, err = l.Queue.Tunnel(ctx)
	}
	return err
}
