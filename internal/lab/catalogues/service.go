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
	"gleaner/internal/lab/sampleweb"
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

// Service answers for all hosts, and keeps a log.
type Service struct {
	*sampleweb.Journal
	// Latency is how long each answer takes.
	Latency time.Duration

	catalogue Catalogue
	mux       *http.ServeMux

	mu     sync.Mutex
	faults []*Fault
	until  map[string]time.Time // by host, before which it is not to be asked
	hasty  map[string]int       // by host, requests before that
}

// New returns a service for a catalogue.
func New(c Catalogue) *Service {
	s := &Service{catalogue: c, mux: http.NewServeMux(), until: map[string]time.Time{}, hasty: map[string]int{}}
	s.Journal = sampleweb.NewJournal(http.HandlerFunc(s.serve))
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
	var sent []byte
	if r.Body != nil {
		sent, _ = io.ReadAll(r.Body)
		r.Body.Close()
	}
	in := httptest.NewRequest(r.Method, r.URL.String(), bytes.NewReader(sent))
	in.Header = r.Header
	out := httptest.NewRecorder()
	s.ServeHTTP(out, in)
	resp := out.Result()
	resp.Request = r
	return resp, nil
}

func (s *Service) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if time.Now().Before(s.until[r.Host]) {
		s.hasty[r.Host]++
	}
	s.mu.Unlock()
	if s.Latency > 0 {
		time.Sleep(s.Latency)
	}
	f := s.fault(r)
	if f == nil {
		s.mux.ServeHTTP(w, r)
		return
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
	}
	w.WriteHeader(f.Status)
	_, _ = io.WriteString(w, f.Body)
}

func (s *Service) fault(r *http.Request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if (f.Host != "" && f.Host != r.Host) || !strings.HasPrefix(r.URL.Path, f.Path) || (f.Times > 0 && f.done >= f.Times) {
			continue
		}
		f.seen++
		if f.Every > 1 && f.seen%f.Every != 0 {
			continue
		}
		f.done++
		s.until[r.Host] = time.Now().Add(f.RetryAfter)
		return f
	}
	return nil
}

// Requests are those of one host.
func (s *Service) Requests(host string) []sampleweb.Request {
	return each.Where(s.Log(), func(r sampleweb.Request) bool { return r.Host == host })
}

// Hosts lists the hosts that were asked, sorted.
func (s *Service) Hosts() []string {
	all := each.Of(s.Log(), func(r sampleweb.Request) string { return r.Host })
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
	s.mu.Lock()
	defer s.mu.Unlock()
	p := Pace{Requests: len(log), MinGap: -1, Hasty: s.hasty[host]}
	for _, r := range log {
		p.InFlight = max(p.InFlight, r.InFlight)
		if r.Gap >= 0 && (p.MinGap < 0 || r.Gap < p.MinGap) {
			p.MinGap = r.Gap
		}
	}
	return p
}
