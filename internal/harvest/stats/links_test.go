package stats

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
)

// TestEveryPageThatLinksToADocumentLeadsToIt: not only the one that was read first.
// It is relevant, a parent of all its documents, and never passed over; and the
// document is referred to by as many.
func TestEveryPageThatLinksToADocumentLeadsToIt(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	at := func(path string) string { return "http://ada.example" + path }
	ada := r.homepage("ada.example") // where pubs.html is read first
	bob := r.site("bob.example")
	r.page(bob, "http://bob.example/links.html", "")
	second, far := at("/blog/2003/5.html"), "http://bob.example/links.html"
	r.linked(ada, at("/pubs.html"), at("/papers/a.pdf"), at("/papers/b.pdf"), at("/papers/none.pdf"))
	r.linked(ada, second, at("/papers/a.pdf"), at("/papers/b.pdf"))
	r.linked(bob, far, at("/papers/a.pdf"))

	got, err := Measure(t.Context(), r.DB, "ada.example", Defaults())
	require.NoError(t, err)
	require.Equal(t, store.Rates{Pages: 44, Relevant: 3, Documents: 2, Accepted: 2}, got.Rates)
	require.Equal(t, 1, got.Foreign)
	other, err := Measure(t.Context(), r.DB, "bob.example", Defaults())
	require.NoError(t, err)
	require.Equal(t, store.Rates{Pages: 1, Relevant: 1}, other.Rates, "it leads to another site's")
	require.Zero(t, other.Foreign)

	parents, err := r.ParentPages(t.Context(), false)
	require.NoError(t, err)
	require.Equal(t, []store.ParentPage{{URL: second, Documents: 2}, {URL: at("/pubs.html"), Documents: 2}, {URL: far, Documents: 1}}, parents)
	n, err := r.NumRefBy(t.Context(), "ada.examplea")
	require.NoError(t, err)
	require.Equal(t, 3, n)

	// The blog is to be avoided; the page in it that leads to papers is asked.
	p := recrawl.Defaults()
	require.NoError(t, r.FinishCrawl(t.Context(), "ada.example", store.CrawlEnd{State: "done", Policy: "blacklist"}, p))
	waiting, err := r.RequeueDue(t.Context(), "ada.example", store.PutBack{All: true}, p)
	require.NoError(t, err)
	require.Equal(t, 5, waiting)

	// What is judged anew makes the sites stale that link to it.
	_, err = MeasureStale(t.Context(), r.DB, Defaults())
	require.NoError(t, err)
	r.exec(`UPDATE documents SET state='rejected', updated_at=now() WHERE sha256='ada.examplea'`)
	stale, err := r.StaleHosts(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"ada.example", "bob.example"}, stale)
}
