package page_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gleaner/internal/web/page"
)

// authorPage is a page of about 9 KB with 50 links, as authors write them.
func authorPage() []byte {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>Ada Example &ndash; Publications</title></head>\n<body><div id=main class=\"content wide\"><h1>Ada Example</h1>\n<p>I work on the <b>theory</b> of crawling.</p>\n<h2>Publications</h2>\n<ul class=pubs>\n")
	for i := range 25 {
		fmt.Fprintf(&b, "<li class=\"pub conf\"><a href=\"papers/2003/paper%d.pdf\">On the convergence of focused crawlers, part %d</a>.<br>\nAda Example, Bob Sample &amp; Carl Muster. <i>Proceedings of the %dth Workshop on the Web and Databases</i>, San Diego, 2003, pages %d&ndash;%d.\n<span class=\"links\">[<a href=\"/~ada/bib/paper%d.bib\" class=\"bib\">BibTeX</a>]</span> An abstract is to be had from the author on request.</li>\n", i, i, i+3, i*12, i*12+11, i)
	}
	b.WriteString("</ul></div></body></html>")
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	body := authorPage()
	h := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	p, err := page.Parse("http://www.cs.example.edu/~ada/pubs.html", h, body)
	if err != nil || len(p.Links) != 50 {
		b.Fatalf("%d links, %v", len(p.Links), err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	n, before := 0, cpuTime(b)
	for b.Loop() {
		if _, err := page.Parse("http://www.cs.example.edu/~ada/pubs.html", h, body); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(n)/(cpuTime(b)-before).Seconds(), "pages/cpu-s")
}
