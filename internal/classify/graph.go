package classify

// Sure is the score from which a page counts.
const Sure = 0.5

// The constants of tunnelling (§4.7): what the score that the second layer asks for is
// multiplied with from when nothing of high priority waits, and how many new relevant
// sites end it.
const (
	tunnelGamma = 0.75
	TunnelSites = 30
)

// Graph tells the second layer of the revised context graph (§4.6), pages that lead to
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
type Link struct{ From, To string }

// leadFar is within how many links of a relevant page a page of the second layer is.
const leadFar = 5

// Leaders are the pages that lead to relevant ones in one to five links and are not
// relevant themselves, the examples of the second layer, in the order in which
// they are met from the relevant pages backwards.
func Leaders(links []Link, relevant map[string]bool) []string {
	back := map[string][]string{}
	for _, l := range links {
		back[l.To] = append(back[l.To], l.From)
	}
	far := map[string]int{}
	var ring, out []string
	for _, l := range links {
		for _, page := range []string{l.From, l.To} {
			if _, seen := far[page]; relevant[page] && !seen {
				far[page] = 0
				ring = append(ring, page)
			}
		}
	}
	for step := 1; step <= leadFar && len(ring) > 0; step++ {
		var next []string
		for _, page := range ring {
			for _, from := range back[page] {
				if _, seen := far[from]; seen {
					continue
				}
				far[from] = step
				next = append(next, from)
			}
		}
		ring, out = next, append(out, next...)
	}
	return out
}
