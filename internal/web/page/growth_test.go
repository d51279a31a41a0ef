package page_test

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/growthtest"
	"gleaner/internal/lab/packtest"
	"gleaner/internal/web/page"
)

var fill, between, numbered = growthtest.Fill, growthtest.Between, growthtest.Numbered

// worstPages are made to be dear to read, each of about n bytes.
var worstPages = map[string]func(n int) []byte{
	"comments of the other end":   between("", "<!----!>", ""),
	"comments that never end":     between("", "<!-- --!> <!--", ""),
	"comments":                    between("", "<!-- -->", ""),
	"dashes":                      between("<!--", "-", ""),
	"dashes and marks":            between("<!--", "--!", ""),
	"CDATA":                       between("", "<![CDATA[", ""),
	"processing instructions":     between("", "<?", ""),
	"nested tags":                 between("", "<div>", ""),
	"nested lists":                between("", "<ul><li><a href=x>", ""),
	"unknown nested tags":         between("", "<x-y>", ""),
	"formatting that never ends":  between("", "<b><p>", ""),
	"paragraphs in deep nesting":  between(strings.Repeat("<b>", 300), "<p></p>", ""),
	"end tags of nothing":         between(strings.Repeat("<div>", 300), "</x>", ""),
	"tables":                      between("", "<table><tr><td>", ""),
	"entries":                     between("", "<dl><dt>a<dd>b<a href=c>d", ""),
	"headings":                    between("", "<h1>a", ""),
	"headings in divisions":       between("", "<h1><div>abc", ""),
	"line breaks":                 between("", "<br>", ""),
	"open angle brackets":         between("", "<", ""),
	"open end tags":               between("", "</", ""),
	"open tags":                   between("", "<a", ""),
	"attributes":                  between("<a ", "a b=c ", ">"),
	"attributes of scripts":       between("<a ", "onx='a.html' ", ">"),
	"quotes that never close":     between("", `<a href="x>`, ""),
	"tags within tags":            between("", "<a ", ">"),
	"tags within the last":        between("", `<a b=">"`, ""),
	"tags behind a crowded one":   func(n int) []byte { return []byte("<a " + numbered("a%s ", n/2) + ">" + fill("<b c>", n/2)) },
	"quotes in turn":              between("", `<a href="x><a href='y>`, ""),
	"attributes with quotes":      between("<a ", `b='c" `, ""),
	"titles":                      between("", "<title>", ""),
	"titles with bodies":          between("", "<title><body>", "</title>"),
	"text areas":                  between("", "<textarea>", "</textarea>"),
	"scripts":                     between("", "<script>", ""),
	"types in a script":           between("<script>", ".html", "</script>"),
	"paths in a script":           between("<script>", `"a.html" `, "</script>"),
	"text for paths in a script":  between("<script>", "aaaaaaaa", ".html'</script>"),
	"entities":                    between("", "&amp", ""),
	"entities without end":        between("", "&#", ""),
	"a long entity":               between("&", "a", ""),
	"entities in attributes":      between("<a href='", "&amp", "'>"),
	"a long entity in one":        between("<a href='?&", "a", "'>"),
	"links":                       between("", "<a href=x>y</a>", ""),
	"links in one entry":          between("<li>", "<a href=x></a>", "</li>"),
	"links in one paragraph":      between("<p>", "<a href=x></a><i>", "</p>"),
	"frames":                      between("", "<iframe src=x>", ""),
	"images in a link":            between("<a href=x>", "<img alt=y>", "</a>"),
	"meta data of one name":       between("", "<meta name=a content=b>", ""),
	"meta data of many":           func(n int) []byte { return []byte(numbered("<meta name=a%s content=b>", n)) },
	"declarations of a charset":   between("", "<meta charset=x>", "\xff"),
	"charsets that lie":           between("<meta charset=shift_jis>", "\x82\xa0\xff", ""),
	"escape sequences":            between("", "\x1b$B\x30\x21\x1b(B", ""),
	"bytes of no charset":         between("", "\x81\x8d\xff", ""),
	"broken UTF-8":                between("", "\xe2\x82", ""),
	"UTF-16":                      between("\xff\xfe", "<\x00a\x00", ""),
	"controls":                    between("", "a\x00\x1b\x07", ""),
	"letters of a query":          between("<meta charset=shift_jis><a href='?", "\x82\xa0", "'>"),
	"links with queries":          between("", "<a href=?\x82>\x82\xa0", ""),
	"classes":                     between("<a href=x class='", "a ", "'>"),
	"relations":                   between("<link href=x rel='", "next ", "'>"),
	"robots":                      between("<meta name=robots content='", "none,", "'>"),
	"spaces":                      between("", " ", ""),
	"a base as long as its links": func(n int) []byte { return []byte("<base href='/" + fill("a", n/2) + "/'>" + fill("<a href=x>", n/2)) },
}

var htmlHeader = http.Header{"Content-Type": {"text/html"}}

