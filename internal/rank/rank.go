package rank

import (
	"encoding/json"

	"gleaner/internal/web/page"
)

// Result is the result of requesting a candidate.
type Result struct {
	Page     *page.Page // nil for a document or a failure
	Document bool       // a document came back
	Accepted bool       // it passed the document filter, if that is known already
	Unwanted bool       // it is none of the wanted papers
	Failed   bool       // there was no answer
	NewDocs  int        // new links with the names of documents
}

// Strategy orders the links of one site. It is not safe for concurrent use.
type Strategy interface {
	Name() string
	// Enter gives a new link its queue (the higher goes first, where the
	// strategy has queues), its priority in it, and its mark.
	Enter(c *page.Candidate)
	// Next picks one of the waiting candidates, by index. The slice holds the
	// best of each queue and mark by stored priority and is never empty. The
	// reason is one line for a person.
	Next(waiting []page.Candidate) (index int, reason string)
	// Observe learns from a result.
	Observe(c page.Candidate, r Result)
	// State and Restore carry what was learnt from one slice to the next;
	// bounded to 256 KiB whatever the size of the site.
	State() (json.RawMessage, error)
	Restore(json.RawMessage) error
}
