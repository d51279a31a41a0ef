package topic

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gleaner/internal/each"
)

// Page is what is classified.
type Page struct {
	URL, Title, Text string
}

// Score is how like a topic a page is.
type Score struct {
	Topic       string  `json:"topic"`
	Correlation float64 `json:"correlation"` // 0 to 1
}

// Classifier says which topics a page is like, the best first; none for a page that
// is like none.
type Classifier interface {
	Classify(p Page) []Score
	Topics() []string // that it knows
}

// Model is what topics are like, as it is stored.
type Model struct {
	Options   Options        `json:"options"`
	Centroids []Centroid     `json:"centroids"`
	N         int            `json:"n"`  // documents that the document frequencies are of
	DF        map[string]int `json:"df"` // of the dictionary's words: in how many of them each occurs

	// Checks are those of the pages that made the centroids, by what decided when they did.
	Checks []Check `json:"checks,omitempty"`
}

// Relearnt is the model with the document frequencies of other pages added to those
// that it has: how many they are, and in how many of them each word occurs.
func (m *Model) Relearnt(n int, df map[string]int) *Model {
	out := *m
	out.N, out.DF = m.N+n, map[string]int{}
	for w, had := range m.DF {
		out.DF[w] = had + df[w]
	}
	return &out
}

// Alone reports whether there is one topic, with no other beside it: all pages that the
// document frequencies are of are about it, and what they all say would tell nothing. As
// many pages that have no word of it stand for the rest of the web then.
func (m *Model) Alone() bool { return len(m.Centroids) == 1 }

// documents is how many there are for the inverse document frequencies.
func (m *Model) documents() int {
	if m.Alone() {
		return m.N + m.Centroids[0].Pages
	}
	return m.N
}

// Vectors classifies by the correlation with centroids.
type Vectors struct {
	filter    *Filter
	overlap   int
	idf       map[string]float64 // of the dictionary
	centroids []Centroid
	norms     []float64
}

// Vectors makes a model ready.
func (m *Model) Vectors(f *Filter) *Vectors {
	v := &Vectors{filter: f, overlap: m.Options.Overlap, idf: map[string]float64{}, centroids: m.Centroids}
	for w, df := range m.DF {
		if df > 0 {
			v.idf[w] = math.Log(float64(m.documents()) / float64(df))
		}
	}
	for _, c := range m.Centroids {
		v.norms = append(v.norms, c.norm())
	}
	return v
}

func (v *Vectors) Topics() []string {
	return each.Of(v.centroids, func(c Centroid) string { return c.Topic })
}

// Counts says how often words of the dictionary occur in a page.
func (v *Vectors) Counts(p Page) map[string]int {
	n := v.filter.Counts(p)
	maps.DeleteFunc(n, func(w string, _ int) bool { _, is := v.idf[w]; return !is })
	return n
}

// Hint is which share of the words of a text, such as a link's, are of the dictionary.
func (v *Vectors) Hint(text string) float64 {
	words, of := v.filter.Words(text), 0
	for _, w := range words {
		if _, is := v.idf[w]; is {
			of++
		}
	}
	return float64(of) / float64(max(1, len(words)))
}

// Classify implements Classifier. Centroids with which the page has too few words in
// common do not count.
func (v *Vectors) Classify(p Page) []Score { return v.scores(v.Counts(p)) }

func (v *Vectors) Scores(p Sample) []Score { return v.scores(p.Counts) }

// scores are the correlations of a page with these counts: of its vector of unit
// length with each centroid, by that one's length.
func (v *Vectors) scores(counts map[string]int) (out []Score) {
	square := 0.0
	for w, n := range counts {
		x := float64(n) * v.idf[w]
		square += x * x
	}
	if square == 0 {
		return nil
	}
	for i, c := range v.centroids {
		dot, common := 0.0, 0
		for w, weight := range c.Weights {
			if n := counts[w]; n > 0 {
				common++
				dot += weight * float64(n) * v.idf[w]
			}
		}
		if common >= v.overlap && dot > 0 {
			// The order of a map is another each time; a sum's last digits must not be.
			out = append(out, Score{c.Topic, rounded(dot / (v.norms[i] * math.Sqrt(square)))})
		}
	}
	slices.SortStableFunc(out, func(a, b Score) int { return cmp.Compare(b.Correlation, a.Correlation) })
	return out
}

func rounded(x float64) float64 { return math.Round(x*1e9) / 1e9 }
