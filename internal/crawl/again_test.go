package crawl

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
)

// TestAFailureKeepsTheTag: a page that failed at one recrawl is asked for conditionally
// at the next.
func TestAFailureKeepsTheTag(t *testing.T) {
	t.Parallel()
	w, whole := newWorld(t), tagged("text/html", "<html><title>A page</title></html>")
	requests := make(chan string, 10)
	s := serve(t, map[string]any{"/": func(rw http.ResponseWriter, r *http.Request) {
		requests <- r.Header.Get("If-None-Match")
		if len(requests) == 2 {
			http.Error(rw, "", http.StatusInternalServerError)
			return
		}
		whole(rw, r)
	}})
	w.cfg.MaxTries = 1
	w.seed(t, s.host, "/", "/")
	for range 3 {
		w.finish(t, w.crawler(w.client), s.host)
		require.NoError(t, w.db.FinishCrawl(t.Context(), s.host, store.CrawlEnd{State: "done"}, w.cfg.Recrawl))
		_, err := w.db.RequeueDue(t.Context(), s.host, store.PutBack{All: true}, w.cfg.Recrawl)
		require.NoError(t, err)
	}
	close(requests)
	var tags []string
	for tag := range requests {
		tags = append(tags, tag)
	}
	require.Equal(t, []string{"", `"1"`, `"1"`}, tags)
}
