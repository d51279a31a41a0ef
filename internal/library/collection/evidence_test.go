package collection

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/match"
	"gleaner/internal/record/store"
)

// Anybody can put a DOI in a URL: without the title it settles nothing, but where
// the resolver or the publisher says so.
func TestDOIInURL(t *testing.T) {
	t.Parallel()
	wanted := gleaner.Paper{Key: "w", Title: "Harvesting the Missing Papers of a Venue", DOI: "10.1145/872757.872773",
		Authors: []gleaner.Author{{Name: "Jane Porter"}}}
	index := match.NewIndex([]gleaner.Paper{wanted})
	body := "\nJane Porter\n\nAbstract\n" + strings.Repeat("We study a question that has been open for long. ", 12)
	other, same := "Some Other Report"+body, wanted.Title+body
	for _, c := range []struct {
		url, pages string
		want       match.Verdict
	}{
		{"http://anybody.example/files/10.1145/872757.872773.pdf", other, match.Ambiguous},
		{"http://anybody.example/get?doi=10.1145/872757.872773", other, match.Ambiguous},
		{"http://acm.org.anybody.example/doi/pdf/10.1145/872757.872773", other, match.Ambiguous},
		{"http://notacm.org/doi/pdf/10.1145/872757.872773", other, match.Ambiguous},
		{"https://dl.acm.org/doi/pdf/10.1145/872757.872773", other, match.Strong},
		{"https://doi.org/10.1145/872757.872773", other, match.Strong},
		{"http://anybody.example/files/10.1145/872757.872773.pdf", same, match.Exact},
	} {
		found := matches(index, store.Document{FirstPages: c.pages}, []store.Location{{URL: c.url}})
		require.Len(t, found, 1, c.url)
		require.Equal(t, string(c.want), found[0].Verdict, "%s: %q", c.url, found[0].Reasons)
	}
}

// Anybody can put a DOI into a landing page, too: a page of a stranger is believed
// where the document agrees, by its title or by the DOI in its text.
func TestDOIOfALandingPage(t *testing.T) {
	t.Parallel()
	wanted := gleaner.Paper{Key: "w", Title: "Harvesting the Missing Papers of a Venue", DOI: "10.1145/872757.872773",
		Authors: []gleaner.Author{{Name: "Jane Porter"}}}
	index := match.NewIndex([]gleaner.Paper{wanted})
	body := "\nJane Porter\n\nAbstract\n" + strings.Repeat("We study a question that has been open for long. ", 12)
	other, same := "Some Other Report"+body, wanted.Title+body
	stamped := "Some Other Report" + body + "\nhttps://doi.org/10.1145/872757.872773\n"
	for _, c := range []struct {
		page, file, pages string
		want              match.Verdict
	}{
		{"http://anybody.example/papers.html", "http://anybody.example/1.pdf", other, match.Ambiguous},
		{"http://acm.org.anybody.example/doi/1", "http://acm.org.anybody.example/1.pdf", other, match.Ambiguous},
		{"http://anybody.example/papers.html", "http://anybody.example/1.pdf", same, match.Exact},
		{"http://anybody.example/papers.html", "http://anybody.example/1.pdf", stamped, match.Strong},
		{"https://dl.acm.org/doi/10.1145/872757.872773", "https://dl.acm.org/1.pdf", other, match.Strong},
		{"", "http://anybody.example/1.pdf", other, match.Ambiguous},
	} {
		found := matches(index, store.Document{FirstPages: c.pages}, []store.Location{{URL: c.file, Parent: c.page, DOI: wanted.DOI}})
		require.Len(t, found, 1, c.page)
		require.Equal(t, string(c.want), found[0].Verdict, "%s: %q", c.page, found[0].Reasons)
	}
}
