package hardset

import (
	"context"
	"math"
	"slices"
	"sort"

	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/text"
)

// index stands for a search engine: BM25 over the pages of the web, as Robertson and
// Zaragoza give it. A word of a title counts five times, one of an address twice.
type index struct {
	pages    []indexed
	postings map[string]map[int]float64 // term → page → weighted count
	total    int
}

type indexed struct {
	evidence.Result
	length int
}

const bm25K1, bm25B = 1.2, 0.75

// put adds a page.
func (x *index) put(url, title, body string) {
	titled, read := text.Words(title), text.Words(body)
	length := len(titled) + len(read)
	count := func(terms []string, weight float64) {
		for _, t := range terms {
			if x.postings[t] == nil {
				x.postings[t] = map[int]float64{}
			}
			x.postings[t][len(x.pages)] += weight
		}
	}
	count(titled, 5)
	count(read, 1)
	count(text.Words(url), 2)
	x.pages = append(x.pages, indexed{evidence.Result{URL: url, Title: title, Snippet: evidence.Page{Text: body}.Snippet()}, length})
	x.total += length
}

// SearchPages implements homepage.PageIndex.
func (x *index) SearchPages(_ context.Context, terms []string, n int) ([]evidence.Result, error) {
	score, held := map[int]float64{}, map[int]int{}
	mean := math.Max(1, float64(x.total)/math.Max(1, float64(len(x.pages))))
	for _, t := range terms {
		df := float64(len(x.postings[t]))
		idf := math.Log(1 + (float64(len(x.pages))-df+0.5)/(df+0.5))
		for p, tf := range x.postings[t] {
			score[p] += idf * tf * (bm25K1 + 1) / (tf + bm25K1*(1-bm25B+bm25B*float64(x.pages[p].length)/mean))
			held[p]++
		}
	}
	var hits []int
	for p := range score {
		if 2*held[p] >= len(terms) {
			hits = append(hits, p)
		}
	}
	slices.Sort(hits)
	sort.SliceStable(hits, func(i, j int) bool {
		a, b := hits[i], hits[j]
		if score[a] != score[b] {
			return score[a] > score[b]
		}
		return x.pages[a].URL < x.pages[b].URL
	})
	out := make([]evidence.Result, 0, n)
	for _, p := range hits[:min(n, len(hits))] {
		out = append(out, x.pages[p].Result)
	}
	return out, nil
}
