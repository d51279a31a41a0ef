package evaluate

import (
	"fmt"
	"net/http"
	"strings"

	"gleaner/internal/library/collection"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Recorded is an answer as a server gave it.
type Recorded struct {
	URL    string // asked for, canonical
	Status int
	Header http.Header
	Body   []byte // inflated
}

// Ask gives the answer to a canonical URL; ErrMissing where there is none.
type Ask func(url string) (Recorded, error)

// Snapshot is a site whose answers come from recordings or from a server, each
// asked for once.
type Snapshot struct {
	start string
	ask   Ask
	known map[string]known
}

type known struct {
	answer Answer
	err    error
}

// NewSnapshot makes a site that begins at start.
func NewSnapshot(start string, ask Ask) *Snapshot {
	return &Snapshot{start: start, ask: ask, known: map[string]known{}}
}

// Start is where a crawl begins.
func (s *Snapshot) Start() string { return s.start }

// Get follows redirects on the same host.
func (s *Snapshot) Get(u string) (Answer, error) {
	key := weburl.Key(u)
	if k, ok := s.known[key]; ok {
		return k.answer, k.err
	}
	a, err := s.get(u, 0)
	s.known[key] = known{a, err}
	return a, err
}

const maxHops = 10

func (s *Snapshot) get(u string, hops int) (Answer, error) {
	r, err := s.ask(u)
	if err != nil {
		return Answer{}, err
	}
	if r.Status >= 300 && r.Status < 400 {
		to, err := weburl.Canonical(u, r.Header.Get("Location"))
		if err != nil || hops >= maxHops || weburl.Host(to) != weburl.Host(s.start) {
			return Answer{}, ErrMissing
		}
		return s.get(to, hops+1)
	}
	if r.Status < 200 || r.Status > 299 {
		return Answer{}, ErrMissing
	}
	a := Answer{URL: u, Body: r.Body}
	switch collection.Sniff(u, r.Header.Get("Content-Type"), r.Body) {
	case collection.ContentDocument:
		a.Document = true
	case collection.ContentPage:
		if a.Page, err = page.Parse(u, r.Header, r.Body); err != nil {
			return Answer{}, fmt.Errorf("%w: %s: %v", ErrMissing, u, err)
		}
	}
	return a, nil
}

// Archive is a set of recorded answers.
type Archive struct {
	answers map[string]Recorded
	first   string
}

// NewArchive is an empty archive.
func NewArchive() *Archive { return &Archive{answers: map[string]Recorded{}} }

// Add keeps an answer; of two to one address the first that succeeded stays.
func (a *Archive) Add(r Recorded) {
	key := weburl.Key(r.URL)
	if had, ok := a.answers[key]; ok && (had.Status < 300 || r.Status >= 300) {
		return
	}
	if a.first == "" && !strings.HasSuffix(r.URL, "/robots.txt") {
		a.first = r.URL
	}
	a.answers[key] = r
}

// Ask answers from the archive.
func (a *Archive) Ask(u string) (Recorded, error) {
	r, ok := a.answers[weburl.Key(u)]
	if !ok {
		return Recorded{}, ErrMissing
	}
	return r, nil
}

// Len is how many addresses have an answer.
func (a *Archive) Len() int { return len(a.answers) }

// First is the address that was recorded first, where the crawl began as a rule.
func (a *Archive) First() string { return a.first }
