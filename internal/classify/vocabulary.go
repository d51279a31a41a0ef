package classify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/topic"
)

// Example is a labelled page, or a subject by its words.
type Example struct {
	Words   []string // as returned by Words
	Topic   bool     // about the topic
	Site    string   // cross-validation never splits a site
	Subject bool     // not a page: only for training
}

// Representation is the form of a page's vector over the vocabulary (Chen 2008, §4.3.3.1). Every
// vector has length one.
type Representation string

// The best representation of the thesis (Table 10), and one of ours. The component of a word is 1
// + ln of its count in the page, times its weight. RDF and RKF are differences between the topic
// and the rest, of the share of pages with the word and of its share of all words; γ = Σ RDF / Σ
// RKF over the vocabulary. SiteIDF weights by sites, so that words of one site's menu are not
// frequent. Its vocabulary has words of two sites whatever their number of pages. It is the best
// on held-out sites.
const (
	RDFGammaRKF Representation = "rdf+γ·rkf"
	SiteIDF     Representation = "tf·idf"
)

// minRDF is the RDF above which a word is in the vocabulary: the number of its pages, or for few
// pages the difference of its shares in percent.
const minRDF = 3

// maxVocabulary is the maximum number of words; those of greatest weight stay.
const maxVocabulary = 20_000

// Vocabulary holds the words that indicate a topic, sorted, with their weights.
type Vocabulary struct {
	Shape   Representation `json:"representation"`
	Words   []string       `json:"words"`
	Weights []float64      `json:"weights"` // by word, in the representation; for SiteIDF ln of one more than the sites over those that hold it
	IDF     []float64      `json:"idf"`     // by word: ln of pages over pages that hold it

	at map[string]int
}

// wordCount counts the pages with a word and its occurrences, by class (0: the rest, 1: the
// topic).
type wordCount struct{ pages, times [2]int }

// NewVocabulary returns the vocabulary of examples, which must be of both classes.
func NewVocabulary(examples []Example, shape Representation) (*Vocabulary, error) {
	counts := map[string]*wordCount{}
	var pages, times [2]int
	for _, e := range examples {
		k := class(e.Topic)
		pages[k]++
		for w, n := range topic.Count(e.Words) {
			c := counts[w]
			if c == nil {
				c = &wordCount{}
				counts[w] = c
			}
			c.pages[k]++
			c.times[k] += n
			times[k] += n
		}
	}
	if pages[0] == 0 || pages[1] == 0 {
		return nil, fmt.Errorf("%w: %d pages about the topic, %d others", ErrExamples, pages[1], pages[0])
	}
	v := &Vocabulary{Shape: shape}
	sites, all := sitesOf(examples)
	v.choose(counts, sites, pages, times, all)
	if len(v.Words) == 0 {
		return nil, fmt.Errorf("%w: no word is frequent enough", ErrExamples)
	}
	v.index()
	return v, nil
}

// sitesOf counts the sites of each word, and all sites.
func sitesOf(examples []Example) (of map[string]int, all int) {
	by := each.By(examples, func(e Example) string { return e.Site })
	of = map[string]int{}
	for _, pages := range by {
		words := each.Of(pages, func(e Example) []string { return e.Words })
		for w := range topic.Count(slices.Concat(words...)) {
			of[w]++
		}
	}
	return of, len(by)
}

// measured is a word with its measures.
type measured struct {
	word                string
	rdf, rkf, idf, site float64
}

// choose sets the words of the vocabulary: those with a sufficient RDF, for SiteIDF also those of
// two sites.
func (v *Vocabulary) choose(counts map[string]*wordCount, sites map[string]int, pages, times [2]int, allSites int) {
	var all []measured
	for w, c := range counts {
		rdf := [2]float64{percent(c.pages[0], pages[0]), percent(c.pages[1], pages[1])}
		also := c.pages[0]+c.pages[1] > minRDF
		if v.Shape == SiteIDF {
			also = sites[w] > 1
		}
		if also || rdf[0]+rdf[1] > minRDF {
			all = append(all, measured{word: w,
				rdf:  math.Abs(rdf[1] - rdf[0]),
				rkf:  math.Abs(percent(c.times[1], times[1]) - percent(c.times[0], times[0])),
				idf:  math.Log(float64(pages[0]+pages[1]) / float64(c.pages[0]+c.pages[1])),
				site: math.Log(float64(allSites+1) / float64(sites[w]))})
		}
	}
	slices.SortFunc(all, func(a, b measured) int {
		return cmp.Or(cmp.Compare(b.rdf, a.rdf), strings.Compare(a.word, b.word))
	})
	all = all[:min(len(all), maxVocabulary)]
	slices.SortFunc(all, func(a, b measured) int { return strings.Compare(a.word, b.word) })
	gamma := gammaOf(all)
	for _, m := range all {
		v.Words = append(v.Words, m.word)
		v.IDF = append(v.IDF, m.idf)
		v.Weights = append(v.Weights, m.weight(v.Shape, gamma))
	}
}

// gammaOf returns Σ RDF / Σ RKF, or 1 if all RKF are 0.
func gammaOf(all []measured) float64 {
	var sumD, sumK float64
	for _, m := range all {
		sumD += m.rdf
		sumK += m.rkf
	}
	if sumK == 0 {
		return 1
	}
	return sumD / sumK
}

func (m measured) weight(shape Representation, gamma float64) float64 {
	if shape == RDFGammaRKF {
		return m.rdf + gamma*m.rkf
	}
	return m.site
}

func (v *Vocabulary) index() {
	v.at = make(map[string]int, len(v.Words))
	for i, w := range v.Words {
		v.at[w] = i
	}
}

// vector is a page for comparison: the ascending indices of its words in the vocabulary and their
// components, of length one, or empty without known words.
type vector struct {
	At []int32   `json:"at"`
	X  []float32 `json:"x"`
}

// vector returns the vector of a page's words.
func (v *Vocabulary) vector(words []string) vector {
	bag := topic.Count(words)
	var at []int32
	for w := range bag {
		if i, ok := v.at[w]; ok && v.Weights[i] > 0 {
			at = append(at, int32(i)) //nolint:gosec // bounded by maxVocabulary
		}
	}
	slices.Sort(at)
	x, sum := make([]float64, len(at)), 0.0
	for k, i := range at {
		x[k] = (1 + math.Log(float64(bag[v.Words[i]]))) * v.Weights[i]
		sum += x[k] * x[k]
	}
	out := vector{At: at, X: make([]float32, len(at))}
	for k := range x {
		out.X[k] = float32(x[k] / math.Sqrt(sum))
	}
	return out
}

// spread writes the components of a vector to dense form, in place of the last one.
func (a vector) spread(wide []float64) []float64 {
	clear(wide)
	if n := len(a.At); n > 0 && int(a.At[n-1]) >= len(wide) {
		wide = make([]float64, a.At[n-1]+1)
	}
	for k, i := range a.At {
		wide[i] = float64(a.X[k])
	}
	return wide
}

// product returns the inner product with a dense vector.
func (a vector) product(wide []float64) float64 {
	var sum float64
	for k, i := range a.At {
		if int(i) >= len(wide) {
			break // ascending
		}
		sum += float64(a.X[k]) * wide[i]
	}
	return sum
}

func class(topic bool) int {
	if topic {
		return 1
	}
	return 0
}

func percent(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return 100 * float64(a) / float64(b)
}
