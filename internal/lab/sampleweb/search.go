package sampleweb

import (
	"encoding/json"
	"math"
	"net/http"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// index is a BM25 index over the pages that a search engine would know:
// homepages, lists of papers, profiles, people's pages.
type index struct {
	pages    []indexed
	postings map[string][]posting
	length   float64 // mean
}

type indexed struct {
	url, title, text string
	words            int
}

type posting struct{ page, count int }

func (w *Web) buildIndex() {
	ix := &index{postings: map[string][]posting{}}
	names := make([]string, 0, len(w.hosts))
	for name := range w.hosts {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		h := w.hosts[name]
		paths := make([]string, 0, len(h.pages))
		for path, res := range h.pages {
			// An engine obeys robots.txt as well.
			if res.listed != "" && !strings.Contains(h.robots, "Disallow: /\n") {
				paths = append(paths, path)
			}
		}
		sort.Strings(paths)
		for _, path := range paths {
			ix.add("http://"+name+path, h.pages[path].listed, textOf(h.pages[path].body()))
		}
	}
	for i := range ix.pages {
		ix.length += float64(ix.pages[i].words) / float64(len(ix.pages))
	}
	w.index = ix
}

func (ix *index) add(url, title, text string) {
	counts := map[string]int{}
	words := terms(title + " " + url + " " + text)
	for _, t := range words {
		counts[t]++
	}
	page := len(ix.pages)
	ix.pages = append(ix.pages, indexed{url, title, text, len(words)})
	for t, n := range counts {
		ix.postings[t] = append(ix.postings[t], posting{page, n})
	}
}

// search ranks by BM25 with its usual constants (k1 = 1.2, b = 0.75).
func (ix *index) search(query string, skip, take int) []indexed {
	score := map[int]float64{}
	for _, t := range terms(query) {
		list := ix.postings[t]
		idf := math.Log(1 + (float64(len(ix.pages))-float64(len(list))+0.5)/(float64(len(list))+0.5))
		for _, p := range list {
			tf := float64(p.count)
			norm := 1.2 * (0.25 + 0.75*float64(ix.pages[p.page].words)/ix.length)
			score[p.page] += idf * tf * 2.2 / (tf + norm)
		}
	}
	found := make([]int, 0, len(score))
	for page := range score {
		found = append(found, page)
	}
	sort.Slice(found, func(i, j int) bool {
		if score[found[i]] != score[found[j]] {
			return score[found[i]] > score[found[j]]
		}
		return found[i] < found[j]
	})
	var out []indexed
	for _, page := range found[min(skip, len(found)):min(skip+take, len(found))] {
		out = append(out, ix.pages[page])
	}
	return out
}

func terms(s string) []string {
	return strings.FieldsFunc(ascii(s), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
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
	for i, hit := range w.index.search(q.Get("q"), 10*max(0, page-1), 10) {
		results = append(results, map[string]any{
			"url": hit.url, "title": hit.title, "content": hit.text[:min(len(hit.text), 200)],
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
