package bench

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Web is a web of pages in memory: as many hosts as asked, each a port of the
// loopback interface, each a tree of pages with further links across. A page is
// some 9 KB long and has 50 links.
type Web struct {
	Hosts []string // host:port
	Pages int      // of each host

	servers []*http.Server
	served  atomic.Int64
}

const (
	linksPerPage = 50
	branching    = 5   // links that go on to pages not linked before
	perDirectory = 100 // pages
)

// NewWeb generates a web and serves it until Close.
func NewWeb(hosts, pages int) (*Web, error) {
	w := &Web{Pages: max(1, pages/hosts)}
	bodies := make([][]byte, w.Pages)
	for i := range bodies {
		bodies[i] = pageBody(i, w.Pages)
	}
	for range hosts {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			w.Close()
			return nil, fmt.Errorf("bench: %w", err)
		}
		s := &http.Server{Handler: w.handler(bodies), ReadHeaderTimeout: 10 * time.Second}
		w.Hosts, w.servers = append(w.Hosts, l.Addr().String()), append(w.servers, s)
		go func() { _ = s.Serve(l) }()
	}
	return w, nil
}

// Start is the page of a host from which all others are reached.
func (w *Web) Start(host string) string { return "http://" + host + pagePath(0) }

// Served is how many pages were asked for.
func (w *Web) Served() int { return int(w.served.Load()) }

// Close ends the servers.
func (w *Web) Close() {
	for _, s := range w.servers {
		_ = s.Close()
	}
}

func (w *Web) handler(bodies [][]byte) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		i, ok := pageNumber(r.URL.Path)
		if !ok || i >= len(bodies) {
			http.NotFound(rw, r)
			return
		}
		w.served.Add(1)
		rw.Header()["Content-Type"] = []string{"text/html; charset=utf-8"}
		_, _ = rw.Write(bodies[i])
	})
}

func pagePath(i int) string { return fmt.Sprintf("/d%d/page%d.html", i/perDirectory, i) }

func pageNumber(path string) (int, bool) {
	_, name, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/page")
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(strings.TrimSuffix(name, ".html"))
	return i, err == nil && i >= 0
}

var vocabulary = strings.Fields(`analysis method system query index storage learning graph model theorem proof network protocol
	parallel efficient adaptive robust evaluation benchmark data stream tree search crawl page author paper section result`)

func words(r *rand.Rand, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(vocabulary[r.IntN(len(vocabulary))])
	}
	return b.String()
}

// pageBody is page i of n: a menu that every page has, and paragraphs with links.
func pageBody(i, n int) []byte {
	r := rand.New(rand.NewPCG(uint64(i), 1))
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>Page %d: %s</title>\n<link rel=stylesheet href=/style.css></head>\n<body><ul class=nav>", i, words(r, 4))
	links := 0
	link := func(to int) string {
		links++
		return fmt.Sprintf(`<a href="%s">%s</a>`, pagePath(to%n), words(r, 3))
	}
	for to := range 10 {
		b.WriteString("<li>" + link(to) + "</li>")
	}
	fmt.Fprintf(&b, "</ul>\n<h1>%s</h1>\n", words(r, 5))
	for k := range branching {
		fmt.Fprintf(&b, "<h2>%s</h2><p>%s %s %s</p>\n", words(r, 3), words(r, 20), link(i*branching+k+1), words(r, 30))
	}
	b.WriteString("<ul>\n")
	for links < linksPerPage {
		fmt.Fprintf(&b, "<li>%s, %s <em>%s</em></li>\n", link(r.IntN(n)), words(r, 6), words(r, 2))
	}
	fmt.Fprintf(&b, "</ul><p>%s</p></body></html>\n", words(r, 100))
	return []byte(b.String())
}
