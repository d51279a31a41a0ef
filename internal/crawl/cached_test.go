package crawl

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// TestCachedHomepageGoesBeforeTheSitemap: what a homepage links is known before
// the first request is made, where the page itself was fetched to look for it.
func TestCachedHomepageGoesBeforeTheSitemap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Batch = 100
	var mu sync.Mutex
	var order []string
	note := func(body string) func(http.ResponseWriter, *http.Request) {
		return func(rw http.ResponseWriter, r *http.Request) {
			mu.Lock()
			order = append(order, r.URL.Path)
			mu.Unlock()
			rw.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(rw, body)
		}
	}
	s := serve(t, map[string]any{
		"/robots.txt": func(rw http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(rw, "Sitemap: http://%s/map.xml", r.Host)
		},
		"/": note("never asked for"), "/a.html": note("a"), "/b.html": note("b"),
		"/map.xml": note(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>`),
	})
	w.seed(t, s.host, "/", "/")
	home := "http://" + s.host + "/"
	h := frontier.HashOf(home)
	require.NoError(t, w.db.SavePage(t.Context(), store.CachedPage{Hash: h[:], Host: s.host, URL: home, FinalURL: home, Outcome: string(gleaner.OK), Status: 200,
		Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(`<a href="a.html">a</a> <a href="b.html">b</a>`), At: time.Now()}))
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{"/a.html", "/b.html", "/map.xml"}, order)
}

// TestPagesAreLentWhileHomepagesAreLookedFor: what a crawl fetched need not be asked for
// again as evidence, and the local index, which answers those who look, learns nothing
// of it; when the search is over nothing more is kept, and pages are indexed.
func TestPagesAreLentWhileHomepagesAreLookedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var indexed []string
	w.cfg.SlicePages, w.cfg.Index = 2, func(_ context.Context, pages []*page.Page) error {
		for _, p := range pages {
			indexed = append(indexed, p.Text)
		}
		panic("over their words") // which is not the crawl's
	}
	s := serve(t, map[string]any{"/": `home <a href="b.html"></a>`, "/b.html": `b <a href="c.html"></a>`, "/c.html": "c",
		"/cite.html": "@inproceedings{roe03, title={Sorting}}"})
	w.harvest(t, "h", w.seed(t, s.host, "/", "/"))
	w.seed(t, s.host, "/cite.html", "/")
	require.NoError(t, w.db.SetStage(t.Context(), "h", gleaner.StageHomepages, ""))
	c := w.crawler(w.client)
	r := sliced(t, c, s.host)
	require.Equal(t, SliceFull, r.Ending)
	require.NoError(t, w.db.SetStage(t.Context(), "h", gleaner.StageCrawl, ""))
	require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
	for path, lent := range map[string]bool{"/": true, "/cite.html": true, "/b.html": false, "/c.html": false} {
		h := frontier.HashOf("http://" + s.host + path)
		p, is, err := w.db.CachedPage(t.Context(), h[:], time.Hour)
		require.NoError(t, err)
		require.Equal(t, lent, is, path)
		require.Equal(t, lent, len(p.Body) > 0)
	}
	fresh, err := w.db.FreshPages(t.Context(), 10)
	require.NoError(t, err)
	require.Empty(t, fresh)
	require.Equal(t, []string{"b", "c"}, indexed)
}
