package topicweb

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/lab/sampleweb"
)

// Serve serves the web and its search engine, whose address is sampleweb.SearchURL.
func (w *Web) Serve() *sampleweb.Journal {
	return sampleweb.NewJournal(http.HandlerFunc(w.serve))
}

func (w *Web) serve(rw http.ResponseWriter, r *http.Request) {
	url := "http://" + r.Host + r.URL.RequestURI()
	if r.Host == sampleweb.SearchHost {
		sampleweb.ServeSearXNG(rw, r, func(_ context.Context, query string, n int) ([]evidence.Result, error) {
			return each.Of(w.Search(query, n), func(u string) evidence.Result { return evidence.Result{URL: u, Title: u} }), nil
		})
		return
	}
	if r.URL.Path == "/robots.txt" {
		_, _ = rw.Write([]byte("User-agent: *\nDisallow: /p/5.html\n"))
		return
	}
	h, i, pdf, ok := w.place(url)
	switch p, is := w.Page(url); {
	case ok && pdf:
		rw.Header().Set("Content-Type", "application/pdf")
		_, _ = rw.Write(sampleweb.SheetPDF(w.anchor(h, i), []string{ // it says as much as ten pages of its topic
			"Abstract", w.text(h, i, "pdf"), "", "1. Introduction", strings.Repeat(w.text(h, i, "pdf 2")+". ", 3),
			"", "References", "[1] A. Author. On things. 1999.",
		}))
	case is:
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(rw, "<html><head><title>%s</title></head><body><p>%s</p>\n<ul>\n",
			html.EscapeString(p.Title), html.EscapeString(p.Text))
		for _, l := range p.Links {
			fmt.Fprintf(rw, "<li><a href=%q>%s</a>\n", l.URL, html.EscapeString(l.Anchor))
		}
		fmt.Fprint(rw, "</ul></body></html>")
	default:
		http.NotFound(rw, r)
	}
}
