package classify

import "gleaner/internal/learn"

// SiteFolds distributes whole sites over k folds, alternating sites with pages about the topic
// and sites without, in order of appearance, so that every fold has both.
func SiteFolds(examples []Example, k int) []learn.Fold {
	has := map[string]bool{}
	var sites []string
	pages := pageIndices(examples)
	for _, e := range learn.Pick(examples, pages) {
		if _, met := has[e.Site]; !met {
			sites = append(sites, e.Site)
		}
		has[e.Site] = has[e.Site] || e.Topic
	}
	at := map[string]int{}
	var dealt [2]int
	for _, s := range sites {
		c := class(has[s])
		at[s] = dealt[c] % k
		dealt[c]++
	}
	out := make([]learn.Fold, k)
	for f := range out {
		for i, e := range examples {
			if !e.Subject && at[e.Site] == f {
				out[f].Test = append(out[f].Test, i)
			} else {
				out[f].Train = append(out[f].Train, i)
			}
		}
	}
	return out
}
