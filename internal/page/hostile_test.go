package page_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gleaner/internal/page"
)

// TestHostileMarkupIsBounded parses markup made to be slow. Were any of it
// quadratic, a quarter of a megabyte would take minutes.
func TestHostileMarkupIsBounded(t *testing.T) {
	const size, most = 1 << 18, 10 * time.Second // of CPU time; each takes under a second
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	bodies := []string{
		fill(`<a href="x>`), fill("<a href='"), fill("<!-- -->"), fill("<title>"), fill("<title><body>") + "</title>",
		fill("<textarea>") + "</textarea>", fill("<script>"), fill("<li><a href=x>y</a>"), fill("<ul><li><a href=x>"),
		strings.Repeat("<b>", 300) + fill("<p></p>"), strings.Repeat("<div>", 300) + fill("</x>"), "<a " + fill("a b=c "),
		fill("<"), fill("</"), fill("<br>"), "<script>" + fill(".html") + "</script>", fill("&amp"), "<a href='" + fill("&amp") + "'>",
		fill("<table><tr><td>"), fill("<h1>"), fill("<option value=a.html>"), fill("<a href=x "), "<!--" + fill("--!"), fill("\x82\xa0 <a href=?\x82>"),
	}
	for _, body := range bodies {
		before := cpuTime(t)
		if _, err := page.Parse(here, nil, []byte(body)); err != nil && !errors.Is(err, page.ErrNotPage) {
			t.Errorf("%.30q: %v", body, err)
		}
		if d := cpuTime(t) - before; d > most {
			t.Errorf("%.30q…: %v of CPU time", body, d)
		}
	}
	for _, body := range []string{fill("<url>"), fill("<"), fill("<![CDATA["), fill("<url/>"), fill("<loc>a</loc><url></url>"), fill("http://a/\n")} {
		before := cpuTime(t)
		if _, err := page.ParseSitemap(mapURL, []byte(body)); err != nil && !errors.Is(err, page.ErrNotSitemap) {
			t.Errorf("%.30q: %v", body, err)
		}
		if d := cpuTime(t) - before; d > most {
			t.Errorf("sitemap %.30q…: %v of CPU time", body, d)
		}
	}
}
