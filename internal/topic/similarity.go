package topic

import (
	"cmp"
	"math"
	"slices"
)

// Pair is how like each other two topics' centroids are (figure 4 of the paper).
type Pair struct {
	A           string  `json:"a"`
	B           string  `json:"b"`
	Correlation float64 `json:"correlation"`
}

// Similarity is the cosine of each two centroids, the most alike first: topics that
// are too like each other to be told apart stand at the top.
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

// Check is whether the pages that made a centroid fall to it.
type Check struct {
	Topic string `json:"topic"`
	Pages int    `json:"pages"`
	Own   int    `json:"own"` // those of them that its collection would take
}

// EnoughOwn is the share of the pages that made a centroid which fall to it, at least,
// in a model that tells its topics apart.
const EnoughOwn = 0.9

// Scorer scores pages of which the words are known, as a Classifier does others.
type Scorer interface {
	Scores(p Sample) []Score
}

// SelfCheck has the pages that made the centroids judged as those of a crawl are, by all
// that keeps a page out of a collection but that it is full. A page that was given for
// several topics is right for each of them.
func (m *Model) SelfCheck(by Scorer, pages []Sample) []Check {
	of := map[string]map[string]bool{} // URL → topics
	for _, p := range pages {
		if of[p.URL] == nil {
			of[p.URL] = map[string]bool{}
		}
		of[p.URL][p.Topic] = true
	}
	empty := func(string) Standing { return Standing{} }
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

// Own is the share of the pages that made a centroid which fall to it, and, where that is
// less than EnoughOwn, the topics of which it is.
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
