package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/service/program"
)

// TestMisuses: what is wrong is told at once, with the exit code that the help names.
func TestMisuses(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.crawlsSites("ada.example")
	for _, m := range []struct {
		code int
		says string
		args []string
	}{
		{program.ExitUsage, "unknown flag: --nope", []string{"harvest", "--nope"}},
		{program.ExitUsage, "no command is called", []string{"harvets"}},
		{program.ExitUsage, "want a venue such as", []string{"harvest"}},
		{program.ExitUsage, "--max-pages", []string{"harvest", "conf/x", "--years", "2001", "--max-pages", "-1"}},
		{program.ExitUsage, "--sites", []string{"harvest", "conf/x", "--years", "2001", "--sites", "-1"}},
		{program.ExitUsage, "want a venue", []string{"export"}},
		{program.ExitUnknown, "nothing is known of conf/nope", []string{"export", "conf/nope"}},
		{program.ExitUnknown, "no such harvest", []string{"report", "conf/nope"}},
		{program.ExitUnknown, "no such harvest", []string{"review", "conf/nope"}},
		{program.ExitUnknown, "no site nope.example", []string{"recrawl", "nope.example"}},
		{program.ExitUnknown, "no such document", []string{"documents", "show", "abcdef"}},
		{program.ExitUsage, "want an hour or longer", []string{"schedule", "create", "due", "--every", "50s"}},
		{program.ExitUsage, "is no host", []string{"whitelist", "import", "--black", c.file("hosts.txt", "not a host\n")}},
		{program.ExitUsage, "is no host", []string{"whitelist", "import", "--black", c.file("words.txt", "word\n")}},
		{program.ExitUsage, "is no host", []string{"blacklist", "add", "www.example.edu/~ada"}},
		{program.ExitUsage, "is no host", []string{"blacklist", "add", "bücher.example"}},
		{program.ExitUsage, "no such file", []string{"holdings", "import", "/nowhere.csv"}},
	} {
		require.Contains(t, c.wrong(m.code, m.args...), m.says, "%v", m.args)
	}
	require.Contains(t, c.ok("review", "conf/x", "--list"), "0 matches")
	require.Contains(t, c.wrong(program.ExitUnavailable, "recrawl", "ada.example", "--temporal-address", "127.0.0.1:1"), "127.0.0.1:1", "a host is a site")
}
