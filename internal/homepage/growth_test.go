package homepage

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/growthtest"
	"gleaner/internal/web/page"
)

// says answers everything with the same bytes, in the calling goroutine.
type says []byte

func (s says) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(s)), Request: r}, nil
}

// engines are the search engines that answer with some bytes.
func engines(answer []byte) []Searcher {
	c := &http.Client{Transport: says(answer)}
	return []Searcher{NewSearXNG("http://searxng.example", Service{Client: c}), NewBrave("http://brave.example", "k", Service{Client: c}), NewSerper("http://serper.example", "k", Service{Client: c})}
}

var filled = growthtest.Between

// worstAnswers are read by each engine as its own kind of answer, and cost most.
var worstAnswers = map[string]func(n int) []byte{
	"results of SearXNG": filled(`{"results":[`, `{"url":"http://a.example/","title":"a"},`, `{}]}`),
	"results of Brave":   filled(`{"web":{"results":[`, `{"url":"http://a.example/","title":"a"},`, `{}]}}`),
	"results of Serper":  filled(`{"organic":[`, `{"link":"http://a.example/","title":"a"},`, `{}]}`),
	"tags in a title":    filled(`{"results":[{"url":"a","title":"`, "<b", `"}]}`),
	"open tags":          filled(`{"organic":[{"link":"a","title":"`, "<b>", `"}]}`),
	"entities":           filled(`{"web":{"results":[{"url":"a","description":"`, "&amp;&x", `"}]}}`),
	"spaces":             filled(`{"organic":[{"link":"a","snippet":"`, " ", `"}]}`),
	"silent engines":     filled(`{"results":[],"unresponsive_engines":[`, `["a","b"],`, `[]]}`),
	"nesting":            filled(`{"results":`, "[", ""),
	"nested silence":     filled(`{"unresponsive_engines":[`, `[[[[`, ""),
	"one key":            filled(`{`, `"results":[{"url":"a"}],`, `"web":{}}`),
	"a page":             filled("<!doctype html>", "just a moment", ""),
}

// No answer makes a search work more than its length.
func TestReadingResultsGrowsWithThem(t *testing.T) {
	growthtest.Each(t, 8<<10, worstAnswers, func(t *testing.T, in []byte) {
		for _, e := range engines(in) {
			_, _ = e.Search(t.Context(), "q", len(in))
		}
	})
}

// Choosing among the links of a page takes no more work than its length.
func TestLinksOfAHomepage(t *testing.T) {
	links := func(times int, link string) func(n int) []byte {
		return func(n int) (b []byte) {
			for i := range times * n {
				b = fmt.Appendf(b, link, i)
			}
			return b
		}
	}
	p := newPerson(Subject{Author: gleaner.Author{Name: "Ada Lovelace"}})
	growthtest.Each(t, 100, map[string]func(n int) []byte{
		"pages of papers": links(1, "<a href=%d>papers</a>"),
		"frames":          links(10, "<iframe src=%d></iframe>"),
	}, func(t *testing.T, b []byte) {
		const home = "http://www.example.edu/~ada/"
		pg, err := page.Parse(home, http.Header{"Content-Type": {"text/html"}}, b)
		require.NoError(t, err)
		(&site{}).innerLeads(p, pg, home)
		frameURLs(pg, home)
	})
}

// Whatever an engine answers, no more results come of it than were asked for, each
// with an address of its own.
func FuzzSearchAnswers(f *testing.F) {
	for _, worst := range worstAnswers {
		f.Add(worst(200))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, e := range engines(answer) {
			got, _ := e.Search(t.Context(), "q", 10)
			seen := map[string]bool{}
			for i, r := range got {
				if i >= 10 || r.URL == "" || seen[r.URL] || r.Rank != i+1 || r.Provider != e.Name() {
					t.Fatalf("%s: result %d: %+v", e.Name(), i, r)
				}
				seen[r.URL] = true
			}
		}
	})
}
