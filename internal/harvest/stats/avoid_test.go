package stats

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
)

func TestRecrawlPassesOverWhatIsToBeAvoided(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.homepage("ada.example")
	_, err := Measure(t.Context(), r.DB, "ada.example", Defaults())
	require.NoError(t, err)
	p := recrawl.Defaults()
	p.Revisit = 3
	require.NoError(t, r.FinishCrawl(t.Context(), "ada.example", store.CrawlEnd{State: "done", Policy: "blacklist"}, p))
	var waiting []int
	for range 4 {
		n, err := r.RequeueDue(t.Context(), "ada.example", store.PutBack{All: true}, p)
		require.NoError(t, err)
		waiting = append(waiting, n)
		r.exec(`UPDATE urls SET state=was WHERE state=0`)
	}
	// 44 pages and two documents, of them 42 pages in /blog/ and /teaching/.
	require.Equal(t, []int{4, 4, 46, 4}, waiting)
	s, err := r.Site(t.Context(), "ada.example")
	require.NoError(t, err)
	require.Equal(t, gleaner.SiteNew, s.State)
	left, err := r.EndedSites(t.Context(), []string{"ada.example"}, "")
	require.NoError(t, err)
	require.Empty(t, left)
}

// What of a site is asked again is decided by the innermost directory that has a
// verdict.
func TestInnermostDirectoryDecides(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	at := func(path string) string { return "http://dept.example" + path }
	id := r.site("dept.example")
	r.page(id, at("/"), "")
	for i := range 300 {
		r.page(id, at(fmt.Sprintf("/people/staff/%d.html", i)), at("/"))
	}
	// Of a large poor directory one small part is fruitful.
	r.page(id, at("/people/ada/pubs.html"), at("/people/staff/1.html"))
	for i := range 10 {
		r.page(id, at(fmt.Sprintf("/people/ada/%d.html", i)), at("/people/ada/pubs.html"))
	}
	r.document(id, at("/people/ada/1.pdf"), at("/people/ada/pubs.html"), "one", true)
	// Another is too small to be judged, and goes with what it lies in.
	r.page(id, at("/people/bob/index.html"), at("/people/staff/2.html"))
	// A page in the poor part links to an accepted document of another host.
	elsewhere := r.site("press.example")
	r.page(id, at("/people/staff/eve.html"), at("/people/staff/3.html"))
	r.document(elsewhere, "http://press.example/2.pdf", at("/people/staff/eve.html"), "two", true)

	_, err := Measure(t.Context(), r.DB, "dept.example", Defaults())
	require.NoError(t, err)
	dirs, err := r.DirectoryRatesList(t.Context(), "dept.example", true)
	require.NoError(t, err)
	avoided := each.Of(dirs, func(d store.DirectoryRates) string { return d.Path })
	require.Equal(t, []string{"/people/", "/people/bob/", "/people/staff/"}, avoided)

	p := recrawl.Defaults()
	require.NoError(t, r.FinishCrawl(t.Context(), "dept.example", store.CrawlEnd{State: "done", Policy: "blacklist"}, p))
	_, err = r.RequeueDue(t.Context(), "dept.example", store.PutBack{All: true}, p)
	require.NoError(t, err)
	waiting := storetest.Column[string](t, r.Pool, `SELECT url FROM urls WHERE site_id=$1 AND state=0`, id)
	require.Len(t, waiting, 14)
	for _, path := range []string{"/", "/people/ada/pubs.html", "/people/ada/7.html", "/people/ada/1.pdf", "/people/staff/eve.html"} {
		require.Contains(t, waiting, at(path))
	}
}

// A page of publications beside its files has no documents, and the files no pages: neither
// is poor.
func TestPoorInEachRate(t *testing.T) {
	t.Parallel()
	papers := store.Rates{Documents: 20, Accepted: 18}
	list := store.Rates{Pages: 10, Relevant: 5}
	both := store.Rates{Pages: 10, Relevant: 5, Documents: 20, Accepted: 18}
	blog := store.Rates{Pages: 40, Documents: 2}
	for i, r := range []store.Rates{papers, list, both, blog} {
		require.Equal(t, i == 3, Defaults().poor(r), i)
	}
}
