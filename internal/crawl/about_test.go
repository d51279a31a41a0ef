package crawl

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/harvest/stats"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// TestPagesAreJudgedByTheirSubject: where a classifier is there, the rates of a site have
// how many of its pages are about a subject that is collected, also after a recrawl that
// finds them as they were.
func TestPagesAreJudgedByTheirSubject(t *testing.T) {
	t.Parallel()
	databases := func(p *page.Page) bool { return strings.Contains(p.Text, "databases") }
	for name, about := range map[string]func(*page.Page) bool{"judged": databases, "nobody judges": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.cfg.About = about
			s := serve(t, map[string]any{
				"/":          links("/db/a.html", "/db/b.html", "/cv.html"),
				"/db/a.html": "<p>On databases</p>",
				"/db/b.html": "<p>More on databases</p>",
				"/cv.html":   "<p>A life</p>",
			})
			w.seed(t, s.host, "/", "/")
			c := w.crawler(w.client)
			require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
			want := store.Rates{Pages: 4}
			if about != nil {
				want.Judged, want.About = 4, 2
			}
			for range 2 {
				site, err := stats.Measure(t.Context(), w.db, s.host, stats.Thresholds{})
				require.NoError(t, err)
				require.Equal(t, want, site.Rates)
				_, err = w.db.RequeueDue(t.Context(), s.host, store.PutBack{All: true, For: "recrawl/all"}, w.cfg.Recrawl)
				require.NoError(t, err)
				w.rested(t, s.host)
				require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
			}
			all, err := w.db.SiteRatesList(t.Context(), "", 0)
			require.NoError(t, err)
			require.Equal(t, want, all[0].Rates)
			dirs, err := w.db.DirectoryRatesList(t.Context(), s.host, false)
			require.NoError(t, err)
			require.Equal(t, "/db/", dirs[1].Path)
			require.Equal(t, want.About, dirs[1].About)
		})
	}
}
