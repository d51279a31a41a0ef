package bench

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"gleaner/internal/lab/sampleweb"
)

// Web is a web of pages in memory: as many hosts as asked, each a port of the
// loopback interface with the same pages.
type Web struct {
	Hosts []string // host:port
	Pages int      // of each host

	Visits  []*Visits `json:"-"` // of each host, to be read after Close
	site    map[string][]byte
	servers []*http.Server
}

// Visits are the requests that one host of a web had.
type Visits struct {
	Requests    int       `json:"requests"`
	Pages       int       `json:"pages"`       // different ones
	Overlapping int       `json:"overlapping"` // that came while another was answered
	Last        time.Time `json:"last"`
	Gaps        []float64 `json:"gaps"` // seconds from the end of an answer to the next request

	mu       sync.Mutex
	seen     map[string]bool // paths of pages
	inFlight int
	answered time.Time
}

// begin notes a request, and returns what notes its answer.
func (v *Visits) begin(path string, page bool) (end func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.Last = time.Now()
	if v.Requests++; v.Requests > 1 {
		v.Gaps = append(v.Gaps, v.Last.Sub(v.answered).Seconds())
	}
	if page && !v.seen[path] {
		v.seen[path] = true
		v.Pages++
	}
	if v.inFlight++; v.inFlight > 1 {
		v.Overlapping++
	}
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.inFlight--
		v.answered = time.Now()
	}
}

// NewWeb generates a web, of whose pages each links to so many files, and serves it
// until Close.
func NewWeb(hosts, pages, files int) (*Web, error) {
	w := &Web{Pages: max(1, pages/hosts)}
	w.site = sampleweb.Thicket(w.Pages, files)
	for range hosts {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			w.Close()
			return nil, fmt.Errorf("bench: %w", err)
		}
		v := &Visits{seen: map[string]bool{}}
		count := http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			page, is := w.site[r.URL.Path]
			defer v.begin(r.URL.Path, is)()
			if !is {
				http.NotFound(out, r)
				return
			}
			out.Header()["Content-Type"] = []string{"text/html; charset=utf-8"}
			_, _ = out.Write(page)
		})
		s := &http.Server{Handler: count, ReadHeaderTimeout: 10 * time.Second}
		w.Visits = append(w.Visits, v)
		w.Hosts, w.servers = append(w.Hosts, l.Addr().String()), append(w.servers, s)
		go func() { _ = s.Serve(l) }()
	}
	return w, nil
}

// Start is the page of a host from which all others are reached.
func (w *Web) Start(host string) string { return "http://" + host + sampleweb.ThicketStart }

// Close ends the servers.
func (w *Web) Close() {
	for _, s := range w.servers {
		_ = s.Close()
	}
}
