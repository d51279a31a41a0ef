package evidence

import (
	"slices"
	"time"

	"gleaner/internal/gleaner"
)

// The sources of candidates, in order of trust.
const (
	SourceListed   = "listed"    // with the directory after a colon: "listed:dblp"
	SourceVenue    = "search"    // name + venue
	SourceTitle    = "title"     // name + title of a wanted paper
	SourceCoAuthor = "co-author" // a link on a co-author's page whose anchor is the name
	SourcePeople   = "people"    // the same on a page that lists people
	SourceInner    = "inner"     // the link "home" on an inner page of theirs
	SourceMoved    = "moved"     // where a page says that it has moved to
	SourcePapers   = "papers"    // no homepage: a Place, linked from one
	SourceCrawl    = "crawl"     // in a directory's place: a crawl found papers of theirs there
)

// Candidate is one address that was thought of, and what became of it.
type Candidate struct {
	URL      string             `json:"url"`
	Title    string             `json:"title,omitempty"`
	Source   string             `json:"source"`
	Via      string             `json:"via,omitempty"` // the address that led here: a search result below it, a page that moved or links
	Rank     int                `json:"rank,omitempty"`
	Rule     string             `json:"rule"`               // the rule that decided it
	Priority string             `json:"priority,omitempty"` // high, medium, low; "" when dropped
	Features map[string]float64 `json:"features,omitempty"` // empty where no page was fetched
	Score    float64            `json:"score"`              // 0–1, the model's probability that this is a homepage of the author
	Kept     bool               `json:"kept"`
	Fetched  bool               `json:"fetched,omitempty"`

	Confirmed int `json:"confirmed,omitempty"` // papers of the author that a crawl found there
}

// Decision is what was found for one author, with all the evidence.
type Decision struct {
	Author     gleaner.Author `json:"author"`
	Homepages  []Candidate    `json:"homepages"`           // kept, the best first
	Places     []Place        `json:"places,omitempty"`    // of their papers, elsewhere than at the homepages: see Elsewhere
	Candidates []Candidate    `json:"candidates"`          // all, in the order in which they were thought of
	NotFound   string         `json:"not_found,omitempty"` // why there is none
	Searches   int            `json:"searches"`            // queries asked, cached ones included
	Fetches    int            `json:"fetches"`             // pages asked for
	Problems   []string       `json:"problems,omitempty"`  // searches that failed
	// Unanswered is what brought no answer this time. While there is any, the
	// decision is not the last word: the author is looked for again.
	Unanswered []Unanswered `json:"unanswered,omitempty"`
	Tries      int          `json:"tries,omitempty"`   // looks in a row that left something unanswered
	NextTry    time.Time    `json:"next_try,omitzero"` // when to look again
}

// Unanswered is a page, a search or a directory that brought no answer this time
// and may bring one later.
type Unanswered struct {
	What       string        `json:"what"`   // the page's address, the query, or the directory's name
	Kind       string        `json:"kind"`   // page, search or directory
	Reason     string        `json:"reason"` // "busy (status 503)"
	RetryAfter time.Duration `json:"retry_after,omitempty"`
}

// Place is where papers of a person's lie that are not at their homepage but linked from
// it: on the site of a group, on another host.
type Place struct {
	URL   string `json:"url"`
	Scope string `json:"scope"` // what of its host is crawled for them, as weburl.InScope takes it
	Of    string `json:"of"`    // the homepage
	Rule  string `json:"rule"`  // why it is taken
}

// Elsewhere are the places of the papers of those homepages that are still the author's.
func (d Decision) Elsewhere() (all []Place) {
	for _, p := range d.Places {
		if slices.ContainsFunc(d.Homepages, func(c Candidate) bool { return c.URL == p.Of }) {
			all = append(all, p)
		}
	}
	return all
}

// Best is the first homepage, or "".
func (d Decision) Best() string {
	if len(d.Homepages) == 0 {
		return ""
	}
	return d.Homepages[0].URL
}

// What can be Unanswered.
const (
	KindPage      = "page"
	KindSearch    = "search"
	KindDirectory = "directory"
)

// OnBlacklist is the Rule of a candidate that was not asked for.
const OnBlacklist = "its host is on the blacklist"

// Reasons why an author has no homepage (Decision.NotFound).
const (
	NoCandidates   = "nothing was listed and no search brought a page of theirs"
	NoEvidence     = "no candidate showed enough evidence"
	AllDead        = "the listed pages do not answer and search brought nothing"
	NoSearch       = "nothing useful is listed and no search provider answered"
	SearchFailed   = "nothing was found, and a search failed"
	DidNotAnswer   = "homepage did not answer" // with the reason in brackets
	Barred         = "a page of theirs was on a blacklisted host"
	Unreadable     = "a page was set aside" // with what it did to the program, and its address, in brackets
	GivenToAnother = "the page found belongs to another author with more evidence"
	Withdrawn      = "withdrawn" // with what its crawl came to after a colon
)

// Barren is a homepage whose crawl came to its end, and on which nothing academic is,
// nor linked from it.
type Barren struct {
	Author  string // its id
	URL     string
	Brought string // what it came to, in words
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
