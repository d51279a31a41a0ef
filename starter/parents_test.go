package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/service/program"
)

// TestParents: the pages that lead to documents are listed by host, a part at a time, with
// the days of their crawls, and one with all documents that it leads to.
func TestParents(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.accepted("ada.example", "paper.pdf")
	c.accepted("ada.example", "other.pdf")
	c.accepted("bob.example", "paper.pdf")
	c.exec(`UPDATE parents SET first_crawl='2005-06-30', last_crawl='2026-01-02' WHERE host='ada.example'`)
	c.exec(`UPDATE locations SET found_at='2020-02-03T12:00Z', seen_at='2021-02-03T12:00Z'`)
	out := c.ok("parents")
	require.Regexp(t, `2005-06-30 +2026-01-02 +2 +http://ada\.example/`, out)
	require.Regexp(t, `\(2020-02-03\) +\(2021-02-03\) +1 +http://bob\.example/`, out)
	var part listedParents
	c.read(&part, "parents", "--limit", "1")
	require.Len(t, part.Parents, 1)
	require.Equal(t, "ada.example", part.Parents[0].Host)
	require.Contains(t, c.ok("parents", "--limit", "1"), "more:  --after '"+part.Next+"'\n")
	var rest, bobs listedParents
	c.read(&rest, "parents", "--after", part.Next)
	c.read(&bobs, "parents", "--host", "bob.example")
	require.Equal(t, rest, bobs)
	require.Len(t, rest.Parents, 1)
	require.Empty(t, rest.Next)

	var one shownParent
	c.read(&one, "parents", part.Parents[0].URL)
	require.Len(t, one.LeadsTo, 2)
	require.Equal(t, 2, one.Documents)
	require.Equal(t, "accepted", one.LeadsTo[0].State)
	require.Contains(t, c.ok("parents", part.Parents[0].URL), one.LeadsTo[1].SHA256)
	c.wrong(program.ExitUnknown, "parents", "http://nobody.example/")
	c.wrong(program.ExitUsage, "parents", "mailto:ada")
	c.wrong(program.ExitUsage, "parents", "--after", "somewhere")
	c.wrong(program.ExitUsage, "parents", "--limit", "0")
}
