package synthesis_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/web/rules"
)

// TestWhatIsLeftOut: a crawl by topic heeds the lists of what is left out, the worker's
// and in their place those of the collection; the stop directories that the record learnt,
// too, all of them at once.
func TestWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{
		"a.example/":          primes + " one>a.example/blog/1 two>a.example/papers/2 three>a.example/deep/er/3",
		"a.example/blog/1":    primes + " blog",
		"a.example/papers/2":  primes + " papers",
		"a.example/deep/er/3": primes + " deep",
		"b.example/":          verses,
	}})
	storetest.Exec(t, s.db.Pool, `WITH s AS (INSERT INTO sites (host) SELECT 'dept' || i || '.example' FROM generate_series(1, 6) i RETURNING id)
		INSERT INTO directory_stats (site_id, path, name, pages, relevant, documents, accepted, judged, about, avoid) SELECT id, '/blog/', 'blog', 30, 0, 0, 0, 0, 0, true FROM s`)
	s.tools.Config.StopSites, s.tools.Config.StopShare = 5, 0.05
	pages := []string{"a.example/blog/1", "a.example/papers/2", "a.example/deep/er/3"}
	for name, c := range map[string]struct {
		worker rules.Lists
		asked  *rules.Lists
		want   []string
	}{
		"none":         {want: pages},
		"learnt":       {worker: rules.Lists{StopDirectories: []string{"cgi-bin", rules.Learnt}}, want: pages[1:]},
		"asked":        {worker: rules.Lists{StopDirectories: []string{rules.Learnt}}, asked: &rules.Lists{StopDirectories: []string{"papers"}}, want: []string{pages[0], pages[2]}},
		"asked learnt": {asked: &rules.Lists{StopDirectories: []string{rules.Learnt}, Levels: 1}, want: pages[1:2]},
	} {
		s.tools.Config.Links = c.worker
		m := s.collected(t, name, func(a *Request) { a.Links = c.asked })
		for _, p := range pages {
			require.Equal(t, slices.Contains(c.want, p), slices.Contains(m.asked, p), "%s: %s", name, p)
		}
	}
}
