package rank

import (
	"encoding/json"

	"gleaner/internal/web/page"
)

// Candidate is a link waiting to be asked for.
type Candidate struct {
	ID       int64     // order of discovery on the site; ties are broken by it. Never 0 where a link waits
	Link     page.Link // as it stood where it was first found
	Parent   string    // URL of that page; "" for a seed
	Depth    int       // hops from the nearest seed
	OffSite  bool      // a lead: a document out of the site's scope
	Document bool      // its name (.pdf, .ps, .ps.gz, …), a page's metadata or a catalogue says that it is a document
	Wanted   float64   // 0–1: likeness of anchor or context to a wanted paper's title
	Queue    int       // assigned by Enter, stored with the row
	Priority float64   // assigned by Enter, stored with the row
	Mark     int       // assigned by Enter: the arm (group of like links) it belongs to, stored with the row
}

// Result is what came of asking for a candidate.
type Result struct {
	Page     *page.Page // nil for a document or a failure
	Document bool       // a document came back
	Accepted bool       // and it passed the document filter, where that is known already
	Failed   bool       // nothing came back
	Found    int        // links that were new
	NewDocs  int        // of these, how many are named like documents
}

// Strategy orders the links of one site. It is not safe for concurrent use.
type Strategy interface {
	Name() string
	// Enter gives a new link its queue (the higher goes first, where the
	// strategy has queues), its priority in it, and its mark.
	Enter(c *Candidate)
	// Next picks one of the waiting candidates, by index. The slice holds the
	// best of each queue and mark by stored priority and is never empty. The
	// reason is one line for a person.
	Next(waiting []Candidate) (index int, reason string)
	// Observe learns from a result.
	Observe(c Candidate, r Result)
	// State and Restore carry what was learnt from one slice to the next;
	// bounded to 256 KiB whatever the size of the site.
	State() (json.RawMessage, error)
	Restore(json.RawMessage) error
}
