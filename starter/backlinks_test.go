package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
)

// Of a document is told how many pages refer to it, of its URL which do.
func TestBackLinks(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.accepted("ada.example", "paper.pdf")
	var url string
	var site int
	require.NoError(t, c.Pool.QueryRow(t.Context(), `SELECT url, site_id FROM locations`).Scan(&url, &site))
	entries := []frontier.Entry{{Candidate: page.Candidate{Link: page.Link{URL: url}}}}
	var read []frontier.Reading
	for _, from := range []string{"http://ada.example/project.html", "http://ada.example/cv.html"} {
		entries = append(entries, frontier.Entry{Candidate: page.Candidate{Link: page.Link{URL: from}}})
		read = append(read, frontier.Reading{Page: frontier.HashOf(from), Files: []frontier.Hash{frontier.HashOf(url)}})
	}
	_, err := frontier.Add(t.Context(), c.Pool, site, entries)
	require.NoError(t, err)
	require.NoError(t, frontier.Link(t.Context(), c.Pool, site, read))
	require.Contains(t, c.ok("documents", "show", "ada.example"), "pages that refer to it: 3\n", "with the one by which it was found")
	told := c.ok("explain", url)
	for _, from := range []string{"http://ada.example/project.html", "http://ada.example/cv.html"} {
		require.Regexp(t, `also from +`+from+` \(20`, told)
	}
}
