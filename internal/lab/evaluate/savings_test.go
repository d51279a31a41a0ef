package evaluate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gleaner/internal/each"
)

// measured are the places in Shares of what savings look at: 85 and 95 %.
var measured = [2]int{1, 2}

// late is the share of the possible saving under which a crawl is behind
// breadth-first.
const late = -0.02

// savings sum up, strategy by strategy, what was saved on many sites.
type savings map[string]*saving

type saving struct {
	values [2][]float64 // one for each of measured
	names  [2][]string  // of the sites, with requests
}

// add counts a site, if it has papers enough.
func (s savings) add(c Comparison) {
	if c.Papers < MinPapers {
		return
	}
	for _, r := range c.Results {
		one := s[r.Strategy]
		if one == nil {
			one = &saving{}
			s[r.Strategy] = one
		}
		for i, at := range measured {
			if reach := r.Reach[at]; reach.Saving != nil {
				one.values[i] = append(one.values[i], *reach.Saving)
				one.names[i] = append(one.names[i], fmt.Sprintf("%s: %d requests, %d by breadth-first, %+.2f", c.Site, reach.Requests, c.Results[0].Reach[at].Requests, *reach.Saving))
			}
		}
	}
}

// behind names the sites on which it was.
func (s *saving) behind(i int) []string {
	var out []string
	for j, v := range s.values[i] {
		if v < late {
			out = append(out, s.names[i][j])
		}
	}
	return out
}

// worst names the n sites on which least was saved.
func (s *saving) worst(i, n int) []string {
	order := make([]int, len(s.values[i]))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.values[i][a], s.values[i][b]) })
	return each.Of(order[:min(n, len(order))], func(j int) string { return s.names[i][j] })
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// String is one line: to 85 and to 95 % of the papers the median, the lowest
// tenth, the worst, and how often it was behind breadth-first.
func (s *saving) String() string {
	var out []string
	for i, at := range measured {
		v := slices.Sorted(slices.Values(s.values[i]))
		if len(v) == 0 {
			out = append(out, "nothing to save")
			continue
		}
		out = append(out, fmt.Sprintf("to %2.0f %%: median %+.3f, lowest tenth %+.3f, worst %+.3f, behind %d of %d", 100*Shares[at], median(v), v[len(v)/10], v[0], len(s.behind(i)), len(v)))
	}
	return strings.Join(out, "; ")
}
