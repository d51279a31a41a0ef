package crawl

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/rank"
)

// TestABetterLinkIsAskedForNext: without a pace, too, a link of a higher queue comes
// before those that were found earlier.
func TestABetterLinkIsAskedForNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Strategy, w.cfg.Batch = rank.Zhuang, 32
	var mu sync.Mutex
	var order []string
	page := func(path, body string) func(http.ResponseWriter, *http.Request) {
		return func(rw http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			order = append(order, path)
			mu.Unlock()
			_, _ = rw.Write([]byte("<html><title>A page</title><body>" + body))
		}
	}
	pages := map[string]any{"/": page("/", `<a href="x1.html">program</a> <a href="x2.html">news</a> <a href="x3.html">photos</a>`)}
	for _, path := range []string{"/x2.html", "/x3.html"} {
		pages[path] = page(path, "nothing")
	}
	pages["/x1.html"] = page("/x1.html", `<a href="x4.html">papers</a>`)
	pages["/x4.html"] = page("/x4.html", "nothing")
	s := serve(t, pages)
	w.seed(t, s.host, "/", "/")
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.Equal(t, []string{"/", "/x1.html", "/x4.html"}, order[:3])
}
