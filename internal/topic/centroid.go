package topic

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gleaner/internal/each"
)

// Sample is a page for a centroid, as counts of its words.
type Sample struct {
	Topic  string         `json:"topic"`
	URL    string         `json:"url"`
	Counts map[string]int `json:"counts"`
}

// maxSampled is the number of words of a page that a centroid uses: the most frequent ones.
const maxSampled = 5000

// NewSample returns the sample of a page.
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

// Centroid describes a topic.
type Centroid struct {
	Topic   string             `json:"topic"`
	Pages   int                `json:"pages"`   // number of its pages
	Weights map[string]float64 `json:"weights"` // of its words
}

// norm returns the length of the centroid.
func (c Centroid) norm() float64 {
	sum := 0.0
	for _, t := range slices.Sorted(maps.Keys(c.Weights)) {
		sum += c.Weights[t] * c.Weights[t]
	}
	return math.Sqrt(sum)
}

// centroid returns the centroid of a topic's pages, or nil for too few. The weight of a word is
// tf · df / max(requested results, pages): its count in all pages, times the share of pages with
// it. The words of greatest weight stay.
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

// Build returns the model of topics from their pages, each given once per topic. Topics with too
// few pages have no centroid; their ids are returned.
func Build(o Options, topics []Topic, pages []Sample) (m *Model, without []string) {
	m = &Model{Options: o, DF: map[string]int{}}
	of := each.By(pages, func(p Sample) string { return p.Topic })
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
			if met[p.URL] { // found for two topics, but counted once
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
