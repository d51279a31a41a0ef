package rank

import (
	"fmt"
	"time"

	"gleaner/internal/web/page"
)

// Outcome is what one request was worth, for deciding whether to go on.
type Outcome struct {
	Page     bool // a page came
	Relevant bool // and it led to documents, or to pages that did
	Document bool // a document came
	Accepted bool // and was accepted
}

// OutcomeOf judges a result: a page is relevant when it named a document that
// was new.
func OutcomeOf(r Result) Outcome {
	return Outcome{Page: r.Page != nil && !r.Failed, Relevant: r.Page != nil && r.NewDocs > 0, Document: r.Document, Accepted: r.Document && r.Accepted}
}

// recentRequests is how far back the present yield is looked for.
const recentRequests = 200

// History is a crawl so far, as much of it as decisions need. It is small and
// is carried between slices.
type History struct {
	Requests  int           `json:"requests"`
	Pages     int           `json:"pages"`
	Relevant  int           `json:"relevant"`
	Documents int           `json:"documents"`
	Accepted  int           `json:"accepted"`
	Spent     time.Duration `json:"spent"`
	Recent    []byte        `json:"recent"` // of the last requests, 1 where a document was accepted
}

// Add counts one request.
func (h *History) Add(o Outcome, spent time.Duration) {
	h.Requests++
	h.Spent += spent
	count := func(n *int, on bool) {
		if on {
			*n++
		}
	}
	count(&h.Pages, o.Page)
	count(&h.Relevant, o.Page && o.Relevant)
	count(&h.Documents, o.Document)
	count(&h.Accepted, o.Accepted)
	b := byte(0)
	if o.Accepted {
		b = 1
	}
	if len(h.Recent) >= recentRequests {
		h.Recent = h.Recent[1:]
	}
	h.Recent = append(h.Recent, b)
}

// rate is the accepted documents per request of late, a little more than was seen:
// a hundredth of a success in one request more is added, so that nothing seen is
// not nothing left.
func (h History) rate() float64 {
	got := 0.0
	for _, b := range h.Recent {
		got += float64(b)
	}
	return (got + 0.01) / (float64(len(h.Recent)) + 1)
}

// Expected is how many accepted documents the waiting links are expected to
// bring, at the rate of late, which the best-first order can only lower.
func (h History) Expected(waiting int) float64 { return h.rate() * float64(waiting) }

// ExpectedYield is the same from what a strategy expects of each link; it is
// better where the strategy has learnt, as gleaner has.
func ExpectedYield(s Strategy, waiting []page.Candidate) (papers float64, ok bool) {
	f, ok := s.(interface {
		Expect(c *page.Candidate) float64
	})
	if !ok {
		return 0, false
	}
	for i := range waiting {
		papers += f.Expect(&waiting[i])
	}
	return papers, true
}

// Budget says when a site has had enough. A zero field sets no limit.
type Budget struct {
	Requests    int           `json:"requests,omitempty"`
	Time        time.Duration `json:"time,omitempty"`
	PerAccepted float64       `json:"per_accepted,omitempty"` // requests that one more accepted document may cost
}

// Stop says whether to stop, and why in one line. expected is what the waiting
// links are expected to bring: ExpectedYield, or History.Expected.
func (b Budget) Stop(h History, waiting int, expected float64) (stop bool, reason string) {
	switch {
	case waiting == 0:
		return true, "nothing waits"
	case b.Requests > 0 && h.Requests >= b.Requests:
		return true, fmt.Sprintf("budget: %d requests made", h.Requests)
	case b.Time > 0 && h.Spent >= b.Time:
		return true, fmt.Sprintf("budget: %s spent", h.Spent.Round(time.Second))
	case b.PerAccepted > 0 && h.Requests >= int(b.PerAccepted):
		next := h.rate()
		if waiting > 0 {
			next = max(next, expected/float64(waiting))
		}
		if next*b.PerAccepted < 1 {
			return true, fmt.Sprintf("budget: one more accepted document would take about %.0f requests, %.0f are allowed (%d links wait, about %.1f documents in them)",
				1/next, b.PerAccepted, waiting, expected)
		}
	}
	return false, ""
}

// Trap is the rule by which a site is left (Chen 2008: a page relevancy rate below
// 5 % after 200 pages).
type Trap struct {
	After int     // pages; 0 is never
	Rate  float64 // the least share of relevant pages
}

// Is reports whether so many pages, so many of them relevant, are a trap's.
func (t Trap) Is(pages, relevant int) bool {
	return t.After > 0 && pages >= t.After && float64(relevant) < t.Rate*float64(pages)
}
