package catalogues

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/dblp"
)

// Catalogue is what there is to be known.
type Catalogue struct {
	Venue   string // "conf/exa"
	Name    string // "EXA"
	Title   string // "Symposium on Examples"
	ISSN    string
	Volumes []Volume
	// Homepages are addresses by pid, in DBLP's order.
	Homepages map[string][]string
}

// Volume is one table of contents.
type Volume = dblp.Volume

// Papers lists all volumes' papers.
func (c Catalogue) Papers() []gleaner.Paper {
	var out []gleaner.Paper
	for _, v := range c.Volumes {
		out = append(out, v.Papers...)
	}
	return out
}

// Fault makes some requests fail.
type Fault struct {
	Host       string // "" for any
	Path       string // prefix, "" for any
	Every      int    // each n-th matching request; 0 is each
	Times      int    // at most so often; 0 is without end
	Status     int
	RetryAfter time.Duration
	Body       string

	seen, done int
}

// Request is one line of the log.
type Request struct {
	Begin, End time.Time
	Host, URL  string
	RetryAfter time.Duration
}

// Service answers for all hosts.
type Service struct {
	// Latency is how long each answer takes.
	Latency time.Duration

	catalogue Catalogue
	mux       *http.ServeMux

	mu     sync.Mutex
	faults []*Fault
	log    []Request
}

// New returns a service for a catalogue.
func New(c Catalogue) *Service {
	s := &Service{catalogue: c, mux: http.NewServeMux()}
	var people []dblp.Person
	for pid, urls := range c.Homepages {
		people = append(people, dblp.Person{Author: gleaner.Author{PID: pid}, URLs: urls})
	}
	for _, host := range []string{"dblp.org", "dblp.uni-trier.de"} {
		s.mux.Handle(host+"/", dblp.New("https://dblp.org", []dblp.Venue{{Key: c.Venue, Name: c.Name, Title: c.Title, Volumes: c.Volumes}}, people))
	}
	s.mux.HandleFunc("api.crossref.org/works", s.crossrefList)
	s.mux.HandleFunc("api.crossref.org/works/", s.crossrefWork)
	s.mux.HandleFunc("api.openalex.org/works", s.openAlex)
	s.mux.HandleFunc("api.semanticscholar.org/graph/v1/paper/batch", s.s2Papers)
	s.mux.HandleFunc("api.unpaywall.org/v2/", s.unpaywall)
	s.mux.HandleFunc("export.arxiv.org/api/query", s.arxiv)
	return s
}

// Fail adds a fault.
func (s *Service) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// Client returns an HTTP client whose every request is answered here.
func (s *Service) Client() *http.Client { return &http.Client{Transport: s} }

// RoundTrip implements http.RoundTripper without a network.
func (s *Service) RoundTrip(r *http.Request) (*http.Response, error) {
	entry := Request{Begin: time.Now(), Host: r.URL.Host, URL: r.URL.String()}
	if s.Latency > 0 {
		time.Sleep(s.Latency)
	}
	var sent []byte
	if r.Body != nil {
		sent, _ = io.ReadAll(r.Body)
		r.Body.Close()
	}
	in := httptest.NewRequest(r.Method, r.URL.String(), bytes.NewReader(sent))
	in.Header = r.Header
	out := httptest.NewRecorder()
	if f := s.fault(r); f != nil {
		if f.RetryAfter > 0 {
			out.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
			entry.RetryAfter = f.RetryAfter
		}
		out.WriteHeader(f.Status)
		_, _ = out.WriteString(f.Body)
	} else {
		s.mux.ServeHTTP(out, in)
	}
	resp := out.Result()
	resp.Request = r
	entry.End = time.Now()
	s.mu.Lock()
	s.log = append(s.log, entry)
	s.mu.Unlock()
	return resp, nil
}

func (s *Service) fault(r *http.Request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if (f.Host != "" && f.Host != r.URL.Host) || !strings.HasPrefix(r.URL.Path, f.Path) || (f.Times > 0 && f.done >= f.Times) {
			continue
		}
		f.seen++
		if f.Every > 1 && f.seen%f.Every != 0 {
			continue
		}
		f.done++
		return f
	}
	return nil
}

// Log is every request so far, in the order of their begin.
func (s *Service) Log() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := append([]Request(nil), s.log...)
	slices.SortStableFunc(out, func(a, b Request) int { return a.Begin.Compare(b.Begin) })
	return out
}

// Requests are those of one host.
func (s *Service) Requests(host string) []Request {
	return each.Where(s.Log(), func(r Request) bool { return r.Host == host })
}

// Hosts lists the hosts that were asked, sorted.
func (s *Service) Hosts() []string {
	all := each.Of(s.Log(), func(r Request) string { return r.Host })
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// Pace is what a host saw of its clients.
type Pace struct {
	Requests int
	InFlight int           // the most at one time
	MinGap   time.Duration // from an answer's end to the next request's begin; -1 without one
	Hasty    int           // requests that came before a Retry-After had passed
}

// Pace measures one host's log.
func (s *Service) Pace(host string) Pace {
	log := s.Requests(host)
	p := Pace{Requests: len(log), MinGap: -1}
	var until time.Time
	for i, r := range log {
		before := log[:i]
		p.InFlight = max(p.InFlight, 1+each.Count(before, func(o Request) bool { return o.End.After(r.Begin) }))
		if r.Begin.Before(until) {
			p.Hasty++
		}
		if r.RetryAfter > 0 {
			until = r.End.Add(r.RetryAfter)
		}
		if i > 0 {
			if gap := r.Begin.Sub(before[i-1].End); p.MinGap < 0 || gap < p.MinGap {
				p.MinGap = gap
			}
		}
	}
	return p
}
