package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// TestDocsShowCommandsThatThereAre walks through README and docs, and through the examples
// of every command's help: each command shown is one, takes the flags that it is shown
// with, and that many arguments. That every command does what it should when it is run
// is TestEveryCommandOnRealData's and TestTheDocsCanBeWalked's.
func TestDocsShowCommandsThatThereAre(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	shown := 0
	for _, page := range append(pages, "../README.md", "../deploy/README.md") {
		raw, err := os.ReadFile(page)
		require.NoError(t, err)
		require.Empty(t, prose.FindAllString(fenced.ReplaceAllString(string(raw), ""), -1), "%s: commands that became prose", page)
		for _, line := range shownCommands(string(raw)) {
			shown++
			checkShown(t, page, line)
		}
	}
	require.Greater(t, shown, 100, "the pages were not understood")
	for _, c := range allCommands(newRoot(io.Discard, io.Discard)) {
		for _, line := range blockCommands(c.Example) {
			checkShown(t, "the help of "+c.CommandPath(), line)
		}
	}
}

func allCommands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		all = append(all, allCommands(sub)...)
	}
	return all
}

var (
	fenced    = regexp.MustCompile("(?ms)^```\\w*\n(.*?)^```$")
	inline    = regexp.MustCompile("`starter\\s+([^`]+)`")
	indented  = regexp.MustCompile(`(?m)^    (starter .*)$`)
	begins    = regexp.MustCompile(`(?:^|\s)(?:bin/|\./|go run \./)?starter (.*)$`)
	prose     = regexp.MustCompile(`(?m)^starter .*$`)
	comment   = regexp.MustCompile(`(?:\s#.*| {3,}\S.*)$`)
	words     = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
	redirects = regexp.MustCompile(`\s(?:>|<|2>|&$).*$`)
)

// shownCommands are the words behind "starter" wherever a page shows a command: in
// blocks, and in a line of text.
func shownCommands(page string) (all []string) {
	for _, block := range fenced.FindAllStringSubmatch(page, -1) {
		all = append(all, blockCommands(block[1])...)
	}
	page = fenced.ReplaceAllString(page, "")
	for _, m := range indented.FindAllStringSubmatch(page, -1) {
		all = append(all, blockCommands(m[1])...)
	}
	for _, m := range inline.FindAllStringSubmatch(indented.ReplaceAllString(page, ""), -1) {
		all = append(all, strings.Join(strings.Fields(m[1]), " "))
	}
	return all
}

func blockCommands(block string) (all []string) {
	for line := range strings.Lines(block) {
		line = comment.ReplaceAllString(strings.TrimSpace(line), "")
		for _, one := range strings.Split(line, " && ") {
			if m := begins.FindStringSubmatch(redirects.ReplaceAllString(one, "")); m != nil && !strings.Contains(one, "──") && !strings.Contains(one, "go build") && !strings.Contains(one, "install ") {
				all = append(all, strings.TrimSpace(m[1]))
			}
		}
	}
	return all
}

// checkShown holds a command to the command line. What may be left out stands in
// brackets, and is tried with the rest; of words with a stroke between each is tried;
// dots stand for what is not shown.
func checkShown(t *testing.T, where, line string) {
	said := where + ": starter " + line
	parts := strings.Split(line, " | ")
	first := words.FindAllString(strings.NewReplacer("[", "", "]", "").Replace(parts[0]), -1)
	for i, part := range parts {
		args := words.FindAllString(strings.NewReplacer("[", "", "]", "").Replace(part), -1)
		if i > 0 && len(args) > 0 && len(first) > 1 { // starter schedule list | show
			args = append([]string{first[0]}, args...)
		}
		vague := false
		for j, a := range args {
			a, _, _ = strings.Cut(a, "|")
			args[j] = strings.Trim(a, `'"`)
			vague = vague || strings.Contains(a, "…")
		}
		root := newRoot(io.Discard, io.Discard)
		root.InitDefaultHelpCmd()
		root.InitDefaultCompletionCmd()
		cmd, rest, err := root.Find(args)
		require.NoError(t, err, said)
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") && !vague {
			require.NotEqual(t, "starter", cmd.CommandPath(), said)
		}
		for j := range rest {
			if strings.HasSuffix(rest[j], "…") {
				rest = rest[:j]
				break
			}
		}
		if cmd.DisableFlagParsing || len(parts) > 1 && len(rest) == 0 {
			continue
		}
		cmd.InitDefaultHelpFlag()
		err = cmd.ParseFlags(rest)
		if vague || len(rest) == 0 || err != nil && strings.Contains(err.Error(), "needs an argument") { // a flag is spoken of
			continue
		}
		require.NoError(t, err, said)
		if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
			require.Fail(t, "no such command", said)
		}
		if cmd.Flags().NArg() > 0 {
			require.NoError(t, cmd.ValidateArgs(cmd.Flags().Args()), said)
		}
	}
}
