package rank

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/web/page"
)

func TestBudgetStop(t *testing.T) {
	t.Parallel()
	dull := Outcome{Page: true}
	paper := Outcome{Document: true, Accepted: true}
	for _, tc := range []struct {
		name    string
		budget  Budget
		history func(*History)
		want    string
	}{
		{"goes on", Budget{}, func(h *History) { add(h, dull, 199) }, ""},
		{"requests", Budget{Requests: 30}, func(h *History) { add(h, dull, 30) }, "budget: 30 requests made"},
		{"time", Budget{Time: time.Minute}, func(h *History) { add(h, dull, 60) }, "budget: 1m0s spent"},
		{"a paper in fifty is worth it", Budget{PerAccepted: 60}, func(h *History) {
			for range 4 {
				add(h, dull, 20)
				add(h, paper, 1)
			}
		}, ""},
		{"not after a hundred for nothing", Budget{PerAccepted: 60}, func(h *History) { add(h, dull, 100) }, "budget: one more accepted document"},
	} {
		var h History
		tc.history(&h)
		stop, reason := tc.budget.Stop(h, 1000, h.Expected(1000))
		require.Equal(t, tc.want != "", stop, "%s: %s", tc.name, reason)
		require.Contains(t, reason, tc.want, tc.name)
		require.LessOrEqual(t, len(h.Recent), recentRequests)
	}
}

func add(h *History, o Outcome, n int) {
	for range n {
		h.Add(o, time.Second)
	}
}

func TestExpectedYield(t *testing.T) {
	t.Parallel()
	g := mustNew(t, Gleaner, Options{})
	good := page.Candidate{Parent: "http://a.test/publications.html", Document: true, Link: page.Link{URL: "http://a.test/papers/x.pdf", Anchor: "pdf",
		Heading: "Publications", Context: "A. Author, B. Writer: On things. Proc. of a conference, 2003, pp. 1-9"}}
	bad := page.Candidate{Parent: "http://a.test/teaching.html", Document: true, Link: page.Link{URL: "http://a.test/course/homework1-slides.pdf", Anchor: "slides"}}
	high, ok := ExpectedYield(g, []page.Candidate{good, good})
	require.True(t, ok)
	low, _ := ExpectedYield(g, []page.Candidate{bad, bad})
	require.Greater(t, high, 1.0)
	require.Less(t, low, 0.5)
	b, _ := New(BreadthFirst, Options{})
	_, ok = ExpectedYield(b, []page.Candidate{good})
	require.False(t, ok, "breadth-first expects nothing")
}
