package page_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/web/page"
)

// TestLongBaseMakesNoLongLinks: a base lengthens every link of its page, so the
// addresses of a page are bounded together.
func TestLongBaseMakesNoLongLinks(t *testing.T) {
	for _, base := range []int{3 << 10, 7 << 10, 64 << 10} {
		body := []byte("<base href='/" + strings.Repeat("a", base) + "/'>" + strings.Repeat("<a href=x>", page.MaxLinks))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p := parseWorst(t, htmlHeader, body)
		runtime.ReadMemStats(&after)
		total := 0
		for _, l := range p.Links {
			total += len(l.URL)
		}
		assert.LessOrEqual(t, total, 4<<20, "base of %v", base)
		assert.False(t, base < 8<<10 && !slices.Contains(p.Truncated, page.CutLinks), "base of %v", len(p.Links))
		assert.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(400<<20), "base of %d bytes, of a page of %d", base, len(body))
	}
	m, err := page.ParseSitemap("http://a.org/"+strings.Repeat("a", 4000)+"/", []byte(strings.Repeat("<url><loc>x</loc></url>", page.MaxSitemapURLs)))
	require.NoError(t, err)
	assert.LessOrEqual(t, len(m.Pages)*4000, 20<<20, "bytes of a sitemap's addresses")
	assert.Contains(t, m.Truncated, page.CutSitemapURLs)
}

// TestLongTokensAreNotHeld gives pages of one token: reading them allocates little more
// than the page, and the links behind them are found.
func TestLongTokensAreNotHeld(t *testing.T) {
	const size = 3 << 20
	for name, token := range map[string]string{
		"attributes": "<a " + fill("ab ", size) + ">", "distinct attributes": "<a " + numbered("a%s ", size) + ">",
		"a value": "<img src='data:" + fill("x", size) + "'>", "a comment": "<!--" + fill("a ", size) + "-->",
		"a script": "<script>" + fill("'<a href=no.html>'", size) + "</script>", "text": fill("a &amp; ", size),
	} {
		body := []byte("<p><a href=a.html>first</a>" + token + "<a href=b.html>second</a>")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p := parseWorst(t, htmlHeader, body)
		runtime.ReadMemStats(&after)
		assert.LessOrEqual(t, (after.TotalAlloc-before.TotalAlloc)/size, uint64(16), "%s: bytes that are allocated for each of the page", name)
		require.GreaterOrEqual(t, len(p.Links), 2, name)
		assert.Equal(t, []string{"first", "second"}, []string{p.Links[0].Anchor, p.Links[len(p.Links)-1].Anchor}, name)
	}
}

// TestBodyIsCut: a body of any type may be given to Parse.
func TestBodyIsCut(t *testing.T) {
	t.Parallel()
	body := "<p>first" + strings.Repeat(" ", 11<<20) + "<p>last<a href=x>"
	p := parseWorst(t, http.Header{"Content-Type": {"application/octet-stream"}}, []byte(body))
	assert.Contains(t, p.Truncated, page.CutBody)
	assert.Equal(t, "first", p.Text)
	assert.Empty(t, p.Links)
}

func TestParsingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("told to stop")
	cancel(stop)
	_, err := page.ParseContext(ctx, here, htmlHeader, []byte(strings.Repeat("<a href=x>", 1<<16)))
	require.ErrorIs(t, err, stop, "parsed to the end")
}

// controls are the ways by which one gets onto a page.
var controls = []string{"\x00", "\x01", "\x07", "\x1b[31m", "\x7f", "\u0085", "\u009b31m", "&#1;", "&#x1b;", "&#127;", "&#0;", "&#x9d;"}

// TestNoControlComesOutOfAPage puts control characters wherever an author can.
func TestNoControlComesOutOfAPage(t *testing.T) {
	t.Parallel()
	for _, c := range controls {
		body := "<!--" + strings.Repeat(" ", 2000) + "-->" + strings.ReplaceAll(`<html lang="eXn"><title>tXt</title><base href="/bX/"><meta name="kXeywords" content="aX b"><link rel=next href="nXext" title="tX">
<h1 id="hX" class="aX bX">heading X here</h1><pX-x id="iX"><a href="pX.pdf" title="tX">anXchor</a> teXxt <a href="q.pdf"><img alt="imX" src=x></a>
<iframe src="fX.html" title="tX"></iframe><area href="aX.html" alt="alX"><script>"sX.html"</script><div onclick="go('cX.html')">`, "X", c)
		p := parse(t, http.Header{"Content-Type": {"text/html; charset=utf-8"}, "Link": {"<lX>; rel=next; title=X"}}, body)
		assert.GreaterOrEqual(t, len(p.Links), 6, c)
		assert.NotEmpty(t, p.Title, c)
		assert.NotEmpty(t, p.Headings, c)
		for _, s := range stringsOf(p) {
			assert.False(t, strings.ContainsFunc(s, unicode.IsControl), c)
		}
	}
}

// stringsOf are all texts of a page.
func stringsOf(p *page.Page) []string {
	all := append([]string{p.URL, p.Base, p.Charset, p.Lang, p.Title, p.Text, fmt.Sprint(p.Wall)}, p.Headings...)
	for k, v := range p.Meta {
		all = append(all, k, v)
	}
	for _, l := range p.Links {
		all = append(all, l.URL, l.Anchor, l.Context, l.Heading, l.TagPath, string(l.Source))
	}
	return all
}
