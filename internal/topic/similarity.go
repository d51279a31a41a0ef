package topic

import (
	"cmp"
	"math"
	"slices"
)

// Pair is the similarity of two topics' centroids (figure 4 of the paper).
type Pair struct {
	A           string  `json:"a"`
	B           string  `json:"b"`
	Correlation float64 `json:"correlation"`
}

// Similarity returns the cosine of each pair of centroids in descending order, so that topics too
// similar to distinguish come first.
func (m *Model) Similarity() []Pair {
	var out []Pair
	for i, a := range m.Centroids {
		for _, b := range m.Centroids[i+1:] {
			dot := 0.0
			for w, x := range a.Weights {
				dot += x * b.Weights[w]
			}
			if n := a.norm() * b.norm(); n > 0 {
				dot /= n
			}
			out = append(out, Pair{a.Topic, b.Topic, rounded(math.Min(dot, 1))})
		}
	}
	slices.SortStableFunc(out, func(a, b Pair) int { return cmp.Compare(b.Correlation, a.Correlation) })
	return out
}

// Check counts the pages of a centroid that the model assigns to its topic.
type Check struct {
	Topic string `json:"topic"`
	Pages int    `json:"pages"`
	Own   int    `json:"own"` // pages that its collection would accept
}

// EnoughOwn is the least share of the pages of centroids that a good model assigns to their
// topics.
const EnoughOwn = 0.9

// Scorer scores pages given as counts of words.
type Scorer interface {
	Scores(p Sample) []Score
}

// SelfCheck classifies the pages of the centroids like those of a crawl, by all rules of a
// collection except its size. A page of several topics is correct for each of them.
func (m *Model) SelfCheck(by Scorer, pages []Sample) []Check {
	of := map[string]map[string]bool{} // URL → topics
	for _, p := range pages {
		if of[p.URL] == nil {
			of[p.URL] = map[string]bool{}
		}
		of[p.URL][p.Topic] = true
	}
	empty := func(string) Progress { return Progress{} }
	var checks []Check
	for _, c := range m.Centroids {
		check := Check{Topic: c.Topic}
		for _, p := range pages {
			if p.Topic != c.Topic {
				continue
			}
			check.Pages++
			v := m.Options.Decide(by.Scores(p), 0, empty)
			if slices.ContainsFunc(v.Entries, func(s Score) bool { return of[p.URL][s.Topic] }) {
				check.Own++
			}
		}
		checks = append(checks, check)
	}
	return checks
}

// Own returns the share of pages assigned to their own centroid, and the topics for which it is
// less than EnoughOwn.
func Own(checks []Check) (share float64, unsure []Check) {
	all, own := 0, 0
	for _, c := range checks {
		all, own = all+c.Pages, own+c.Own
		if float64(c.Own) < EnoughOwn*float64(c.Pages) {
			unsure = append(unsure, c)
		}
	}
	if all == 0 {
		return 0, nil
	}
	if share = float64(own) / float64(all); share >= EnoughOwn {
		unsure = nil
	}
	return share, unsure
}
