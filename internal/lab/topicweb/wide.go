package topicweb

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The wide shape. Its figures were measured on 63 recorded academic sites, at most 120
// pages of each (2,870 pages), and 568 of their pages that were labelled by reading
// (internal/classify/testdata), before any crawl was run on it. What could not be
// measured is said to be so.
const (
	wideHosts = 1000 // some 60,000 pages, as many as a web of the other shape has
	wideShare = 12   // 8 % of hosts; a breadth-first crawl of the thesis has 9.26 % of its documents accepted

	// On a site of a field 86 % of the pages are about it, and they lie together: 97.6 %
	// of the links within a site from pages about the field lead to such, 17 % of those
	// from other pages.
	staysOn    = 0.976
	turnsOn    = 0.17
	pocketOn   = 0.003 // on sites of other subjects; not measured: it makes 1 % of their pages
	alone      = 0.51  // pages without a link to another host
	mostAway   = 13    // links of others to other hosts, on average 6.9
	awayOn     = 0.19  // of those links as many lead to hosts that are academic by their names; not more can stay on topic
	department = 0.34  // of the links to such hosts have a department's word in them
	falseDepts = 0.015 // of the links to others
	leadsOn    = 0.19  // of links have a word that is said to lead on, wherever they lead
	leadsBack  = 0.13  // of links to pages about a topic have one that is said to lead back or out
	otherBack  = 0.25  // of links to others
	photos     = 0.01  // of pages open a directory of photographs, 5 % are below one; not measured
	deep       = 0.02  // of pages lie below more than seven directories
	engine     = 10    // one in so many of the other hosts is known to the search engine; not measured
)

// sizes are those of the recorded sites at each tenth of them, those of more than 200
// pages cut off there, which is where a crawl leaves a host.
var sizes = []int{1, 4, 7, 11, 15, 19, 40, 80, 160, 200, 200}

// shape makes what the wide shape has of its own: sizes and departments of hosts.
func (w *Web) shape() {
	w.sizes, w.departments = make([]int, w.opt.Hosts), make([]string, w.opt.Hosts)
	for h := range w.opt.Hosts {
		r := w.random(fmt.Sprintf("host %d", h))
		at := r.Float64() * float64(len(sizes)-1)
		k := int(at)
		w.sizes[h] = sizes[k] + int((at-float64(k))*float64(sizes[k+1]-sizes[k]))
		t := w.topicOf(h)
		switch x := r.Float64(); {
		case t != offTopic && x < department:
			w.departments[h] = w.department(t)
		case t == offTopic && x < falseDepts:
			w.departments[h] = w.department(r.IntN(w.opt.Topics))
		}
	}
}

// department is the word that stands in the names of a topic's departments.
func (w *Web) department(t int) string { return "d" + w.topics[t][1] }

// wideAbout is what a page is about: a page off topic is rarely below one on topic,
// and the other way round.
func (w *Web) wideAbout(h, i int) int {
	own := w.topicOf(h)
	on, what := own != offTopic, own
	for _, at := range lineage(i) {
		r := w.random(fmt.Sprintf("about %d %d", h, at))
		x := r.Float64()
		switch {
		case w.section(h, at) == "photos":
			on = false
		case on:
			on = x < staysOn
		case own != offTopic:
			on = x < turnsOn
		case x < pocketOn:
			on, what = true, r.IntN(w.opt.Topics)
		}
	}
	if !on {
		return offTopic
	}
	return what
}

// lineage are the pages from below the front page of a host down to one.
func lineage(i int) (down []int) {
	for ; i > 0; i = (i - 1) / 3 {
		down = append(down, i)
	}
	slices.Reverse(down)
	return down
}

// section is the directory in which a page of the wide shape lies.
func (w *Web) section(h, i int) string {
	for _, at := range lineage(i) {
		if w.random(fmt.Sprintf("photos %d %d", h, at)).Float64() < photos {
			return "photos"
		}
	}
	if i > 0 && w.random(fmt.Sprintf("deep %d %d", h, i)).Float64() < deep {
		return "p/a/b/c/d/e/f/g"
	}
	return "p"
}

// mixed reports whether a page off topic says much of a topic all the same.
func (w *Web) mixed(h, i int) bool {
	return w.opt.Mixed > 0 && w.random(fmt.Sprintf("mixed %d %d", h, i)).Float64() < w.opt.Mixed
}

// said gives the words of the links of a page of the wide shape in turn: some that the
// page has to which one leads, and perhaps one that is said to lead on or back.
func (w *Web) said(of string) func(h, i int) string {
	r := w.random(of)
	return func(h, i int) string {
		anchor, back := w.anchor(h, i), otherBack
		if w.about(h, i) != offTopic {
			back = leadsBack
		}
		switch x := r.Float64(); {
		case x < leadsOn:
			return anchor + " research"
		case x < leadsOn+back:
			return anchor + " contact"
		}
		return anchor
	}
}

// wideAway are the pages of other hosts that a page of the wide shape links to. Hosts
// off topic are the more often linked to the smaller their number is.
func (w *Web) wideAway(h, i int) (to [][2]int) {
	r := w.random(fmt.Sprintf("away %d %d", h, i))
	if r.Float64() < alone {
		return nil
	}
	t := w.about(h, i)
	for range 1 + r.IntN(mostAway) {
		other := h
		switch {
		case t != offTopic && r.Float64() < awayOn:
			if near := w.near(t, h); len(near) > 0 {
				other = near[r.IntN(len(near))]
			}
		default:
			other = w.elsewhere(h, r, func() int {
				x := r.Float64()
				return int(x * x * float64(w.opt.Hosts))
			})
		}
		to = w.linked(to, h, other, r)
	}
	return to
}

// wideSearch ranks all pages of the hosts that the search engine knows by how often
// they have the query's word: the few of the topic, and one in ten of those off topic.
func (w *Web) wideSearch(t, n int) (urls []string) {
	type hit struct{ h, i, n int }
	var hits []hit
	near := w.near(t, w.of[t][0])
	look := func(h int) {
		for i := range w.size(h) {
			if n := strings.Count(" "+w.page(h, i).text()+" ", " "+w.name(t)+" "); n > 0 {
				hits = append(hits, hit{h, i, n})
			}
		}
	}
	for _, h := range near[:min(known, len(near))] {
		look(h)
	}
	for h := range w.opt.Hosts {
		if w.topicOf(h) == offTopic && h%engine == 1 {
			look(h)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.n, a.n) })
	for _, at := range hits[:min(n, len(hits))] {
		urls = append(urls, w.address(at.h, at.i))
	}
	return urls
}

// Others are pages that the search engine knows under other subjects than the topics:
// those of some hosts off topic.
func (w *Web) Others(n int) (urls []string) {
	for i := range w.opt.Pages {
		for h := range w.opt.Hosts {
			if w.topicOf(h) == offTopic && h%engine == 1 && i < w.size(h) && len(urls) < n {
				urls = append(urls, w.address(h, i))
			}
		}
	}
	return urls
}
