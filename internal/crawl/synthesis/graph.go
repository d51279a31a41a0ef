package synthesis

import (
	"context"
	"net/url"
	"strings"

	"gleaner/internal/classify"
	"gleaner/internal/rank"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/topic"
)

// Priorities of the context graph (URL ordering, Chen 2008): of seeds, links of pages about a
// topic and links to departments, and of links of pages in the second layer.
const (
	high = 1.0
	low  = 0.5
)

// contextGraph is the revised context graph with tunnelling (Chen 2008, §4.3.4, §4.3.5). The
// first layer are pages about a topic by the crawl's classifier. The second are pages similar to
// those that lead to the first in up to five links, by a classifier trained on the crawl's
// recorded links (LinkTraining.Second). Links of other pages are not followed. Without examples of
// both classes every page is of the second layer.
type contextGraph struct {
	classify.Graph
	filter *topic.Filter
	given  rank.Lists // configured words, beside learnt ones
}

// layerWords is the number of words of a page, and of its links, that the second layer uses.
const layerWords = 300

// words returns the features of the second layer: words of the page, of its links, and of the
// link to it, each marked.
func (g *contextGraph) words(text, anchor string, links []collections.Lead) []string {
	out := strings.Fields(text)
	out = out[:min(len(out), layerWords):min(len(out), layerWords)]
	add := func(mark, said string, most int) int {
		words := classify.Words(g.filter, topic.Page{Text: said})
		words = words[:min(len(words), most)]
		for _, w := range words {
			out = append(out, mark+w)
		}
		return most - len(words)
	}
	add("to:", anchor, layerWords)
	left := layerWords
	for _, l := range links {
		left = add("on:", l.Anchor, left)
	}
	return out
}

// leads reports whether a page off topic is of the second layer.
func (g *contextGraph) leads(v *collections.Visit) bool {
	return g.Second == nil || g.Leads(g.words(v.Words, v.Anchor, v.Leads))
}

// examples returns examples of the second layer, and of off-topic pages outside both layers with
// a known link target. Those nearest to pages on topic come first; farther ones are added only up
// to the number of the rest, since five links connect most pages.
func (g *contextGraph) examples(pages []collections.Linked, threshold float64) (out []classify.Example) {
	at := places(pages)
	var links []classify.Link
	about, known, off := map[int]bool{}, map[int]bool{}, 0
	for i, p := range pages {
		for _, l := range p.Links {
			if to, read := at[l.To]; read && to != i {
				links, known[i] = append(links, classify.Link{From: i, To: to}), true
			}
		}
		if p.Correlation >= threshold {
			about[i] = true
			for _, above := range ascending(p.URL) {
				if from, read := at[frontier.HashOf(above)]; read && from != i {
					links, known[from] = append(links, classify.Link{From: from, To: i}), true
				}
			}
		}
	}
	for i := range pages {
		if known[i] && !about[i] {
			off++
		}
	}
	leads := map[int]bool{}
	for _, ring := range classify.Leaders(links, about) {
		if len(leads) > 0 && 2*(len(leads)+len(ring)) > off {
			break
		}
		for _, i := range ring {
			leads[i] = true
		}
	}
	for i, p := range pages {
		if known[i] && !about[i] && p.Words != "" {
			out = append(out, classify.Example{Words: g.words(p.Words, p.Anchor, p.Links), Topic: leads[i], Site: p.Host})
		}
	}
	return out
}

// ascending returns the addresses above one on its host: of its directories, and of the host.
func ascending(raw string) (out []string) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	u.RawQuery, u.Fragment = "", ""
	for p := u.Path; ; {
		i := strings.LastIndexByte(strings.TrimSuffix(p, "/"), '/')
		if i < 0 {
			return out
		}
		p = p[:i+1]
		u.Path, u.RawPath = p, ""
		out = append(out, u.String())
	}
}

// tunnel updates before a request whether the crawl tunnels: from an empty queue of high priority
// until the queue has counted enough new sites.
func (l *loop) tunnel(ctx context.Context, u *collections.URL) (err error) {
	if l.cfg.Policy != ContextGraph {
		return nil
	}
	l.graph.Tunnelling = l.at.Tunnels
	if !l.at.Tunnels && u.Priority < high {
		l.graph.Tunnelling, err = l.Queue.Tunnel(ctx)
	}
	return err
}
