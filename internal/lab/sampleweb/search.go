package sampleweb

import (
	"cmp"
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

// Search returns the pages that hold at least half of the terms, the best first.
func (x *Index) Search(terms []string) []evidence.Page {
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
	return each.Of(found, func(p int) evidence.Page { return x.pages[p] })
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

// serveSearch answers /search?q=…&format=json&pageno=…, ten results a page.
func (w *Web) serveSearch(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if r.URL.Path != "/search" {
		http.NotFound(rw, r)
		return
	}
	if q.Get("format") != "json" { // the original answers so where JSON is not enabled
		http.Error(rw, "only format=json", http.StatusForbidden)
		return
	}
	w.indexOnce.Do(w.buildIndex)
	page, _ := strconv.Atoi(q.Get("pageno"))
	results := []map[string]any{}
	hits := w.index.Search(slices.Compact(slices.Sorted(slices.Values(text.Words(q.Get("q"))))))
	first := min(10*max(0, page-1), len(hits))
	for i, hit := range hits[first:min(first+10, len(hits))] {
		results = append(results, map[string]any{
			"url": hit.URL, "title": hit.Title, "content": hit.Snippet(),
			"engine": "sample", "engines": []string{"sample"}, "score": 1 / float64(i+1), "category": "general",
		})
	}
	body, err := json.Marshal(map[string]any{
		"query": q.Get("q"), "number_of_results": len(results), "results": results, "answers": []string{},
		"corrections": []string{}, "infoboxes": []string{}, "suggestions": []string{}, "unresponsive_engines": [][]string{},
	})
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_, _ = rw.Write(body)
}
