package harvest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/metadata"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
)

func TestWithListings(t *testing.T) {
	t.Parallel()
	entry := func(url string, role frontier.Role) frontier.Entry {
		return frontier.Entry{Role: role, Candidate: page.Candidate{Link: page.Link{URL: url, Source: page.SourceSeed}}}
	}
	var entries []frontier.Entry
	for i := range landingsOfListing {
		for _, of := range []string{"http://press.example/v1/%d.html", "http://press.example/v2/p%d/", "http://press.example/%d/", "http://press.example/show/paper?id=%d"} {
			entries = append(entries, entry(fmt.Sprintf(of, i), frontier.Landing))
		}
		entries = append(entries, entry(fmt.Sprintf("http://press.example/pdf/%d.pdf", i), frontier.Lead))
	}
	entries = append(entries, entry("http://press.example/few/1.html", frontier.Landing))
	var listings []string
	for _, e := range withListings(entries)[len(entries):] {
		require.Equal(t, frontier.Landing, e.Role)
		require.Equal(t, page.SourceListing, e.Link.Source)
		listings = append(listings, e.Link.URL)
	}
	require.Equal(t, []string{"http://press.example/v1/", "http://press.example/v2/"}, listings,
		"neither a whole host, nor a script's pages, nor files, nor the directory of one page")
}

// TestNothingIsKnownWhileACatalogueIsAway: whoever asks has nothing to mend.
func TestNothingIsKnownWhileACatalogueIsAway(t *testing.T) {
	t.Parallel()
	away, none := metadata.ErrUnavailable{}, metadata.ErrNoPapers{}
	gaps := []gap{{source: "crossref", err: away}}
	require.ErrorAs(t, nothing("papers:x", gleaner.Years{}, gaps), &away)
	require.NotErrorAs(t, nothing("papers:x", gleaner.Years{}, gaps), &none)
	require.ErrorAs(t, nothing("papers:x", gleaner.Years{}, nil), &none)
}
