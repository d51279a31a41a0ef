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

// Outcomes of documents by which the record itself goes.
const (
	Stalled         = "stalled"          // the reader was stopped over it
	ImageOnly       = "image-only"       // pages of pictures
	Garbled         = "garbled"          // letters that cannot be told
	OtherDiscipline = "other-discipline" // academic, and of none of the disciplines that are collected
)
