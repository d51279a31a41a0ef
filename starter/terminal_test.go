package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
)

// TestSecretsAreNoArguments: everybody on a machine can read the arguments of
// everybody's programs.
func TestSecretsAreNoArguments(t *testing.T) {
	t.Parallel()
	for _, s := range config.Settings() {
		if !s.Secret {
			continue
		}
		for _, args := range [][]string{{"config", "--" + s.Key, "s3cr3t"}, {"--" + s.Key + "=s3cr3t", "config"}} {
			root := newRoot(io.Discard, io.Discard)
			root.SetArgs(args)
			err := root.ExecuteContext(t.Context())
			require.Equal(t, program.ExitUsage, exitCode(err), s.Key)
			require.ErrorContains(t, err, s.Env)
			require.ErrorContains(t, err, "--"+s.FileKey())
			require.NotContains(t, err.Error(), "s3cr3t")
		}
	}
}

// TestWordsOfStrangersStayWords: a page's words reach the terminal as words.
func TestWordsOfStrangersStayWords(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.accepted("ada.example", "paper.pdf")
	const hostile = "\x1b]0;owned\a \x1b[2J \u009b31m \u202egnp.exe"
	_, err := c.Pool.Exec(t.Context(), `UPDATE locations SET member=$1, anchor=$1`, hostile)
	require.NoError(t, err)
	out := c.ok("documents", "show", "ada.example")
	require.Contains(t, out, `\u001b]0;owned\u0007 \u001b[2J \u009b31m \u202egnp.exe`)
	require.False(t, strings.ContainsAny(out, "\x1b\a\u009b\u202e"))

	out = c.ok("documents", "show", "ada.example", "--json")
	require.False(t, strings.ContainsAny(out, "\x1b\a\u009b\u202e"))
	var shown struct{ Locations []struct{ Member string } }
	require.NoError(t, json.Unmarshal([]byte(out), &shown))
	require.Equal(t, hostile, shown.Locations[0].Member, "scripts get it as it is")

	_, _, err = c.run("documents", "show", "no\x1b[2Jsuch")
	require.Error(t, err)
}

// TestOneWayToTheTerminal: only main, by a terminal.Writer, and what is no text
// reach the standard output.
func TestOneWayToTheTerminal(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"*.go", "../worker/*.go", "../worker/pool/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
			for line := range strings.Lines(string(raw)) {
				if strings.Contains(line, "fmt.Print") || strings.Contains(line, "Fprint") && strings.Contains(line, "os.Std") {
					require.True(t, strings.Contains(line, "terminal.New(") || strings.Contains(line, "usage"), "%s: %s", name, line)
				}
			}
		}
	}
}
