package classify

import (
	"maps"
	"slices"

	"gleaner/internal/each"
)

// Sure is the score from which a page counts.
const Sure = 0.5

// The constants of tunnelling (§4.3.5): what the score that the second layer asks for is
// multiplied with from when nothing of high priority waits, and how many new relevant
// sites end it.
const (
	tunnelGamma = 0.75
	TunnelSites = 30
)

// Graph tells the second layer of the revised context graph (§4.3.4), pages that lead to
// pages about the topic within a few links, from the rest.
type Graph struct {
	Second     *Classifier // nil knows no such page
	Tunnelling bool
}

// Leads reports whether a page is of the second layer, by its words.
func (g *Graph) Leads(words []string) bool {
	return g.Second != nil && g.Second.Score(words) >= Sure*g.Gamma()
}

// Gamma is what the second layer's threshold is multiplied with: 1, or 0.75 while
// tunnelling.
func (g *Graph) Gamma() float64 {
	if g.Tunnelling {
		return tunnelGamma
	}
	return 1
}

// Link is one link of the record, from page to page.
type Link struct{ From, To int }

// leadFar is within how many links of a relevant page a page of the second layer is.
const leadFar = 5

// Leaders are the pages that lead to relevant ones in one to five links and are not
// relevant themselves, by the back links of these: the examples of the second layer,
// nearest first, each distance on its own.
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
