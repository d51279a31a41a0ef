package page_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

const here = "http://www.example.edu/~ada/index.html"

// parse fails the test where Parse fails.
func parse(t *testing.T, header http.Header, body string) *page.Page {
	p, err := page.Parse(here, header, []byte(body))
	require.NoError(t, err, "Parse")
	return p
}

// short is a link as tables write it.
func short(l page.Link) string {
	return strings.TrimPrefix(l.URL, "http://www.example.edu/~ada/") + " " + string(l.Source) + " " + l.Anchor
}

func TestLinks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       []string
	}{
		{"plain", `<a href="a.html">A <b>bold</b> word</a> <A HREF='b.html'>B</A> <a href=c.html>C</a>`,
			[]string{"a.html anchor A bold word", "b.html anchor B", "c.html anchor C"}},
		{"not links", `<a name=x>x</a><a href="#top">t</a><a href="">e</a><a href="mailto:a@b.c">m</a><!-- <a href="no.html">no</a> --><a href="javascript:void(0)">j</a>`, nil},
		{"references", `<a href="a.cgi?x=1&amp;copy=2&lt=3&#38;y=4">q</a>`,
			[]string{"a.cgi?x=1&copy=2&lt=3&y=4 anchor q"}},
		{"base", `<base href="/pubs/"><a href="a.html">a</a><base href="/no/">`,
			[]string{"http://www.example.edu/pubs/a.html anchor a"}},
		{"base after link", `<a href="a.html">a</a><base href="http://other.org/x/y">`,
			[]string{"http://other.org/x/a.html anchor a"}},
		{"image", `<a href="a.pdf"><img src=x.gif alt="the PDF"></a><a href=b.pdf title="B paper"></a>`,
			[]string{"a.pdf anchor the PDF", "b.pdf anchor B paper"}},
		{"map", `<map><area shape=rect href="m.html" alt="Map"></map>`, []string{"m.html area Map"}},
		{"frames", `<frameset><frame src="menu.html" name=menu><frame src="main.html"></frameset><noframes><a href="nf.html">n</a></noframes>`,
			[]string{"menu.html frame menu", "main.html frame ", "nf.html anchor n"}},
		{"embedded", `<iframe src="i.html"></iframe><object data="o.pdf"></object><embed src="e.pdf">`,
			[]string{"i.html frame ", "o.pdf frame ", "e.pdf frame "}},
		{"refresh", `<meta http-equiv="Refresh" content="0; URL='new.html'">`, []string{"new.html refresh "}},
		{"refresh bare", `<META HTTP-EQUIV=refresh CONTENT=5;new.html>`, []string{"new.html refresh "}},
		{"link elements", `<link rel=stylesheet href=s.css><link rel="alternate" hreflang=de href="de.html"><link rel=next href=p2.html><link rel=alternate type="application/rss+xml" href=feed.xml><link rel=alternate type="application/pdf" href="x.pdf">`,
			[]string{"de.html alternate ", "p2.html alternate ", "x.pdf citation "}},
		{"citation", `<meta name="citation_pdf_url" content="/p/1.pdf"><meta name="bepress_citation_pdf_url" content="v.cgi?a=1&amp;b=2"><meta name="DC.identifier" content="http://www.example.edu/~ada/d.pdf"><meta name="DC.identifier" content="urn:x">`,
			[]string{"http://www.example.edu/p/1.pdf citation ", "v.cgi?a=1&b=2 citation ", "d.pdf citation "}},
		{"template and noscript", `<template><a href=t.html>t</a></template><noscript><a href=n.html>n</a></noscript>`,
			[]string{"t.html anchor ", "n.html anchor n"}},
		{"script", `<script>var x = "papers/list.html"; open('p/a.pdf'); f("lib.js"); y = "no dots"; z = "." + "html"; w="a b.html"; u = "http:\/\/o.org\/x.ps.gz"</script>`,
			[]string{"papers/list.html script ", "p/a.pdf script ", "http://o.org/x.ps.gz script "}},
		{"handlers", `<td onclick="location.href='row.html'">r</td><a href="javascript:open('pop.html','w')">p</a><select><option value="jump.html">J</option><option value="3">3</option></select>`,
			[]string{"row.html script ", "pop.html script ", "jump.html script "}},
		{"svg", `<svg><a xlink:href="s.html"><text>S</text></a></svg>`, []string{"s.html anchor S"}},
		{"mended", `<a href="pa per.pdf">1</a><a href=" pubs\x.html ">2</a><a href="http:y.html">3</a>`,
			[]string{"pa%20per.pdf anchor 1", "pubs/x.html anchor 2", "y.html anchor 3"}},
	}
	for _, tt := range tests {
		var got []string
		for i, l := range parse(t, nil, tt.body).Links {
			assert.Equal(t, i, l.Position, tt.name)
			got = append(got, short(l))
		}
		assert.Equal(t, tt.want, got, tt.name)
	}
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no bracket":  `<a href="a.html" <b>first</b></a> <a href="b.html"<i>second</i></a>`,
		"nested":      `<a href="a.html">first <a href="b.html">second</a></a>`,
		"upper case":  `<A HREF="a.html">first</A> <A  HREF = 'b.html' >second</A>`,
		"stray signs": `1 < 2 <> <3 </> <a href=a.html>first</a> <a/href=b.html>second</a>`,
		"comments":    `<!--><a href=a.html>first</a><!-- x --!><a href=b.html>second</a><!-- <a href=no.html>`,
		"misnested":   `<table><tr><td><b><a href=a.html>first</b></td></table></a></p></div><a href=b.html>second`,
		"end tags":    `</html></body><a href=a.html>first</a></a></a><a href=b.html>second</a>`,
		"zero bytes":  "<a href=a.html>fi\x00rst</a><a\x0chref=b.html>second</a>",
	} {
		got := each.Of(parse(t, nil, body).Links, func(l page.Link) string { return l.URL })
		assert.Equal(t, []string{"http://www.example.edu/~ada/a.html", "http://www.example.edu/~ada/b.html"}, got, name)
	}
}

