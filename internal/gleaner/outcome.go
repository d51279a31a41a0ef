package gleaner

// Outcome names how asking for a URL ended. It is stored with the URL, shown to
// people and counted in reports, so the words are part of the interface. Package
// fetch names what keeps an answer from coming, the crawl what keeps it from asking.
type Outcome string

// The outcomes of an answer.
const (
	OK          Outcome = "success"
	NotModified Outcome = "not-modified"
)

// Stalled is the outcome of a document over which its reader was stopped.
const Stalled = "stalled"
