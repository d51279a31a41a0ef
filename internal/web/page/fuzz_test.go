package page_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
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

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		string(authorPage()), `<a href="x>y</a><b title='`, "<title><body><a href=x>", "<li><p><a href=1>x<td></li></table>",
		"<!--><script>'a.html'</script>", "\x1b$B\x30\x21\x1b(B", "\xff\xfe<\x00a\x00", "<meta charset=shift_jis>\x82\xa0", "<dl><dt>a<dd>b<a href=c>d",
		"<meta http-equiv=refresh content='0;url=x'>", "<a/href=x/><a href=x<a href=y", "\xa4\xe9\xa4\xa2",
		"<b>x</b><h1><a href=y>z", "<br><br><a href=a>b", "<?xml?><title/><a href=b/>", "&#0;&#xD800;&amp",
	} {
		f.Add([]byte(s), "text/html; charset=iso-8859-1", "<x.pdf>; rel=alternate")
		f.Add([]byte(s), "text/plain", "noindex, bot: none")
	}
	for _, worst := range worstPages {
		f.Add(worst(256), "text/html", "<x>; rel=next, ")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType, other string) {
		h := http.Header{"Content-Type": {contentType}, "Link": {other}, "X-Robots-Tag": {other}, "Refresh": {other}}
		p, err := page.Parse(here, h, body)
		if err != nil {
			return
		}
		if len(p.Links) > page.MaxLinks || len(p.Text) > page.MaxText || !utf8.ValidString(p.Text) || !utf8.ValidString(p.Title) {
			t.Fatalf("out of bounds: %d links, %d bytes, valid %v", len(p.Links), len(p.Text), utf8.ValidString(p.Text))
		}
		checkLinks(t, p)
		for _, s := range stringsOf(p) {
			require.False(t, strings.ContainsFunc(s, unicode.IsControl), "a control character in")
		}
	})
}

// checkLinks holds the links of a page to their bounds.
func checkLinks(t *testing.T, p *page.Page) {
	t.Helper()
	for i, l := range p.Links {
		if l.Position != i || len(l.Anchor) > 300 || len(l.Context) > 500 || len(l.Heading) > 120 || len(l.TagPath) > 300 {
			t.Fatalf("link out of bounds: %+v", l)
		}
		if c, err := weburl.Canonical("", l.URL); err != nil || c != l.URL {
			t.Fatalf("%q is not canonical: %q, %v", l.URL, c, err)
		}
		if !utf8.ValidString(l.Anchor) || !utf8.ValidString(l.Context) || !utf8.ValidString(l.Heading) || !utf8.ValidString(l.TagPath) {
			t.Fatalf("invalid UTF-8: %+v", l)
		}
	}
}

func FuzzSitemap(f *testing.F) {
	f.Add([]byte(`<urlset><url><loc>http://a.org/</loc><lastmod>2004</lastmod><priority>NaN</priority></url></urlset>`))
	f.Add([]byte("<sitemapindex><sitemap><loc><![CDATA[http://a.org/]]></loc></sitemap>"))
	f.Add([]byte("http://a.org/\nhttp://b.org/"))
	f.Add([]byte(`<feed><entry><link href='http://a'/></entry>`))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	for _, worst := range worstMaps {
		f.Add(worst(256))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := page.ParseSitemap(mapURL, body)
		if err != nil {
			return
		}
		for _, e := range append(m.Pages, m.Sitemaps...) {
			if c, err := weburl.Canonical("", e.URL); err != nil || c != e.URL {
				t.Fatalf("%+v: %q, %v", e, c, err)
			}
		}
	})
}