func TestContextHeadingPath(t *testing.T) {
	t.Parallel()
	const body = `<html><body><h1>Ada Example</h1><p><b>Old papers</b></p>
<div id="pubs" class="list wide third"><ul><li>First paper on things, with Bob. [<a class="pdf" href="1.pdf">PDF</a>]
<li><h4>Second paper</h4> Carl and Ada, 2004. <a href="2.pdf">pdf</a></ul></div>
<h2>Talks</h2>
<table><tr><td>Third title, Ada Example</td><td><a href=3.ps>ps</a></td></tr></table>
<dl><dt>Fourth title<dd>with Dan, 2001 <a href=4.ps>ps</a><dt>Fifth title, which is not the fourth<dd><a href=5.ps>ps</a></dl>
Sixth title without markup. Eve, 1999.<br> <a href=6.ps>ps</a><br><br>Seventh title without markup. Fay, 1998. <a href=7.ps>ps</a>
<div class=entry><div class=title>Eighth title</div><div><a href=8.pdf>pdf</a></div></div></body></html>`
	want := []page.Link{
		{Heading: "Old papers", Context: "First paper on things, with Bob. [PDF]", TagPath: "html body div#pubs.list.wide ul li a.pdf"},
		{Heading: "Second paper", Context: "Second paper Carl and Ada, 2004. pdf", TagPath: "html body div#pubs.list.wide ul li a"},
		{Heading: "Talks", Context: "Third title, Ada Example ps", TagPath: "html body table tr td a"},
		{Heading: "Talks", Context: "Fourth title with Dan, 2001 ps", TagPath: "html body dl dd a"},
		{Heading: "Talks", Context: "Fifth title, which is not the fourth ps", TagPath: "html body dl dd a"},
		{Heading: "Talks", Context: "Sixth title without markup. Eve, 1999. ps", TagPath: "html body a"},
		{Heading: "Talks", Context: "Seventh title without markup. Fay, 1998. ps", TagPath: "html body a"},
		{Heading: "Talks", Context: "Eighth title pdf", TagPath: "html body div.entry div a"},
	}
	p := parse(t, nil, body)
	require.Len(t, p.Links, len(want))
	for i, w := range want {
		assert.Equal(t, w, page.Link{Heading: p.Links[i].Heading, Context: p.Links[i].Context, TagPath: p.Links[i].TagPath}, i)
	}
	require.Equal(t, []string{"Ada Example", "Talks"}, p.Headings, "headings")
	assert.Equal(t, "Ada Example", p.Title, "title")
}

func TestLongContextIsAWindow(t *testing.T) {
	t.Parallel()
	body := "<p>" + strings.Repeat("before wörds ", 200) + `Title of it <a href=x.pdf>pdf</a> ` + strings.Repeat("after ", 200)
	l := parse(t, nil, body).Links[0]
	assert.InDelta(t, 450, len(l.Context), 50)
	assert.Contains(t, l.Context, "Title of it pdf after")
}

