package homepage

import (
	"errors"
	"fmt"
	"time"

	"gleaner/internal/fetch"
)

// unanswered notes what is to be asked again. One line for each page or query is
// enough.
func (h *hunt) unanswered(u Unanswered) {
	for _, had := range h.d.Unanswered {
		if had.What == u.What {
			return
		}
	}
	h.d.Unanswered = append(h.d.Unanswered, u)
}

// unansweredPage reports whether a page that did not come may come later.
func unansweredPage(url string, err error) (Unanswered, bool) {
	var fe *fetch.Error
	if !errors.As(err, &fe) || !fetch.Retryable(fe.Outcome) {
		return Unanswered{}, false
	}
	reason := string(fe.Outcome)
	if fe.Status != 0 {
		reason = fmt.Sprintf("%s, status %d", reason, fe.Status)
	}
	return Unanswered{What: url, Kind: KindPage, Reason: reason, RetryAfter: fe.RetryAfter}, true
}

// unansweredSearch is a search that failed. Even one that the provider refuses
// for good may be answered when the operator has set another key.
func unansweredSearch(query string, err error) Unanswered {
	return Unanswered{What: query, Kind: KindSearch, Reason: err.Error(), RetryAfter: RetryIn(err)}
}

// RetryIn is the longest wait that any of the joined errors asks for.
func RetryIn(err error) time.Duration {
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		longest := time.Duration(0)
		for _, e := range many.Unwrap() {
			longest = max(longest, RetryIn(e))
		}
		return longest
	}
	var se *SearchError
	if errors.As(err, &se) && se.RetryAfter > 0 {
		return se.RetryAfter
	}
	var parked interface{ RetryIn() time.Duration }
	if errors.As(err, &parked) {
		return parked.RetryIn()
	}
	return 0
}

// Between two looks for an author whom something unanswered stands in the way of.
const (
	FirstRetry = 5 * time.Minute
	LastRetry  = 24 * time.Hour
)

// Again dates the next look of a decision that left something unanswered, later
// each time; tries is how many looks before did the same. A decision that left
// nothing is final.
func (d Decision) Again(now time.Time, tries int) Decision {
	d.Tries, d.NextTry = 0, time.Time{}
	if len(d.Unanswered) == 0 {
		return d
	}
	d.Tries = tries + 1
	wait := min(LastRetry, FirstRetry<<min(tries, 16))
	asked := time.Duration(0)
	for i, u := range d.Unanswered {
		if i == 0 || u.RetryAfter < asked {
			asked = u.RetryAfter
		}
	}
	d.NextTry = now.Add(max(wait, asked))
	return d
}
