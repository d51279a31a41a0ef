package topic

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gleaner/internal/each"
)

// Page is a page to be classified.
type Page struct {
	URL, Title, Text string
}

// Score is the similarity of a page and a topic.
type Score struct {
	Topic       string  `json:"topic"`
	Correlation float64 `json:"correlation"` // 0 to 1
}

// Classifier returns the topics similar to a page, the best first.
type Classifier interface {
	Classify(p Page) []Score
	Topics() []string // of the classifier
}

// Model is the stored form of topics.
type Model struct {
	Options   Options        `json:"options"`
	Centroids []Centroid     `json:"centroids"`
	N         int            `json:"n"`  // number of documents of DF
	DF        map[string]int `json:"df"` // number of documents with each word of the dictionary

	// Checks are the results for the pages of the centroids, by the classifier of that time.
	Checks []Check `json:"checks,omitempty"`
}

// Relearnt returns the model with the document frequencies df of n other pages added.
func (m *Model) Relearnt(n int, df map[string]int) *Model {
	out := *m
	out.N, out.DF = m.N+n, map[string]int{}
	for w, had := range m.DF {
		out.DF[w] = had + df[w]
	}
	return &out
}

// Alone reports whether there is only one topic. All documents are then about it, so their
// frequencies distinguish nothing. As many pages without its words then stand for the rest of the
// web.
func (m *Model) Alone() bool { return len(m.Centroids) == 1 }

// documents returns the number of documents for inverse document frequencies.
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

// Vectors returns the classifier of a model.
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

// Counts returns the counts of dictionary words in a page.
func (v *Vectors) Counts(p Page) map[string]int {
	n := v.filter.Counts(p)
	maps.DeleteFunc(n, func(w string, _ int) bool { _, is := v.idf[w]; return !is })
	return n
}

// Hint returns the share of dictionary words in a text, such as that of a link.
func (v *Vectors) Hint(text string) float64 {
	words, of := v.filter.Words(text), 0
	for _, w := range words {
		if _, is := v.idf[w]; is {
			of++
		}
	}
	return float64(of) / float64(max(1, len(words)))
}

// Classify implements Classifier. It ignores centroids that share too few words with the page.
func (v *Vectors) Classify(p Page) []Score { return v.scores(v.Counts(p)) }

func (v *Vectors) Scores(p Sample) []Score { return v.scores(p.Counts) }

// scores returns the correlations of a page with these counts: of its vector of unit length with
// each centroid, divided by the centroid's length.
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
			// Rounded, since the order of a map changes the last digits of a sum.
			out = append(out, Score{c.Topic, rounded(dot / (v.norms[i] * math.Sqrt(square)))})
		}
	}
	slices.SortStableFunc(out, func(a, b Score) int { return cmp.Compare(b.Correlation, a.Correlation) })
	return out
}

func rounded(x float64) float64 { return math.Round(x*1e9) / 1e9 }
