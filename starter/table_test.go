package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/service/terminal"
)

// TestNarrowTablesBreakNoWord: where a line is wider than the terminal, values stand below
// each other under their heads, each whole on one line.
func TestNarrowTablesBreakNoWord(t *testing.T) {
	t.Parallel()
	heads := []string{"site", "pages", "pace", "reason"}
	rows := []string{"www.example.edu\t12\tevery 500ms (default)\tblocked-wall", "b.example\t0\tevery 1s\t"}
	for _, width := range []int{30, 40, 80} {
		var out bytes.Buffer
		writeNarrow(&out, heads, rows, width)
		for line := range strings.Lines(out.String()) {
			require.LessOrEqual(t, terminal.Width(strings.TrimSpace(line)), width)
		}
		for _, value := range []string{"site www.example.edu\n", "pages 12", "pace every 500ms (default)",
			"reason blocked-wall", "site b.example\n"} {
			require.Contains(t, out.String(), value)
		}
	}
	require.Equal(t, 7, widest("ab\nabcdefg  \n"))
}

// TestListsOfNothingSayWhatToDo in place of a bare head.
func TestListsOfNothingSayWhatToDo(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	for _, args := range []string{"sites list", "documents list", "stats domains", "stats sites", "stats failures",
		"whitelist show", "blacklist list", "jobs list", "collections list", "parents"} {
		out := c.ok(strings.Fields(args)...)
		require.NotEqual(t, strings.ToUpper(out), out, "%s prints more than heads", args)
	}
}

// TestRunsAreFoundByName: pause, resume, cancel and retry take any run by its name, and by
// its id where several are called the same.
func TestRunsAreFoundByName(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.crawlsSites("a.example")
	c.exec(`INSERT INTO collections (name, state, topics, options) VALUES ('math', 'ended', '[]', '{}'), ('conf/x', 'ended', '[]', '{}')`)
	for given, want := range map[string]string{
		"CONF/X/2001": "harvest/conf/x/2001", "harvest/conf/x": "harvest/conf/x/2001",
		"math": "collections/math", "collections/conf/x": "collections/conf/x", "A.example": "site/a.example",
		"7": "job/7", "import/7": "job/7", "job/whitelist/7": "job/7",
		"due": "schedule/due", "schedule/conf/x": "schedule/conf/x", "recrawl/due": "recrawl/due",
	} {
		r, err := findRun(t.Context(), c.DB, given)
		require.NoError(t, err, given)
		require.Equal(t, want, r.id(), given)
	}
	_, err := findRun(t.Context(), c.DB, "conf/x")
	require.ErrorContains(t, err, "harvest/conf/x/2001, collections/conf/x")
}
