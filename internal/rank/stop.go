package rank

import (
	"fmt"

	"gleaner/internal/web/page"
)

// recentRequests is how many requests count for the recent yield.
const recentRequests = 200

// History has the results of a crawl's requests, as far as Stop needs them.
type History struct {
	requests int
	recent   []bool // of the last requests, whether a document was accepted
}

// Add counts one request.
func (h *History) Add(r Result) {
	h.requests++
	if len(h.recent) >= recentRequests {
		h.recent = h.recent[1:]
	}
	h.recent = append(h.recent, r.Document && r.Accepted)
}

// rate is the accepted documents per request of late, a little more than was seen:
// a hundredth of a success in one request more is added, so that nothing seen is
// not nothing left.
func (h *History) rate() float64 {
	got := 0.01
	for _, accepted := range h.recent {
		if accepted {
			got++
		}
	}
	return got / (float64(len(h.recent)) + 1)
}

// expected is how many accepted documents the waiting links are expected to bring: by what
// a strategy expects of each link, where it has learnt that, as gleaner has, and else at
// the rate of late, which the best-first order can only lower.
func (h *History) expected(s Strategy, waiting []page.Candidate) (papers float64) {
	f, ok := s.(interface {
		Expect(c *page.Candidate) float64
	})
	if !ok {
		return h.rate() * float64(len(waiting))
	}
	for i := range waiting {
		papers += f.Expect(&waiting[i])
	}
	return papers
}

// Stop returns in one line why the crawl of a site must end, if one more accepted document may
// cost only so many requests; "" to continue. It is called while links wait.
func (h *History) Stop(perAccepted float64, s Strategy, waiting []page.Candidate) string {
	if h.requests < int(perAccepted) {
		return ""
	}
	expected := h.expected(s, waiting)
	next := max(h.rate(), expected/float64(len(waiting)))
	if next*perAccepted >= 1 {
		return ""
	}
	return fmt.Sprintf("budget: one more accepted document would take about %.0f requests, %.0f are allowed (%d links wait, about %.1f documents in them)",
		1/next, perAccepted, len(waiting), expected)
}
