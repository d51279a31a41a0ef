package rank

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/web/page"
)

func TestStop(t *testing.T) {
	t.Parallel()
	dull, paper := Result{Page: &page.Page{}}, Result{Document: true, Accepted: true}
	s := mustNew(t, BreadthFirst, Options{})
	var h History
	for range 4 {
		add(&h, dull, 20)
		add(&h, paper, 1)
	}
	require.Empty(t, h.Stop(60, s, make([]page.Candidate, 1000)), "a paper in fifty is worth it")
	h = History{}
	add(&h, dull, 50)
	require.Empty(t, h.Stop(60, s, make([]page.Candidate, 1000)), "fewer than one may cost")
	add(&h, dull, 200)
	require.Contains(t, h.Stop(60, s, make([]page.Candidate, 1000)), "budget: one more accepted document")
	require.Len(t, h.recent, recentRequests)
}

func add(h *History, r Result, n int) {
	for range n {
		h.Add(r)
	}
}

func TestExpected(t *testing.T) {
	t.Parallel()
	var h History
	g := mustNew(t, Gleaner, Options{})
	good := page.Candidate{Parent: "http://a.test/publications.html", Document: true, Link: page.Link{URL: "http://a.test/papers/x.pdf", Anchor: "pdf",
		Heading: "Publications", Context: "A. Author, B. Writer: On things. Proc. of a conference, 2003, pp. 1-9"}}
	bad := page.Candidate{Parent: "http://a.test/teaching.html", Document: true, Link: page.Link{URL: "http://a.test/course/homework1-slides.pdf", Anchor: "slides"}}
	require.Greater(t, h.expected(g, []page.Candidate{good, good}), 1.0)
	require.Less(t, h.expected(g, []page.Candidate{bad, bad}), 0.5)
	add(&h, Result{Document: true, Accepted: true}, 100)
	require.InDelta(t, 2, h.expected(mustNew(t, BreadthFirst, Options{}), []page.Candidate{bad, bad}), 0.1, "breadth-first goes by the rate")
}
