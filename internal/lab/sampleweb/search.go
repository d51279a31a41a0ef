package sampleweb

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"gleaner/internal/each"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/text"
)

// Index stands for a search engine: BM25 over pages, as Robertson and Zaragoza give
// it. A word of a title counts five times, one of an address twice.
type Index struct {
	pages    []evidence.Page
	lengths  []int
	postings map[string]map[int]float64 // term → page → weighted count
	total    int
}

const bm25K1, bm25B = 1.2, 0.75

// NewIndex is an empty one.
func NewIndex() *Index { return &Index{postings: map[string]map[int]float64{}} }

// Put adds a page.
func (x *Index) Put(p evidence.Page) {
	titled, read := text.Words(p.Title), text.Words(p.Text)
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
	count(text.Words(p.URL), 2)
	x.pages, x.lengths = append(x.pages, p), append(x.lengths, len(titled)+len(read))
	x.total += len(titled) + len(read)
}

// Name implements homepage.Searcher.
func (*Index) Name() string { return "sample" }

// Search returns the n best of the pages that hold at least half of the words of a query,
// the best first.
func (x *Index) Search(_ context.Context, query string, n int) ([]evidence.Result, error) {
	terms := slices.Compact(slices.Sorted(slices.Values(text.Words(query))))
	score, held := map[int]float64{}, map[int]int{}
	mean := math.Max(1, float64(x.total)/math.Max(1, float64(len(x.pages))))
	for _, t := range terms {
		df := float64(len(x.postings[t]))
		idf := math.Log(1 + (float64(len(x.pages))-df+0.5)/(df+0.5))
		for p, tf := range x.postings[t] {
			score[p] += idf * tf * (bm25K1 + 1) / (tf + bm25K1*(1-bm25B+bm25B*float64(x.lengths[p])/mean))
			held[p]++
		}
	}
	var found []int
	for p := range score {
		if 2*held[p] >= len(terms) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b int) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(x.pages[a].URL, x.pages[b].URL))
	})
	results := make([]evidence.Result, min(n, len(found)))
	for i := range results {
		p := x.pages[found[i]]
		results[i] = evidence.Result{URL: p.URL, Title: p.Title, Snippet: p.Snippet(), Provider: x.Name(), Rank: i + 1}
	}
	return results, nil
}

// buildIndex indexes the pages that a search engine would know: homepages, lists of
// papers, profiles, people's pages.
func (w *Web) buildIndex() {
	w.index = NewIndex()
	for _, name := range slices.Sorted(maps.Keys(w.hosts)) {
		h := w.hosts[name]
		if strings.Contains(h.robots, "Disallow: /\n") { // an engine obeys robots.txt as well
			continue
		}
		for _, path := range slices.Sorted(maps.Keys(h.pages)) {
			if res := h.pages[path]; res.listed != "" {
				w.index.Put(evidence.Page{URL: "http://" + name + path, Title: res.listed, Text: textOf(res.body())})
			}
		}
	}
}

// textOf is the text of a page; windows-1252 pages lose their accents, which
// the index folds anyway.
func textOf(page []byte) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(string(page)))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(b.String()), " ")
		case html.TextToken:
			b.Write(z.Text())
			b.WriteByte(' ')
		}
	}
}

// ServeSearXNG answers /search?q=…&format=json&pageno=… as SearXNG does, ten results a
// page, of those that search finds.
func ServeSearXNG(rw http.ResponseWriter, r *http.Request, search func(ctx context.Context, query string, n int) ([]evidence.Result, error)) {
	q := r.URL.Query()
	if r.URL.Path != "/search" {
		http.NotFound(rw, r)
		return
	}
	if q.Get("format") != "json" { // the original answers so where JSON is not enabled
		http.Error(rw, "only format=json", http.StatusForbidden)
		return
	}
	page, _ := strconv.Atoi(q.Get("pageno"))
	first := 10 * max(0, page-1)
	hits, err := search(r.Context(), q.Get("q"), first+10)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	results := each.Of(hits[min(first, len(hits)):], func(hit evidence.Result) map[string]any {
		return map[string]any{"url": hit.URL, "title": hit.Title, "content": hit.Snippet, "engine": "sample", "engines": []string{"sample"}, "category": "general"}
	})
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(map[string]any{
		"query": q.Get("q"), "number_of_results": len(results), "results": results, "answers": []string{},
		"corrections": []string{}, "infoboxes": []string{}, "suggestions": []string{}, "unresponsive_engines": [][]string{},
	})
}