func parseWorst(t *testing.T, header http.Header, body []byte) *page.Page {
	p, err := page.Parse(here, header, body)
	require.False(t, err != nil && !errors.Is(err, page.ErrNotPage), body)
	return p
}

func TestParsingGrowsWithThePage(t *testing.T) {
	growthtest.Each(t, 8<<10, worstPages, func(t *testing.T, b []byte) { parseWorst(t, htmlHeader, b) })
}

func TestPlainTextGrowsWithThePage(t *testing.T) {
	plain := http.Header{"Content-Type": {"text/plain"}}
	growthtest.Each(t, 8<<10, map[string]func(int) []byte{
		"addresses": between("", "http://a/\n", ""), "paragraphs": between("", "a\n\n", ""), "one address": between("http://", "a", ""),
		"stops": between("http://", ".", ""), "schemes": between("", "http", ""), "schemes and stops": between("", "http://...", ""),
		"empty lines": between("", "\n", ""),
	}, func(t *testing.T, b []byte) { parseWorst(t, plain, b) })
}

func TestHeadersGrowWithTheirLength(t *testing.T) {
	growthtest.Each(t, 8<<10, map[string]func(int) []byte{
		"links": between("", "<x>; rel=next, ", ""), "links that never end": between("", "<", ""), "parameters": between("<x>", ";a=b", ""),
		"relations": between("<x>; rel='", "next ", "'"), "rules": between("", "noindex,", ""), "agents": between("", "a:b,", ""), "commas": between("", ",", ""),
		"refresh": between("0;url=", ";", ""),
	}, func(t *testing.T, b []byte) {
		v := []string{string(b)}
		parseWorst(t, http.Header{"Link": v, "X-Robots-Tag": v, "Refresh": v, "Content-Type": v}, []byte("<p>a"))
	})
}

func packed(worst func(int) []byte) func(int) []byte {
	return func(n int) []byte { return packtest.Gzip(worst(n)) }
}

func emptyMembers(n int) []byte {
	return bytes.Repeat(packed(func(int) []byte { return nil })(0), n/20)
}

// worstMaps are sitemaps and feeds made to be dear to read.
var worstMaps = map[string]func(int) []byte{
	"open": between("", "<url>", ""), "brackets": between("", "<", ""), "CDATA": between("", "<![CDATA[", ""), "empty": between("", "<url/>", ""),
	"locations": between("", "<url><loc>a</loc></url>", ""), "one location in pieces": between("<url><loc>/", "a<!---->", "</loc></url>"),
	"locations in pieces": between("", "<url><loc>/a<!---->a<!---->a</loc></url>", ""), "comments": between("", "<!--", ""),
	"lines": between("", "http://a/\n", ""), "one line": between("http://", "a", ""), "attributes": between("<link ", "href=", ">"),
	"links": between("", "<entry><link href='/a'/></entry>", ""), "names": between("<", "a:", ">"), "entities": between("<loc>", "&amp;", ""),
	"times": between("", "<url><loc>/a</loc><lastmod>Mon, 02 Jan 2006 15:04:05</lastmod></url>", ""), "nested indexes": between("", "<sitemapindex><sitemap><loc>/a</loc>", ""),
	"packed": packed(func(n int) []byte { return []byte(numbered("<url><loc>/%s</loc></url>", 4*n)) }), "empty members": emptyMembers,
	"instructions": between("", "<?", ""), "UTF-16": between("\xff\xfe", "<\x00u\x00r\x00l\x00>\x00", ""),
	// feeds
	"items":             between("<rss><channel>", "<item><link>/a</link><pubDate>Mon, 02 Jan 2006 15:04:05 GMT</pubDate></item>", "</channel></rss>"),
	"items without end": between("<rss><channel>", "<item><link>/a", ""), "ends of items": between("<rss>", "</item>", ""),
	"descriptions":        between("<rss><item><description>", "&lt;a href='/a'&gt;", "</description></item></rss>"),
	"marked descriptions": between("<rss><item><description>", "<![CDATA[<a href='/a'>]]>", "</description></item></rss>"),
	"entries":             between("<feed xmlns='http://www.w3.org/2005/Atom'>", "<entry><link rel='alternate' href='/a'/><updated>2003-01-02T03:04:05Z</updated></entry>", "</feed>"),
	"links of one entry":  between("<feed><entry>", "<link href='/a'/>", "</entry></feed>"), "entries in entries": between("<feed>", "<entry>", ""),
	"resources":        between("<rdf:RDF>", "<item rdf:about='/a'><link>/a</link><dc:date>2003</dc:date></item>", "</rdf:RDF>"),
	"a link in pieces": between("<rss><item><link>/", "<![CDATA[a]]>", "</link></item></rss>"), "dates": between("<feed><entry>", "<updated>2003</updated>", ""),
}

func TestSitemapsGrowWithTheFile(t *testing.T) {
	growthtest.Each(t, 8<<10, worstMaps, func(t *testing.T, b []byte) {
		_, err := page.ParseSitemap(mapURL, b)
		require.True(t, err == nil || errors.Is(err, page.ErrNotSitemap), err)
	})
}
