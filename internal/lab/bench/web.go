package bench

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"gleaner/internal/lab/sampleweb"
)

// Web is a web of pages in memory: as many hosts as asked, each a port of the
// loopback interface with the pages of a sampleweb.Thicket.
type Web struct {
	Hosts []string // host:port
	Pages int      // of each host

	site    *sampleweb.Thicket
	servers []*http.Server
}

// NewWeb generates a web, of whose pages each links to so many files, and serves it
// until Close.
func NewWeb(hosts, pages, files int) (*Web, error) {
	w := &Web{Pages: max(1, pages/hosts)}
	w.site = sampleweb.NewThicket(w.Pages, files)
	for range hosts {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			w.Close()
			return nil, fmt.Errorf("bench: %w", err)
		}
		s := &http.Server{Handler: w.site, ReadHeaderTimeout: 10 * time.Second}
		w.Hosts, w.servers = append(w.Hosts, l.Addr().String()), append(w.servers, s)
		go func() { _ = s.Serve(l) }()
	}
	return w, nil
}

// Start is the page of a host from which all others are reached.
func (w *Web) Start(host string) string { return "http://" + host + sampleweb.ThicketStart }

// Served is how many pages were asked for.
func (w *Web) Served() int { return w.site.Served() }

// Close ends the servers.
func (w *Web) Close() {
	for _, s := range w.servers {
		_ = s.Close()
	}
}
