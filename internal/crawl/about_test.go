package crawl

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/harvest/stats"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// TestPagesAreJudgedByTheirSubject: the rates of a site have how many of its pages are
// about a subject that is collected, also after a recrawl that finds them as they were.
func TestPagesAreJudgedByTheirSubject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.About = func(p *page.Page) bool { return strings.Contains(p.Text, "databases") }
	s := serve(t, map[string]any{"/": links("/db/a.html", "/cv.html"), "/db/a.html": "<p>On databases</p>", "/cv.html": "<p>A life</p>"})
	w.seed(t, s.host, "/", "/")
	for range 2 {
		w.rested(t, s.host)
		require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
		_, err := stats.Measure(t.Context(), w.db, s.host, stats.Thresholds{})
		require.NoError(t, err)
		dirs, err := w.db.DirectoryRatesList(t.Context(), s.host, false)
		require.NoError(t, err)
		require.Equal(t, store.Rates{Pages: 3, Judged: 3, About: 1}, dirs[0].Rates)
		_, err = w.db.RequeueDue(t.Context(), s.host, store.PutBack{All: true, For: "recrawl/all"}, w.cfg.Recrawl)
		require.NoError(t, err)
	}
}
