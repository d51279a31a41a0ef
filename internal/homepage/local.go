package homepage

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
)

// IndexedPage is what the local index keeps of a page that was crawled already.
type IndexedPage struct {
	URL, Title, Text string
}

// Posting is one page that holds a term. TF is its weighted count, Length the
// page's number of terms.
type Posting struct {
	URL, Title, Snippet string
	TF                  float64
	Length              int
}

// Corpus is what BM25 must know of all pages.
type Corpus struct {
	Pages      int
	MeanLength float64
	// Frequency is how many pages hold each term, where the lists of an index
	// are not whole; a term that is absent has as many as its list.
	Frequency map[string]int
}

// PageIndex stores an inverted index over crawled pages.
type PageIndex interface {
	// PutPage adds a page or replaces the one of the same URL.
	PutPage(ctx context.Context, p IndexedPage) error
	// Postings returns, for each of the terms (as Terms yields them), the pages
	// that hold it.
	Postings(ctx context.Context, terms []string) (Corpus, map[string][]Posting, error)
}

// Local searches pages that were crawled already; it needs no key and costs no
// request. Departments seen once answer for the next harvest.
type Local struct{ index PageIndex }

// NewLocal returns a searcher over index.
func NewLocal(index PageIndex) *Local { return &Local{index: index} }

// Name is "local".
func (l *Local) Name() string { return "local" }

// BM25's constants as Robertson and Zaragoza give them.
const bm25K1, bm25B = 1.2, 0.75

// Search ranks by BM25, ties by URL. A page must hold at least half of the
// query's terms: the name, where the venue is unknown to it.
func (l *Local) Search(ctx context.Context, query string, n int) ([]Result, error) {
	terms := slices.Compact(slices.Sorted(slices.Values(Terms(query))))
	corpus, postings, err := l.index.Postings(ctx, terms)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrRecord, l.Name(), err)
	}
	type scored struct {
		Result
		score float64
		terms int
	}
	pages := map[string]*scored{}
	for _, term := range terms {
		list := postings[term]
		idf := corpus.idf(term, len(list))
		for _, p := range list {
			s := pages[p.URL]
			if s == nil {
				s = &scored{Result: Result{URL: p.URL, Title: p.Title, Snippet: p.Snippet}}
				pages[p.URL] = s
			}
			norm := bm25K1 * (1 - bm25B + bm25B*float64(p.Length)/math.Max(1, corpus.MeanLength))
			s.score += idf * p.TF * (bm25K1 + 1) / (p.TF + norm)
			s.terms++
		}
	}
	var hits []*scored
	for _, s := range pages {
		if 2*s.terms >= len(terms) {
			hits = append(hits, s)
		}
	}
	sort.Slice(hits, func(i, j int) bool {
		if hits[i].score != hits[j].score {
			return hits[i].score > hits[j].score
		}
		return hits[i].URL < hits[j].URL
	})
	out := make([]Result, 0, len(hits))
	for _, h := range hits {
		out = append(out, h.Result)
	}
	return ranked(l.Name(), out, n), nil
}

// idf is the weight of a term that so many pages of its list hold.
func (c Corpus) idf(term string, listed int) float64 {
	n := float64(listed)
	if all, ok := c.Frequency[term]; ok {
		n = float64(all)
	}
	return math.Log(1 + math.Max(0, float64(c.Pages)-n+0.5)/(n+0.5))
}

// TitleWeight and AddressWeight are how many times a word of the title or the
// address counts.
const TitleWeight, AddressWeight = 5, 2

// Terms splits text into the terms of the index: letters and digits, lower
// case, without accents.
func Terms(text string) []string { return words(text) }

// PageTerms counts the terms of a page as the index stores them, and the
// page's length in terms.
func PageTerms(p IndexedPage) (map[string]float64, int) {
	tf := map[string]float64{}
	title, text := words(p.Title), words(p.Text)
	for _, w := range title {
		tf[w] += TitleWeight
	}
	for _, w := range text {
		tf[w]++
	}
	for _, w := range words(p.URL) {
		tf[w] += AddressWeight
	}
	return tf, len(title) + len(text)
}

// snippetBytes is how much of a page's text is shown with a result.
const snippetBytes = 300

// Snippet is the beginning of a page's text.
func Snippet(text string) string {
	if len(text) > snippetBytes {
		text = strings.ToValidUTF8(text[:snippetBytes], "")
	}
	return text
}

// MemoryIndex is a PageIndex that lasts as long as the process.
type MemoryIndex struct {
	mu       sync.RWMutex
	pages    map[string]memoryPage
	postings map[string]map[string]float64 // term → URL → weighted count
	total    int
}

type memoryPage struct {
	title, snippet string
	length         int
	terms          []string
}

// NewMemoryIndex returns an empty index, safe for concurrent use.
func NewMemoryIndex() *MemoryIndex {
	return &MemoryIndex{pages: map[string]memoryPage{}, postings: map[string]map[string]float64{}}
}

// PutPage implements PageIndex.
func (m *MemoryIndex) PutPage(_ context.Context, p IndexedPage) error {
	tf, length := PageTerms(p)
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.pages[p.URL]; ok {
		m.total -= old.length
		for _, t := range old.terms {
			delete(m.postings[t], p.URL)
		}
	}
	mp := memoryPage{title: p.Title, snippet: Snippet(p.Text), length: length}
	for t, c := range tf {
		if m.postings[t] == nil {
			m.postings[t] = map[string]float64{}
		}
		m.postings[t][p.URL] = c
		mp.terms = append(mp.terms, t)
	}
	m.pages[p.URL] = mp
	m.total += length
	return nil
}

// Postings implements PageIndex.
func (m *MemoryIndex) Postings(_ context.Context, terms []string) (Corpus, map[string][]Posting, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	out := make(map[string][]Posting, len(terms))
	for _, t := range terms {
		for u, c := range m.postings[t] {
			p := m.pages[u]
			out[t] = append(out[t], Posting{URL: u, Title: p.title, Snippet: p.snippet, TF: c, Length: p.length})
		}
		// Sums of floats depend on their order, so the order is fixed.
		sort.Slice(out[t], func(i, j int) bool { return out[t][i].URL < out[t][j].URL })
	}
	return Corpus{Pages: len(m.pages), MeanLength: float64(m.total) / math.Max(1, float64(len(m.pages)))}, out, nil
}
