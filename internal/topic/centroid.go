package topic

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Sample is a page of which a centroid is made: how often its words occur.
type Sample struct {
	Topic  string         `json:"topic"`
	URL    string         `json:"url"`
	Counts map[string]int `json:"counts"`
}

// maxSampled is how many words of a page a centroid looks at: those that occur most.
const maxSampled = 5000

// NewSample makes one of a page.
func NewSample(topic, url string, f *Filter, p Page) Sample {
	counts := f.Counts(p)
	if len(counts) > maxSampled {
		words := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
		})
		for _, w := range words[maxSampled:] {
			delete(counts, w)
		}
	}
	return Sample{topic, url, counts}
}

// Centroid is what a topic is like.
type Centroid struct {
	Topic   string             `json:"topic"`
	Pages   int                `json:"pages"`   // of which it was made
	Weights map[string]float64 `json:"weights"` // of its words
}

// norm is its length.
func (c Centroid) norm() float64 {
	sum := 0.0
	for _, t := range slices.Sorted(maps.Keys(c.Weights)) {
		sum += c.Weights[t] * c.Weights[t]
	}
	return math.Sqrt(sum)
}

// centroid is made of a topic's pages, nil where they are too few. The weight of a
// word is tf · df / max(results asked for, pages): how often it occurs in all of them,
// times the share of them that have it. The weightiest words stay.
func (o Options) centroid(topic string, pages []Sample) *Centroid {
	if len(pages) == 0 || len(pages) < o.LeastResults {
		return nil
	}
	tf, df := map[string]int{}, map[string]int{}
	for _, p := range pages {
		for w, n := range p.Counts {
			tf[w] += n
			df[w]++
		}
	}
	weight := func(w string) float64 {
		return float64(tf[w]) * float64(df[w]) / float64(max(o.Results, len(pages)))
	}
	words := slices.SortedFunc(maps.Keys(tf), func(a, b string) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(a, b))
	})
	c := &Centroid{Topic: topic, Pages: len(pages), Weights: map[string]float64{}}
	for _, w := range words[:min(o.Terms, len(words))] {
		c.Weights[w] = weight(w)
	}
	return c
}

// Build makes the model of topics from their pages, each given once a topic. Topics
// with too few have no centroid, and are returned by their ids.
func Build(o Options, topics []Topic, pages []Sample) (m *Model, without []string) {
	m = &Model{Options: o, DF: map[string]int{}}
	of := map[string][]Sample{}
	for _, p := range pages {
		of[p.Topic] = append(of[p.Topic], p)
	}
	met := map[string]bool{}
	for _, t := range topics {
		c := o.centroid(t.ID, of[t.ID])
		if c == nil {
			without = append(without, t.ID)
			continue
		}
		m.Centroids = append(m.Centroids, *c)
		for w := range c.Weights {
			m.DF[w] = 0
		}
	}
	for _, c := range m.Centroids {
		for _, p := range of[c.Topic] {
			if met[p.URL] { // found for two topics, it is one document
				continue
			}
			met[p.URL] = true
			m.N++
			for w := range p.Counts {
				if _, is := m.DF[w]; is {
					m.DF[w]++
				}
			}
		}
	}
	return m, without
}
