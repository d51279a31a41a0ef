package crawl

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestManyWaysToOnePage: of links that redirect to one page the first one brings
// it, and it is not asked for again, whatever was written in between.
func TestManyWaysToOnePage(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, 32} {
		w := newWorld(t)
		w.cfg.Batch = batch
		s := serve(t, map[string]any{"/": links("a", "b", "c"), "/a": redirect("/papers.html"), "/b": redirect("/papers.html"), "/c": redirect("/papers.html"),
			"/papers.html": links("1.pdf"), "/1.pdf": "one"})
		w.seed(t, s.host, "/", "/")
		require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
		require.Equal(t, 1, s.asked()["/papers.html"])
		require.Equal(t, map[string]string{"/": "page success", "/a": "page success", "/b": "moved redirect-known", "/c": "moved redirect-known",
			"/papers.html": "moved success", "/1.pdf": "document success"}, w.record(t, s.host))
	}
}
