package bench

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/lab/sampleweb"
)

// Web is a web of pages in memory: as many hosts as asked, each a port of the
// loopback interface with the same pages.
type Web struct {
	Hosts []string // host:port
	Pages int      // of each host

	site    map[string][]byte
	log     *sampleweb.Journal
	servers []*http.Server
}

// Visits are the requests that one host of a web had.
type Visits struct {
	Requests    int       `json:"requests"`
	Pages       int       `json:"pages"`       // different ones
	Overlapping int       `json:"overlapping"` // that came while another was answered
	Last        time.Time `json:"last"`
	Gaps        []float64 `json:"gaps"` // seconds from the end of an answer to the next request
}

// Visits are the requests that each host had so far.
func (w *Web) Visits() []*Visits {
	log := each.By(w.log.Log(), func(q sampleweb.Request) string { return q.Host })
	return each.Of(w.Hosts, func(host string) *Visits {
		v, pages := &Visits{Requests: len(log[host])}, map[string]bool{}
		for _, q := range log[host] {
			if q.InFlight > 1 {
				v.Overlapping++
			}
			if q.Gap >= 0 {
				v.Gaps = append(v.Gaps, q.Gap.Seconds())
			}
			if q.Time.After(v.Last) {
				v.Last = q.Time
			}
			if w.site[q.Path] != nil {
				pages[q.Path] = true
			}
		}
		v.Pages = len(pages)
		return v
	})
}

// NewWeb generates a web, of whose pages each links to so many files, and serves it
// until Close.
func NewWeb(hosts, pages, files int) (*Web, error) {
	w := &Web{Pages: max(1, pages/hosts)}
	w.site = sampleweb.Thicket(w.Pages, files)
	w.log = sampleweb.NewJournal(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		page, is := w.site[r.URL.Path]
		if !is {
			http.NotFound(out, r)
			return
		}
		out.Header()["Content-Type"] = []string{"text/html; charset=utf-8"}
		_, _ = out.Write(page)
	}))
	for range hosts {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			w.Close()
			return nil, fmt.Errorf("bench: %w", err)
		}
		s := &http.Server{Handler: w.log, ReadHeaderTimeout: 10 * time.Second}
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
