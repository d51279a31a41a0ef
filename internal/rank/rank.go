package rank

import (
	"encoding/json"

	"gleaner/internal/web/page"
)

// Result is the result of requesting a candidate.
type Result struct {
	Page     *page.Page // nil for a document or a failure
	Document bool       // a document came back
	Accepted bool       // it passed the document filter, if already known
	Unwanted bool       // it is none of the wanted papers
	Failed   bool       // no response
	NewDocs  int        // new links whose names are those of documents
}

// Strategy orders the links of one site. It is not safe for concurrent use.
type Strategy interface {
	Name() string
	// Enter sets the queue of a new link (greater first, for strategies with queues), its
	// priority in it, and its mark.
	Enter(c *page.Candidate)
	// Next returns the index of one waiting candidate. The slice holds the best of each queue and
	// mark by stored priority and is never empty. The reason is one line for people.
	Next(waiting []page.Candidate) (index int, reason string)
	// Observe learns from a result.
	Observe(c page.Candidate, r Result)
	// State and Restore carry what was learnt to the next slice, in at most 256 KiB for sites of
	// any size.
	State() (json.RawMessage, error)
	Restore(json.RawMessage) error
}
