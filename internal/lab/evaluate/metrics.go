package evaluate

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gleaner/internal/each"
	"gleaner/internal/web/weburl"
)

// Shares are the shares of the papers to which requests are counted.
var Shares = []float64{0.50, 0.85, 0.95, 1}

// Answered is the run without the requests that brought nothing.
func (r Run) Answered() []Step {
	return each.Where(r.Steps, func(s Step) bool { return !s.Failed })
}

// Order lists the identities asked for, in order, failures left out.
func (r Run) Order() []string {
	return each.Of(r.Answered(), func(s Step) string { return weburl.Key(s.URL) })
}

// Goals has the papers to be reached, by the identities of their documents.
type Goals map[string]string

// Papers is how many papers these are: each counts once, whichever of its copies is reached.
func (g Goals) Papers() int {
	return len(slices.Compact(slices.Sorted(maps.Values(g))))
}

// Goals are those that the run reached.
func (r Run) Goals() Goals {
	out := Goals{}
	for _, s := range r.Steps {
		if s.Goal != "" {
			out[weburl.Key(s.URL)] = s.Goal
		}
	}
	return out
}

// RequestsTo is how many requests of an order reach a share of the goals; 0
// when it never does.
func RequestsTo(order []string, goals Goals, share float64) int {
	need := share * float64(goals.Papers())
	got := map[string]bool{}
	for i, u := range order {
		if p := goals[u]; p != "" {
			got[p] = true
		}
		if float64(len(got)) >= need-1e-9 {
			return i + 1
		}
	}
	return 0
}

// Saving is the share of the possible saving: 0 for breadth-first, 1 for the
// oracle. It is NaN where there is nothing to save.
func Saving(requests, breadthFirst, oracle int) float64 {
	switch {
	case breadthFirst <= oracle || requests == 0:
		return math.NaN()
	}
	return float64(breadthFirst-requests) / float64(breadthFirst-oracle)
}

// Oracle is about the fewest requests that reach all goals: always the nearest
// goal next, by a crawler that knows the links of the site. graph maps each
// identity to what it links to, in page order.
func Oracle(start string, graph map[string][]string, goals Goals) []string {
	have := map[string]bool{start: true}
	out := []string{start}
	left := map[string]bool{}
	for g, paper := range goals {
		if _, ok := graph[g]; ok && g != start {
			left[paper] = true
		}
	}
	for len(left) > 0 {
		parent := map[string]string{}
		queue := append([]string(nil), out...)
		hit := ""
		for len(queue) > 0 && hit == "" {
			c := queue[0]
			queue = queue[1:]
			for _, d := range graph[c] {
				if _, known := parent[d]; known || have[d] {
					continue
				}
				if _, ok := graph[d]; !ok {
					continue
				}
				parent[d] = c
				if left[goals[d]] {
					hit = d
					break
				}
				queue = append(queue, d)
			}
		}
		if hit == "" {
			break
		}
		delete(left, goals[hit])
		var chain []string
		for ; !have[hit]; hit = parent[hit] {
			chain = append(chain, hit)
		}
		for i := len(chain) - 1; i >= 0; i-- {
			have[chain[i]] = true
			out = append(out, chain[i])
		}
	}
	return out
}

// Graph is the link graph that a whole run saw.
func (r Run) Graph() map[string][]string {
	graph, came := map[string][]string{}, map[string]string{}
	for _, s := range r.Answered() {
		came[weburl.Key(s.Candidate.Link.URL)] = weburl.Key(s.URL) // redirected
	}
	for _, s := range r.Answered() {
		var to []string
		if s.Page != nil {
			for _, l := range s.Page.Links {
				k := weburl.Key(l.URL)
				to = append(to, cmp.Or(came[k], k))
			}
		}
		graph[weburl.Key(s.URL)] = to
	}
	return graph
}
