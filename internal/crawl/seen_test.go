package crawl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestALargeSiteIsKnownAsAWhole: a slice that keeps few URLs in memory comes to
// the record that one comes to which keeps them all, over many slices: the same
// directories are full, the same links left out, and no link counts as new twice.
func TestALargeSiteIsKnownAsAWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.DirPages, w.cfg.TrapPages, w.cfg.SlicePages = 12, 0, 4
	crawl := func(known int) (map[string]string, []int) {
		pages := map[string]any{"/": links("/a/", "/b/", "/calendar?year=2100")}
		for _, dir := range []string{"/a/", "/b/"} {
			var all []string
			for i := range 20 {
				p := fmt.Sprintf("%sp%02d.html", dir, i)
				all = append(all, p)
				pages[p] = links("/", dir, fmt.Sprintf("%sp%02d.html", dir, (i+7)%20), fmt.Sprintf("%sd%d.pdf", dir, i%3), fmt.Sprintf("/calendar?year=%d", 2101+i))
			}
			pages[dir] = links(all...)
			for i := range 3 {
				pages[fmt.Sprintf("%sd%d.pdf", dir, i)] = fmt.Sprint(dir, i)
			}
		}
		s := serve(t, pages)
		w.seed(t, s.host, "/", "/")
		w.cfg.KnownURLs = known
		c := w.crawler(w.client)
		require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
		for p, n := range s.asked() {
			require.Equal(t, 1, n, p)
		}
		var gained []int
		rows, err := w.db.Pool.Query(t.Context(), `SELECT count(*)::int FROM urls WHERE site_id=(SELECT id FROM sites WHERE host=$1) GROUP BY interval_s ORDER BY interval_s`, s.host)
		require.NoError(t, err)
		for rows.Next() {
			var n int
			require.NoError(t, rows.Scan(&n))
			gained = append(gained, n)
		}
		return w.record(t, s.host), gained
	}
	all, gained := crawl(Defaults().KnownURLs)
	require.Contains(t, fmt.Sprint(all), "skipped directory-limit")
	few, gainedOfFew := crawl(8)
	require.Equal(t, all, few)
	require.Equal(t, gained, gainedOfFew, "pages with new documents are worth asking again sooner")
}

// TestDocumentsAreNoPagesOfADirectory: they do not count for its limit, in later slices
// neither.
func TestDocumentsAreNoPagesOfADirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.DirPages, w.cfg.SlicePages = 3, 1
	s := serve(t, map[string]any{
		"/": links("/a/1.pdf", "/a/2.pdf", "/a/3.pdf", "/a/"), "/a/": links("/a/p.html"), "/a/p.html": links("/"),
		"/a/1.pdf": "1", "/a/2.pdf": "2", "/a/3.pdf": "3",
	})
	w.seed(t, s.host, "/", "/")
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.Equal(t, 1, s.asked()["/a/p.html"])
}

// TestASiteCannotFillTheRecord: pages that name ever new documents in ever new
// directories come to an end of what is entered, over all slices.
func TestASiteCannotFillTheRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.SlicePages = 5
	s := serve(t, map[string]any{})
	s.otherwise = func(path string) string {
		var all []string
		for i := range 20 {
			all = append(all, fmt.Sprintf("/d%d%s/p.html", i, strings.ReplaceAll(path, "/", "-")), fmt.Sprintf("/d%d%s/p.pdf", i, strings.ReplaceAll(path, "/", "-")))
		}
		if strings.HasSuffix(path, ".pdf") || path == "/robots.txt" || len(path) > 60 {
			return ""
		}
		return links(all...)
	}
	w.seed(t, s.host, "/", "/")
	w.cfg.MaxURLs = 100
	c := w.crawler(w.client)
	require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
	is := map[string]int{}
	for _, outcome := range w.record(t, s.host) {
		is[outcome]++
	}
	require.Equal(t, maxSkipped, is["skipped url-limit"])
	delete(is, "skipped url-limit")
	n := 0
	for _, k := range is {
		n += k
	}
	require.Equal(t, w.cfg.MaxURLs, n, "%v", is)
}
