package topicweb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-pdf/fpdf"
)

// SearchURL is the address of the search engine behind Handler.
const SearchURL = "http://search.example"

// searchPage is how many results it gives at once.
const searchPage = 10

// Request is a line of a Server's log. Times are of the server's clock.
type Request struct {
	URL        string
	Begin, End time.Time
}

// Server serves a web, and remembers what was asked for.
type Server struct {
	web *Web
	mu  sync.Mutex
	log []Request
}

// Serve makes a server.
func (w *Web) Serve() *Server { return &Server{web: w} }

// Log is what was asked for, robots.txt and searches too.
func (s *Server) Log() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.log...)
}

func (s *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	begin, url := time.Now(), "http://"+r.Host+r.URL.RequestURI()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log = append(s.log, Request{url, begin, time.Now()})
	}()
	if "http://"+r.Host == SearchURL {
		s.search(rw, r)
		return
	}
	if r.URL.Path == "/robots.txt" {
		_, _ = rw.Write([]byte("User-agent: *\nDisallow: /p/5.html\n"))
		return
	}
	h, i, pdf, ok := s.web.place(url)
	switch p, is := s.web.Page(url); {
	case ok && pdf:
		rw.Header().Set("Content-Type", "application/pdf")
		_, _ = rw.Write(s.web.pdf(h, i))
	case is:
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(rw, "<html><head><title>%s</title></head><body><p>%s</p>\n<ul>\n", html.EscapeString(p.Title), html.EscapeString(p.Text))
		for _, l := range p.Links {
			fmt.Fprintf(rw, "<li><a href=%q>%s</a>\n", l.URL, html.EscapeString(l.Anchor))
		}
		fmt.Fprint(rw, "</ul></body></html>")
	default:
		http.NotFound(rw, r)
	}
}

// search answers as SearXNG does.
func (s *Server) search(rw http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/search" {
		http.NotFound(rw, r)
		return
	}
	results := []map[string]any{}
	page, _ := strconv.Atoi(r.URL.Query().Get("pageno"))
	from := searchPage * max(page-1, 0)
	for i, u := range s.web.Search(r.URL.Query().Get("q"), from+searchPage) {
		if i >= from {
			results = append(results, map[string]any{"url": u, "title": u, "content": "", "engine": "topicweb"})
		}
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(map[string]any{"results": results})
}

// pdf is a paper that says as much as ten pages of its topic.
func (w *Web) pdf(h, i int) []byte {
	f := fpdf.New("P", "mm", "A4", "")
	f.SetCreationDate(time.Unix(0, 0))
	f.SetModificationDate(time.Unix(0, 0))
	f.SetTitle(w.anchor(h, i), true)
	f.AddPage()
	f.SetFont("Times", "", 11)
	f.MultiCell(0, 5, "Abstract\n"+w.text(h, i, "pdf")+"\n\n1. Introduction\n"+strings.Repeat(w.text(h, i, "pdf 2")+". ", 3)+"\n\nReferences\n[1] A. Author. On things. 1999.", "", "", false)
	var b bytes.Buffer
	_ = f.Output(&b)
	return b.Bytes()
}
