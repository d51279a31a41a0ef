package collection

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/match"
	"gleaner/internal/store"
)

func TestIdentifiersInURLs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, arxiv, doi string }{
		{"https://arxiv.org/pdf/1609.01872v2", "1609.01872v2", ""},
		{"http://export.arxiv.org/pdf/cs/0305044", "cs/0305044", ""},
		{"https://arxiv.org/abs/math.CO/0309136", "math.CO/0309136", ""},
		{"https://arxiv.org/list/cs.DL/new", "", ""},
		{"https://notarxiv.org/pdf/1609.01872", "", ""},
		{"https://dl.example.org/doi/pdf/10.1145/872757.872773", "", "10.1145/872757.872773"},
		{"https://dl.example.org/10.1145%2F872757.872773.pdf?download=1", "", "10.1145/872757.872773"},
		{"http://www.example.org/~ada/10.1/paper.pdf", "", ""},
	} {
		require.Equal(t, c.arxiv, arxivOf(c.url), c.url)
		require.Equal(t, c.doi, doiOf(c.url), c.url)
	}
}

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
