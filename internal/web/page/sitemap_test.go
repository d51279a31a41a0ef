package page_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/packtest"
	"gleaner/internal/web/page"
)

const mapURL = "https://www.example.edu/sitemap.xml"

func TestParseSitemap(t *testing.T) {
	t.Parallel()
	const urlset = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc> https://www.example.edu/a?x=1&amp;y=2 </loc><lastmod>2004-10-01T18:23:17+00:00</lastmod><priority>0.8</priority></url>
<url><loc><![CDATA[https://www.example.edu/b]]></loc><lastmod>2005-01-01</lastmod></url>
</urlset>`
	tests := []struct {
		name, body      string
		pages, sitemaps []string
	}{
		{"plain", urlset, []string{"https://www.example.edu/a?x=1&y=2", "https://www.example.edu/b"}, nil},
		{"name space", `<sm:urlset xmlns:sm="x"><sm:url><sm:loc>/c</sm:loc><image:image><image:title>t</image:title></image:image></sm:url></sm:urlset>`, []string{"https://www.example.edu/c"}, nil},
		{"index", `<sitemapindex><sitemap><loc>https://www.example.edu/s1.xml.gz</loc><lastmod>2024</lastmod></sitemap><sitemap><loc>/s2.xml</loc></sitemap></sitemapindex>`,
			nil, []string{"https://www.example.edu/s1.xml.gz", "https://www.example.edu/s2.xml"}},
		{"text", "\ufeffhttps://www.example.edu/a\r\nhttps://www.example.edu/b\nnonsense\n", []string{"https://www.example.edu/a", "https://www.example.edu/b"}, nil},
		{"rss", `<rss><channel><link>https://www.example.edu/</link><item><title>T</title><link>https://www.example.edu/p1</link><pubDate>Mon, 02 Jan 2006 15:04:05 GMT</pubDate></item></channel></rss>`,
			[]string{"https://www.example.edu/p1"}, nil},
		{"atom", `<feed><entry><link rel="alternate" href="https://www.example.edu/p2"/><updated>2020-01-01T00:00:00Z</updated></entry></feed>`, []string{"https://www.example.edu/p2"}, nil},
		{"broken", `<urlset><url><loc>https://www.example.edu/a</loc></url><url><loc>mailto:x</loc></url><url>& <loc>https://www.example.edu/b</url><url><loc>https://www.exa`,
			[]string{"https://www.example.edu/a", "https://www.example.edu/b"}, nil},
		{"empty", `<urlset></urlset>`, nil, nil},
	}
	for _, tt := range tests {
		m, err := page.ParseSitemap(mapURL, []byte(tt.body))
		require.NoError(t, err, tt.name)
		assert.Equal(t, tt.pages, urls(m.Pages), tt.name)
		assert.Equal(t, tt.sitemaps, urls(m.Sitemaps), tt.name)
		assert.Nil(t, m.Truncated, tt.name)
	}
	m, err := page.ParseSitemap(mapURL, packtest.Gzip(urlset))
	require.NoError(t, err, "gzip")
	require.Len(t, m.Pages, 2, "gzip")
	a, b := m.Pages[0], m.Pages[1]
	require.True(t, a.LastMod.Equal(time.Date(2004, 10, 1, 18, 23, 17, 0, time.UTC)), "entries")
	assert.Equal(t, 2005, b.LastMod.Year(), "entries")
}

func urls(list []page.SitemapEntry) []string {
	var out []string
	for _, e := range list {
		out = append(out, e.URL)
	}
	return out
}

func TestSitemapLimits(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "<html><body>Not found</body></html>", "nothing here", "\x1f\x8bbroken"} {
		_, err := page.ParseSitemap(mapURL, []byte(body))
		require.ErrorIs(t, err, page.ErrNotSitemap, body)
	}
	var b strings.Builder
	b.WriteString("<urlset>")
	for i := range page.MaxSitemapURLs + 5 {
		fmt.Fprintf(&b, "<url><loc>https://www.example.edu/%d</loc></url>", i)
	}
	pages := func(body []byte, cut string) int {
		m, err := page.ParseSitemap(mapURL, body)
		require.NoError(t, err)
		assert.Equal(t, []string{cut}, m.Truncated)
		return len(m.Pages)
	}
	assert.Equal(t, page.MaxSitemapURLs, pages([]byte(b.String()), page.CutSitemapURLs))
	bomb := packtest.Gzip("<urlset><url><loc>https://www.example.edu/a</loc></url>" + strings.Repeat(" ", page.MaxSitemapBytes))
	assert.Equal(t, 1, pages(bomb, page.CutSitemapBytes))
	cut := packtest.Gzip(b.String())
	assert.Positive(t, pages(cut[:len(cut)/2], page.CutSitemapBytes))
}
