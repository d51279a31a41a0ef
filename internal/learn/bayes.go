package learn

import (
	"fmt"
	"math"
	"slices"
)

// NaiveBayes is a multinomial naïve Bayes over terms whose counts are weighted
// by tf·idf, smoothing 0.5 (Chen 2008, CINDI Robot, Link Analyzer: once there
// are many examples).
type NaiveBayes struct {
	Smoothing float64              `json:"smoothing"`
	IDF       TFIDF                `json:"idf"`
	Classes   []string             `json:"classes"`
	Prior     []float64            `json:"prior"` // log
	Terms     map[string][]float64 `json:"terms"` // term: log likelihood by class
	Unseen    []float64            `json:"unseen"`
}

// TrainNaiveBayes learns from token lists; tokens and labels have one length.
// The error is ErrExamples with fewer than two classes.
func TrainNaiveBayes(tokens [][]string, labels []string) (*NaiveBayes, error) {
	m := &NaiveBayes{Smoothing: 0.5}
	for _, l := range labels {
		if !slices.Contains(m.Classes, l) {
			m.Classes = append(m.Classes, l)
		}
	}
	slices.Sort(m.Classes)
	if len(m.Classes) < 2 || len(tokens) != len(labels) {
		return nil, fmt.Errorf("%w: %d texts, %d labels of %d classes", ErrExamples, len(tokens), len(labels), len(m.Classes))
	}
	for _, t := range tokens {
		m.IDF.Add(t)
	}
	weights, totals, docs := m.gather(tokens, labels)
	for k := range m.Classes {
		m.Prior = append(m.Prior, math.Log(docs[k]/float64(len(labels))))
	}
	m.settle(weights, totals)
	return m, nil
}

func (m *NaiveBayes) gather(tokens [][]string, labels []string) (weights map[string][]float64, totals, docs []float64) {
	weights = map[string][]float64{}
	totals, docs = make([]float64, len(m.Classes)), make([]float64, len(m.Classes))
	for i, t := range tokens {
		k := indexOf(m.Classes, labels[i])
		docs[k]++
		for _, w := range t {
			if weights[w] == nil {
				weights[w] = make([]float64, len(m.Classes))
			}
			x := m.IDF.IDF(w)
			weights[w][k] += x
			totals[k] += x
		}
	}
	return weights, totals, docs
}

func (m *NaiveBayes) settle(weights map[string][]float64, totals []float64) {
	m.Terms = make(map[string][]float64, len(weights))
	size := float64(len(weights) + 1)
	for k := range m.Classes {
		m.Unseen = append(m.Unseen, math.Log(m.Smoothing/(totals[k]+m.Smoothing*size)))
	}
	for w, v := range weights {
		logs := make([]float64, len(v))
		for k, x := range v {
			logs[k] = math.Log((x + m.Smoothing) / (totals[k] + m.Smoothing*size))
		}
		m.Terms[w] = logs
	}
}

// Probabilities returns one probability for each of Classes. Words never seen
// in training say nothing and are left out.
func (m *NaiveBayes) Probabilities(tokens []string) []float64 {
	s := slices.Clone(m.Prior)
	for _, w := range tokens {
		logs, ok := m.Terms[w]
		if !ok {
			continue
		}
		x := m.IDF.IDF(w)
		for k := range s {
			s[k] += x * logs[k]
		}
	}
	softmax(s)
	return s
}

// Classify returns the likeliest class and its probability.
func (m *NaiveBayes) Classify(tokens []string) (string, float64) {
	p := m.Probabilities(tokens)
	k := Best(p)
	return m.Classes[k], p[k]
}
