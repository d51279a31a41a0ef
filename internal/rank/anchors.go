package rank

import (
	"cmp"
	"maps"
	"slices"

	"gleaner/internal/each"
)

// Bounds of learning the words of links.
const (
	anchorSites     = 5    // sites that must have links with a word
	anchorNever     = 0.05 // greatest share of links to relevant pages for a word that leads out
	anchorMostly    = 0.5  // least share for a word that leads on
	maxAnchors      = 200  // words of each kind
	maxWordsPerSite = 5000 // words counted per site, since a site may generate any number
)

// Anchor is a word of links.
type Anchor struct {
	Word  string  `json:"word"`
	Sites int     `json:"sites"` // sites with such links
	Share float64 `json:"share"` // of these links to relevant pages, as the mean over sites
}

// Anchors learns which words of links lead to relevant pages. It averages over sites, not links,
// since the words of one site's menu tell nothing about other sites.
type Anchors struct {
	by map[string]map[string]*anchorCount
	of map[string]int // words of each site
}

type anchorCount struct{ links, relevant float64 }

// Add counts a link on a page of a site, and whether it leads to a relevant page.
func (a *Anchors) Add(site, anchor string, relevant bool) {
	if a.by == nil {
		a.by, a.of = map[string]map[string]*anchorCount{}, map[string]int{}
	}
	text := words(anchor)
	slices.Sort(text)
	for _, w := range slices.Compact(text) {
		n := a.by[w][site]
		if n == nil && a.of[site] == maxWordsPerSite {
			continue
		}
		if n == nil {
			if a.by[w] == nil {
				a.by[w] = map[string]*anchorCount{}
			}
			n = &anchorCount{}
			a.by[w][site] = n
			a.of[site]++
		}
		n.links++
		if relevant {
			n.relevant++
		}
	}
}

// Lists returns the words that on several sites (nearly) never lead to a relevant page, and those
// that mostly do. Words of the most sites come first.
func (a *Anchors) Lists() (out, on []Anchor) {
	for _, w := range slices.Sorted(maps.Keys(a.by)) {
		sites := a.by[w]
		if len(sites) < anchorSites {
			continue
		}
		one := Anchor{Word: w, Sites: len(sites)}
		for _, site := range slices.Sorted(maps.Keys(sites)) {
			one.Share += sites[site].relevant / sites[site].links
		}
		one.Share /= float64(len(sites))
		switch {
		case one.Share <= anchorNever:
			out = append(out, one)
		case one.Share >= anchorMostly:
			on = append(on, one)
		}
	}
	return weightiest(out), weightiest(on)
}

func weightiest(all []Anchor) []Anchor {
	slices.SortStableFunc(all, func(a, b Anchor) int { return cmp.Compare(b.Sites, a.Sites) })
	return all[:min(len(all), maxAnchors)]
}

// With returns the lists with learnt words added: pruning are words of links out of relevant
// pages, extracting are words of links to them.
func (l Lists) With(pruning, extracting []Anchor) Lists {
	add := func(to []string, learnt []Anchor) []string {
		return slices.Concat(to, each.Of(learnt, func(a Anchor) string { return a.Word }))
	}
	l.PruningAnchors, l.ExtractingAnchors = add(l.PruningAnchors, pruning), add(l.ExtractingAnchors, extracting)
	return l
}
