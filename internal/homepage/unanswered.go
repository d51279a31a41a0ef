package homepage

import (
	"errors"
	"fmt"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner/evidence"
)

// unansweredPage reports whether the request for a page is worth repeating.
func unansweredPage(url string, err error) (evidence.Unanswered, bool) {
	var fe *fetch.Error
	if !errors.As(err, &fe) || !fetch.Retryable(fe.Outcome) {
		return evidence.Unanswered{}, false
	}
	reason := string(fe.Outcome)
	if fe.Status != 0 {
		reason = fmt.Sprintf("%s, status %d", reason, fe.Status)
	}
	return evidence.Unanswered{What: url, Kind: evidence.KindPage, Reason: reason, RetryAfter: fe.RetryAfter}, true
}

// unansweredSearch describes a search that failed. Even a permanent refusal may end, when
// the operator sets another key.
func unansweredSearch(query string, err error) evidence.Unanswered {
	return evidence.Unanswered{What: query, Kind: evidence.KindSearch, Reason: err.Error(), RetryAfter: retryIn(err)}
}

// retryIn returns the longest wait of the joined errors. Of several engines it is the
// shortest, since the first to answer may suffice.
func retryIn(err error) time.Duration {
	if engines, ok := errors.AsType[failures](err); ok {
		shortest := retryIn(engines[0])
		for _, e := range engines[1:] {
			shortest = min(shortest, retryIn(e))
		}
		return shortest
	}
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		longest := time.Duration(0)
		for _, e := range many.Unwrap() {
			longest = max(longest, retryIn(e))
		}
		return longest
	}
	if se, ok := errors.AsType[*SearchError](err); ok && se.RetryAfter > 0 {
		return se.RetryAfter
	}
	var parked interface{ RetryIn() time.Duration }
	if errors.As(err, &parked) {
		return parked.RetryIn()
	}
	return 0
}
