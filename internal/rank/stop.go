package rank

import (
	"fmt"

	"gleaner/internal/web/page"
)

// recentRequests is the number of requests of the recent yield.
const recentRequests = 200

// History holds the results of a crawl's requests for Stop.
type History struct {
	requests int
	recent   []bool // whether a document was accepted, for each of the last requests
}

// Add counts one request.
func (h *History) Add(r Result) {
	h.requests++
	if len(h.recent) >= recentRequests {
		h.recent = h.recent[1:]
	}
	h.recent = append(h.recent, r.Document && r.Accepted)
}

// rate returns the recent accepted documents per request. It adds a hundredth of a success in one
// more request, so that the rate is never 0.
func (h *History) rate() float64 {
	got := 0.01
	for _, accepted := range h.recent {
		if accepted {
			got++
		}
	}
	return got / (float64(len(h.recent)) + 1)
}

// expected returns the expected number of accepted documents among the waiting links: by the
// strategy's estimate for each link, if it has one, else by the recent rate, which a best-first
// order can only lower.
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
