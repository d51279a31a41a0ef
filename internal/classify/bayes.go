package classify

import (
	"maps"
	"math"
	"slices"

	"gleaner/internal/topic"
)

// Bayes is a multinomial naïve Bayes classifier (§4.3.3.2). It is trained on raw counts plus 0.5,
// and classifies the words of a page weighted by tf·idf.
type Bayes struct {
	Prior float64   `json:"prior"` // log odds of the topic among the examples
	Odds  []float64 `json:"odds"`  // by word of the vocabulary: ln P(word | topic) − ln P(word | rest)
}

// bayesSmoothing is added to the count of every word.
const bayesSmoothing = 0.5

func trainBayes(v *Vocabulary, examples []Example) *Bayes {
	counts := [2][]float64{make([]float64, len(v.Words)), make([]float64, len(v.Words))}
	var total, pages [2]float64
	for _, e := range examples {
		k := class(e.Topic)
		pages[k]++
		for _, w := range e.Words {
			if i, ok := v.at[w]; ok {
				counts[k][i]++
				total[k]++
			}
		}
	}
	m := &Bayes{Prior: math.Log(pages[1] / pages[0]), Odds: make([]float64, len(v.Words))}
	smooth := bayesSmoothing * float64(len(v.Words))
	for i := range v.Words {
		m.Odds[i] = math.Log((counts[1][i]+bayesSmoothing)/(total[1]+smooth)) -
			math.Log((counts[0][i]+bayesSmoothing)/(total[0]+smooth))
	}
	return m
}

// margin returns the log odds of a page per unit of tf·idf, so that its length does not matter.
// Above 0 the page is about the topic.
func (m *Bayes) margin(v *Vocabulary, words []string) float64 {
	sum, weights := m.Prior, 1.0
	bag := topic.Count(words)
	for _, w := range slices.Sorted(maps.Keys(bag)) { // sums depend on the order
		if i, ok := v.at[w]; ok {
			x := float64(bag[w]) * v.IDF[i]
			sum += x * m.Odds[i]
			weights += x
		}
	}
	return sum / weights
}
