package classify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gleaner/internal/topic"
)

// Example is a labelled page, or a subject by its words.
type Example struct {
	Words   []string // as Words has them
	Topic   bool     // about the topic
	Site    string   // pages of one site are never parted in cross-validation
	Subject bool     // no page: always learnt from, never asked about
}

// Representation is how a page becomes a vector over the vocabulary (Chen 2008, §4.3.3.1).
// Every vector has length one.
type Representation string

// The best representation of the thesis (Table 10), and one of ours. A word's component is
// 1 + ln of how often the page holds it, times a weight of the word. RDF and RKF are
// differences between the topic and the rest, of the share of pages that hold the word and
// of the share that it has of all words; γ = Σ RDF / Σ RKF over the vocabulary. SiteIDF
// weighs by sites, so that no word is common for standing in one site's menu; no word is in
// its vocabulary by the number of its pages, but by two sites. On sites left out it is the
// best.
const (
	RDFGammaRKF Representation = "rdf+γ·rkf"
	SiteIDF     Representation = "tf·idf"
)

// minRDF is the RDF above which a word is in the vocabulary: the number of pages that hold
// it, or, of few pages, what its shares of those of the topic and of the rest come to, in
// percent.
const minRDF = 3

// maxVocabulary bounds the words of a vocabulary: those with the greatest weight stay.
const maxVocabulary = 20_000

// Vocabulary are the words that tell a topic, sorted, with a weight each.
type Vocabulary struct {
	Shape   Representation `json:"representation"`
	Words   []string       `json:"words"`
	Weights []float64      `json:"weights"` // by word, in the representation; for SiteIDF ln of one more than the sites over those that hold it
	IDF     []float64      `json:"idf"`     // by word: ln of pages over pages that hold it

	at map[string]int
}

// wordCount is in how many pages a word is and how often, by class (0: the rest,
// 1: the topic).
type wordCount struct{ pages, times [2]int }

// NewVocabulary measures the words of examples, which must be of both classes.
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

// sitesOf is on how many sites a word is, and how many there are.
func sitesOf(examples []Example) (of map[string]int, all int) {
	by := map[string][]Example{}
	for _, e := range examples {
		by[e.Site] = append(by[e.Site], e)
	}
	of = map[string]int{}
	for _, pages := range by {
		met := map[string]bool{}
		for _, p := range pages {
			for _, w := range p.Words {
				if !met[w] {
					met[w] = true
					of[w]++
				}
			}
		}
	}
	return of, len(by)
}

// measured is a word with its measures.
type measured struct {
	word                string
	rdf, rkf, idf, site float64
}

// choose fills the vocabulary with the words whose RDFs come to enough, for SiteIDF also with
// those of two sites.
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

// gammaOf is Σ RDF / Σ RKF, 1 where nothing has an RKF.
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

// vector is a page as it is compared: the places of its words in the vocabulary,
// rising, and their components, of length one; nothing where it knows no word.
type vector struct {
	At []int32   `json:"at"`
	X  []float32 `json:"x"`
}

// vector of a page's words.
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

// spread writes the components of a vector to their places in the vocabulary, in place of
// those that another one left there.
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

// product is the inner product with a vector that was spread.
func (a vector) product(wide []float64) float64 {
	var sum float64
	for k, i := range a.At {
		if int(i) >= len(wide) {
			break // they rise
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
