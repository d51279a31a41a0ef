package classify

import (
	"maps"
	"slices"

	"gleaner/internal/each"
)

// Sure is the score from which a page counts.
const Sure = 0.5

// Constants of tunnelling (§4.3.5): the factor of the second layer's threshold while no link of
// high priority waits, and the number of new relevant sites that ends it.
const (
	tunnelGamma = 0.75
	TunnelSites = 30
)

// Graph finds pages of the second layer of the revised context graph (§4.3.4), which lead to
// pages about the topic within a few links.
type Graph struct {
	Second     *Classifier // nil: no page is of the second layer
	Tunnelling bool
}

// Leads reports whether a page with these words is of the second layer.
func (g *Graph) Leads(words []string) bool {
	return g.Second != nil && g.Second.Score(words) >= Sure*g.Gamma()
}

// Gamma returns the factor of the second layer's threshold: 1, or 0.75 while tunnelling.
func (g *Graph) Gamma() float64 {
	if g.Tunnelling {
		return tunnelGamma
	}
	return 1
}

// Link is one link of the record, from page to page.
type Link struct{ From, To int }

// leadFar is the greatest number of links from a page of the second layer to a relevant page.
const leadFar = 5

// Leaders returns the pages that are not relevant and lead to relevant ones in one to five links,
// found by back links. They are the examples of the second layer, grouped by distance, nearest
// first.
func Leaders(links []Link, relevant map[int]bool) (rings [][]int) {
	back := map[int][]int{}
	for _, l := range links {
		back[l.To] = append(back[l.To], l.From)
	}
	ring := slices.Sorted(maps.Keys(relevant))
	seen := each.Members(ring)
	for range leadFar {
		var next []int
		for _, page := range ring {
			for _, from := range back[page] {
				if !seen[from] {
					seen[from] = true
					next = append(next, from)
				}
			}
		}
		if len(next) == 0 {
			break
		}
		ring, rings = next, append(rings, next)
	}
	return rings
}