func TestPageFields(t *testing.T) {
	t.Parallel()
	p := parse(t, nil, `<!DOCTYPE html><html lang="en-GB"><head><title> Ada&nbsp;&amp;
Bob </title><link rel=canonical href="https://www.example.edu/~ada/"><meta name=Keywords content="a, b"><meta name=citation_author content=X><meta name=citation_author content=Y>
<style>p { x: "<a href=no>" }</style></head><body>One<br>two<p>three</p>f&ouml;ur <script>no()</script><b>fi</b>ve&shy;</body></html>`)
	assert.Equal(t, []string{"Ada & Bob", "en-gb", here}, []string{p.Title, p.Lang, p.Base})
	require.Equal(t, "a, b", p.Meta["keywords"], "meta")
	assert.Equal(t, "X; Y", p.Meta["citation_author"], "meta")
	assert.Equal(t, "One two three föur five\u00ad", p.Text, "text")
	h := http.Header{"Link": {`<https://www.example.edu/c.html>; rel="canonical", <x.pdf>; rel=alternate; type="application/pdf"`}, "Refresh": {"1; url=r.html"}}
	p = parse(t, h, `x`)
	require.Len(t, p.Links, 3, "headers: links")
	assert.Equal(t, page.SourceCitation, p.Links[2].Source, "headers: links")
}

func TestRobots(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, meta string
		header     []string
		noIndex    bool
		noFollow   bool
	}{
		{"none", ``, nil, false, false},
		{"meta", `<meta name="ROBOTS" content="NOINDEX, nofollow">`, nil, true, true},
		{"meta none", `<meta name="robots" content="none">`, nil, true, true},
		{"meta for us", `<meta name="gleaner" content="nofollow">`, nil, false, true},
		{"meta for another", `<meta name="otherbot" content="nofollow">`, nil, false, false},
		{"header", ``, []string{"noindex"}, true, false},
		{"header for another", ``, []string{"otherbot: noindex, nofollow"}, false, false},
		{"header for us", ``, []string{"otherbot: noindex, Gleaner: nofollow"}, false, true},
		{"two headers", ``, []string{"otherbot: none", "nofollow"}, false, true},
		{"a date", ``, []string{"unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow"}, false, true},
	}
	for _, tt := range tests {
		p := parse(t, http.Header{"X-Robots-Tag": tt.header}, tt.meta+`<a href=a rel="external NoFollow">a</a><a href=b>b</a>`)
		require.Equal(t, tt.noIndex, p.NoIndex, tt.name)
		assert.Equal(t, tt.noFollow, p.NoFollow, tt.name)
		require.True(t, p.Links[0].NoFollow, tt.name)
		assert.False(t, p.Links[1].NoFollow, tt.name)
	}
}

func TestNotAPage(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"%PDF-1.4 …", "%!PS-Adobe", "\x1f\x8b\x08", "PK\x03\x04", "ab\x00\x00\x00\x00cd\x00\x00"} {
		_, err := page.Parse(here, nil, []byte(body))
		require.ErrorIs(t, err, page.ErrNotPage, body)
	}
	_, err := page.Parse("ftp://x/", nil, nil)
	require.ErrorIs(t, err, weburl.ErrNotWeb, "ftp")
	p := parse(t, http.Header{"Content-Type": {"application/pdf"}}, `<a href=x>x</a>`)
	assert.Len(t, p.Links, 1, "HTML under another name is a page")
}

func TestCutsAreNamed(t *testing.T) {
	t.Parallel()
	p := parse(t, nil, strings.Repeat(`<a href=x>x</a> `, page.MaxLinks+1)+strings.Repeat("wörd ", page.MaxText/5))
	assert.Len(t, p.Links, page.MaxLinks)
	assert.LessOrEqual(t, len(p.Text), page.MaxText)
	assert.Equal(t, []string{page.CutLinks, page.CutText}, p.Truncated)
	assert.Nil(t, parse(t, nil, `<a href=x>x</a>`).Truncated, "cut")
}

func TestPlainText(t *testing.T) {
	t.Parallel()
	h := http.Header{"Content-Type": {"text/plain; charset=us-ascii"}}
	p := parse(t, h, "My papers <draft>\n\nTitle one (see http://a.org/x_1.pdf).\n\nother https://b.org/?q=1,\nend http://")
	got := each.Of(p.Links, func(l page.Link) string { return l.URL + " | " + l.Context })
	want := []string{"http://a.org/x_1.pdf | Title one (see http://a.org/x_1.pdf).", "https://b.org/?q=1 | other https://b.org/?q=1, end http://"}
	assert.Equal(t, want, got)
	p = parse(t, h, "<html><a href=x>x</a>")
	require.Len(t, p.Links, 1, "HTML called plain text is HTML")
	assert.Equal(t, page.SourceAnchor, p.Links[0].Source)
}
