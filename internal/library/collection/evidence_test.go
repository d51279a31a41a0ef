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
// the resolver or the publisher says so. Anybody can put one into a landing page, too: a page
// of a stranger is believed where the document agrees, by its title or by the DOI in its text.
func TestDOIBesideADocument(t *testing.T) {
	t.Parallel()
	wanted := gleaner.Paper{Key: "w", Title: "Harvesting the Missing Papers of a Venue", DOI: "10.1145/872757.872773",
		Authors: []gleaner.Author{{Name: "Jane Porter"}}}
	index := match.NewIndex([]gleaner.Paper{wanted})
	body := "\nJane Porter\n\nAbstract\n" + strings.Repeat("We study a question that has been open for long. ", 12)
	other, same := "Some Other Report"+body, wanted.Title+body
	stamped := other + "\nhttps://doi.org/10.1145/872757.872773\n"
	for _, c := range []struct {
		file, pages string
		want        match.Verdict
		page, doi   string // where it was found, and what that says
	}{
		{file: "http://anybody.example/files/10.1145/872757.872773.pdf", pages: other, want: match.Ambiguous},
		{file: "http://anybody.example/get?doi=10.1145/872757.872773", pages: other, want: match.Ambiguous},
		{file: "http://acm.org.anybody.example/doi/pdf/10.1145/872757.872773", pages: other, want: match.Ambiguous},
		{file: "http://notacm.org/doi/pdf/10.1145/872757.872773", pages: other, want: match.Ambiguous},
		{file: "https://dl.acm.org/doi/pdf/10.1145/872757.872773", pages: other, want: match.Strong},
		{file: "https://doi.org/10.1145/872757.872773", pages: other, want: match.Strong},
		{file: "http://anybody.example/files/10.1145/872757.872773.pdf", pages: same, want: match.Exact},
		{"http://anybody.example/1.pdf", other, match.Ambiguous, "http://anybody.example/papers.html", wanted.DOI},
		{"http://acm.org.anybody.example/1.pdf", other, match.Ambiguous, "http://acm.org.anybody.example/doi/1", wanted.DOI},
		{"http://anybody.example/1.pdf", same, match.Exact, "http://anybody.example/papers.html", wanted.DOI},
		{"http://anybody.example/1.pdf", stamped, match.Strong, "http://anybody.example/papers.html", wanted.DOI},
		{"https://dl.acm.org/1.pdf", other, match.Strong, "https://dl.acm.org/doi/10.1145/872757.872773", wanted.DOI},
		{"http://anybody.example/1.pdf", other, match.Ambiguous, "", wanted.DOI},
	} {
		found := matches(index, store.Document{FirstPages: c.pages}, []store.Location{{URL: c.file, Parent: c.page, DOI: c.doi}})
		require.Len(t, found, 1, "%+v", c)
		require.Equal(t, string(c.want), found[0].Verdict, "%+v: %q", c, found[0].Reasons)
	}
}
