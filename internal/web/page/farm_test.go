package page_test

import (
	"errors"
	"html"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/realdata"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

type farmPage struct {
	url  string
	body []byte
}

func farmPages(tb testing.TB) []farmPage {
	tb.Helper()
	return recordedPages(tb, "farm")
}

// recordedPages reads all pages of the sites in a folder of recorded ones.
func recordedPages(tb testing.TB, folder string) []farmPage {
	root := realdata.Path(tb, folder)
	var pages []farmPage
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".html") && !strings.HasSuffix(path, ".htm") {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		pages = append(pages, farmPage{"http://" + filepath.ToSlash(rel), body})
		return err
	})
	require.NoError(tb, err)
	return pages
}

var (
	comments = regexp.MustCompile(`(?s)<!--.*?-->|(?is)<script.*?</script>`)
	hrefs    = regexp.MustCompile(`(?i)<a\s[^<>]*?\bhref\s*=\s*("[^"<>]*"|'[^'<>]*'|[^\s"'<>]+)[^<>]*>`)
)

// hrefsByPattern counts the anchors on the page's own host that a simple
// pattern finds.
func hrefsByPattern(base string, body []byte) int {
	n := 0
	for _, m := range hrefs.FindAllSubmatch(comments.ReplaceAll(body, nil), -1) {
		ref := strings.TrimSpace(html.UnescapeString(strings.Trim(string(m[1]), `"'`)))
		if ref == "" || ref[0] == '#' {
			continue
		}
		u, err := weburl.Canonical(base, ref)
		if err == nil && weburl.Host(u) == weburl.Host(base) {
			n++
		}
	}
	return n
}

func TestFarm(t *testing.T) {
	pages := farmPages(t)
	var links, same, byPattern, fewer, bytes, walls, missing, notPages int
	charsets, sources := map[string]int{}, map[page.Source]int{}
	for _, fp := range pages {
		p, err := page.Parse(fp.url, http.Header{"Content-Type": {"text/html"}}, fp.body)
		if errors.Is(err, page.ErrNotPage) {
			notPages++
			t.Logf("not a page: %s", fp.url)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", fp.url, err)
			continue
		}
		own := 0
		for _, l := range p.Links {
			sources[l.Source]++
			if l.Source == page.SourceAnchor && weburl.Host(l.URL) == weburl.Host(p.URL) {
				own++
			}
		}
		want := hrefsByPattern(p.Base, fp.body)
		if own < want {
			fewer++
			t.Logf("%s: %d own links, a pattern finds %d", fp.url, own, want)
		}
		bytes, links, same, byPattern = bytes+len(fp.body), links+len(p.Links), same+own, byPattern+want
		charsets[p.Charset]++
		if p.Wall != page.NoWall {
			walls++
			t.Logf("wall %s: %s %q", p.Wall, fp.url, p.Title)
		}
		if p.SoftMissing {
			missing++
			t.Logf("soft 404: %s %q", fp.url, p.Title)
		}
	}
	t.Logf("%d pages, %d bytes, %d links %v, on the own host %d (a pattern finds %d; fewer on %d pages)",
		len(pages), bytes, links, sources, same, byPattern, fewer)
	t.Logf("not pages %d, walls %d, soft 404 %d, charsets %v", notPages, walls, missing, charsets)
	require.LessOrEqual(t, fewer, 0, "links lost on")
	assert.GreaterOrEqual(t, same, byPattern, "links lost on")
}
