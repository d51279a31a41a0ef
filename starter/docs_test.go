package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/document"
	"gleaner/internal/service/program"
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

// TestMisuses: what is wrong is told at once, with the exit code that the help names.
func TestMisuses(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.crawlsSites("ada.example")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, taken, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	for _, m := range []struct {
		code int
		says string
		args []string
	}{
		{program.ExitUsage, "unknown flag: --nope", []string{"harvest", "--nope"}},
		{program.ExitUsage, "unknown flag: --max-page; did you mean --max-pages?", []string{"harvest", "--max-page", "3"}},
		{program.ExitUsage, "outside 1600-2999; each year has four digits, as in 2005-2015", []string{"harvest", "conf/x", "--years", "2005-15"}},
		{program.ExitUsage, "none.csv holds no paper", []string{"harvest", "--papers", c.file("none.csv", "title,year\n"), "--dry-run"}},
		{program.ExitUsage, "no command is called \"harvets\"; did you mean harvest?", []string{"harvets"}},
		{program.ExitUsage, "is an address", []string{"recrawl", "http://a.example/b.html"}},
		{program.ExitUsage, "see `starter --help`", []string{"train", "links"}},
		{program.ExitUsage, "want a venue such as", []string{"harvest"}},
		{program.ExitUsage, "--site", []string{"harvest", "http://www.example.edu/"}},
		{program.ExitUsage, `no command is called "nosuch"`, []string{"help", "nosuch"}},
		{program.ExitUsage, "--sites: want one or more", []string{"harvest", "conf/x", "--years", "2001", "--sites", "0"}},
		{program.ExitUsage, "--json is of --format jsonl", []string{"export", "conf/x", "--format", "csv", "--json"}},
		{program.ExitUsage, `no command is called "imprt"`, []string{"holdings", "imprt", "x"}},
		{program.ExitUsage, `no command is called "foo"`, []string{"schedule", "foo"}},
		{program.ExitUsage, "want a venue", []string{"export"}},
		{program.ExitUnknown, "nothing is known of conf/nope", []string{"export", "conf/nope"}},
		{program.ExitUnknown, "no such harvest", []string{"report", "conf/nope"}},
		{program.ExitUnknown, "nothing is known of conf/nope", []string{"review", "conf/nope"}},
		{program.ExitUnknown, "no site nope.example", []string{"recrawl", "nope.example"}},
		{program.ExitUnknown, "nowhere.example", []string{"recrawl", "--site", "nowhere.example"}},
		{program.ExitUnknown, "starter harvest conf/none", []string{"recrawl", "conf/none"}},
		{program.ExitUnknown, "no such document", []string{"documents", "show", "abcdef"}},
		{program.ExitUsage, "want an hour or longer", []string{"schedule", "create", "due", "--every", "50s"}},
		{program.ExitUsage, "is no host", []string{"blacklist", "add", "--file", c.file("hosts.txt", "not a host\n")}},
		{program.ExitUsage, "is no host", []string{"blacklist", "add", "--file", c.file("words.txt", "word\n")}},
		{program.ExitUsage, "is no host", []string{"blacklist", "add", "www.example.edu/~ada"}},
		{program.ExitUsage, "is no host", []string{"blacklist", "add", "bücher.example"}},
		{program.ExitUsage, "no such file", []string{"holdings", "import", "/nowhere.csv"}},
		{program.ExitUsage, "those of a host are --host ada.example", []string{"documents", "list", "--venue", "site:http://ada.example/"}},
		{program.ExitUsage, "write --years 2003,2004", []string{"harvest", "conf/x", "--years", "2003", "2004"}},
		{program.ExitUsage, "write --years 2003", []string{"harvest", "conf/x", "2003"}},
		{program.ExitUsage, "the settings are written in YAML, not JSON", []string{"config", "init", "-", "--json"}},
		{program.ExitUsage, "table.xlsx: wrong usage: format not known", []string{"holdings", "import", c.file("table.xlsx", "PK")}},
		{program.ExitUsage, "titles.txt: format not known: want csv (with a column title), ", []string{"harvest", "--papers", c.file("titles.txt", "Titles of papers\n"), "--dry-run"}},
		{program.ExitUsage, "nowhere.bib: no such file", []string{"harvest", "--papers", "nowhere.bib", "--dry-run"}},
		{program.ExitUsage, "nowhere.bib: no such file", []string{"metadata", "show", "x", "--papers", "nowhere.bib"}},
		{program.ExitUsage, "--id: want one of issn", []string{"metadata", "show", "conf/x", "--id", "ISSN=1076-9757"}},
		{program.ExitUsage, "kinds are pdf, ", []string{"import", "http://a.example/x.warc", "--types", "exe"}},
		{program.ExitUsage, "--format", []string{"import", t.TempDir()}},
		{program.ExitUsage, "want years, such as", []string{"harvest", "conf/x", "--years", "2001,soon"}},
		{program.ExitUsage, "no years are given", []string{"harvest", "conf/x", "--years", ""}},
		{program.ExitUsage, "outside 1600-2999", []string{"harvest", "conf/x", "--years", "19900-1999"}},
		{program.ExitUsage, "want years, such as", []string{"documents", "list", "--years", "soon"}},
		{program.ExitUsage, "--scope: want one of prefix, host", []string{"schedule", "create", "site:https://www.example.edu/", "--scope", "all"}},
		{program.ExitUsage, "--years and --scope are of a harvest", []string{"schedule", "create", "due", "--years", "2001"}},
		{program.ExitUsage, "is no duration such as 500ms, 90s, 12h, 30d", []string{"retry", "conf/x", "--older-than", "50"}},
		{program.ExitUsage, "--kind: want one of pdf, postscript", []string{"documents", "list", "--kind", "foo"}},
		{program.ExitUsage, "--class: want one of paper", []string{"documents", "list", "--class", "papers"}},
		{program.ExitUsage, "--outcome: want one of ok", []string{"documents", "list", "--outcome", "fine"}},
		{program.ExitUsage, "--state: want one of new", []string{"documents", "retrieve", "--out", t.TempDir(), "--state", "good"}},
		{program.ExitUsage, "--ingestion: want one of new", []string{"documents", "list", "--ingestion", "old"}},
		{program.ExitUsage, "stats domains takes no --verdict", []string{"stats", "domains", "--verdict", "trap"}},
		{program.ExitUsage, "want a table", []string{"stats", "cities"}},
		{program.ExitUsage, "--from: 2026-03-01 is later than to, 2026-02-28", []string{"documents", "list", "--from", "2026-03-01", "--to", "2026-02-28"}},
		{program.ExitUsage, "--from, 2026-03-01, is not before", []string{"stats", "table2", "--from", "2026-03-01", "--to", "2026-03-01"}},
		{program.ExitUsage, "from: 2026-03-01 is later", []string{"jobs", "run", c.file("job.yaml", "job: retrieve\nto: 2026-01-01\nfrom: 2026-03-01\n")}},
		{program.ExitUsage, "csljson has no place for documents", []string{"export", "conf/x", "--format", "csljson", "--files", "--out", "x"}},
		{program.ExitUsage, "line 1, column 1: a list in one, such as CSL-JSON", []string{"holdings", "import", c.file("csl.json", "[{\"title\": \"A\"}]")}},
		{program.ExitUsage, "line 2, column 1: not UTF-8, perhaps Latin-1", []string{"holdings", "import", c.file("latin.csv", "title\nG\xf6del\n")}},
		{program.ExitUsage, "want hosts", []string{"blacklist", "remove"}},
		{program.ExitUsage, "want a shell", []string{"completion", "csh"}},
		{program.ExitUnknown, "nope", []string{"pause", "conf/nope"}},
		{program.ExitUnknown, "no site nope.example", []string{"retry", "site/nope.example"}},
		{program.ExitUsage, "--verdict", []string{"stats", "sites", "--verdict", "foo"}},
		{program.ExitUsage, "--format", []string{"export", "conf/x", "--format", "foo"}},
		{program.ExitUsage, "--format", []string{"documents", "retrieve", "--out", t.TempDir(), "--format", "foo"}},
		{program.ExitUsage, `contact "foo"`, []string{"recrawl", "conf/x", "--contact", "foo"}},
		{program.ExitUsage, "ca-file: open /none", []string{"recrawl", "conf/x", "--ca-file", "/none"}},
		{program.ExitUsage, "brave-key is needed", []string{"recrawl", "conf/x", "--search", "brave"}},
		{program.ExitUsage, "ftp://x", []string{"status", "--repository-url", "ftp://x"}},
		{program.ExitUsage, "mail-from", []string{"notify", "--notify-smtp-file", c.file("m", "smtp://a.example")}},
		{program.ExitUsage, "70000 is no port", []string{"dev", "--ui-port", "70000"}},
		{program.ExitUsage, "the port is taken: 127.0.0.1:" + taken, []string{"dev", "--no-worker", "--temporal-port", taken}},
	} {
		said := c.wrong(m.code, m.args...)
		require.Contains(t, said, m.says, "%v", m.args)
		for _, leak := range []string{"wrong usage: wrong usage", "refuses the request: ", "open nowhere", "strconv", "%!", "is unavailable: DBLP is"} {
			require.NotContains(t, said, leak, "%v", m.args)
		}
	}
	for _, not := range []string{"venues search", "holdings forget", "holdings list extra", "sites list a b c", "recrawl a b", "recrawl", "recrawl conf/x --due",
		"doctor extra", "import gopher://x/y", "import /none/such", "import s3://", "import s3:///crawls"} {
		c.wrong(program.ExitUsage, strings.Fields(not)...)
	}
	require.Regexp(t, `^starter \S+`, c.ok("--version"))
	require.Contains(t, c.ok("help", "holdings", "import"), "starter holdings import library.bib")
	require.Contains(t, c.ok("documents", "list", "--kind", "epub"), "0 documents")
	require.Contains(t, c.ok("review", "conf/x", "--list"), "0 matches")
	require.Equal(t, "[]\n", c.ok("review", "conf/x", "--list", "--json"))
	for _, host := range []string{"ada.example", "ADA.example", "--site Ada.Example"} {
		said := c.wrong(program.ExitUnavailable, strings.Fields("recrawl --temporal-address 127.0.0.1:1 "+host)...)
		require.Contains(t, said, "127.0.0.1:1", "a host is a site")
	}
}

func TestMain(m *testing.M) {
	document.MaybeRunChild()
	os.Exit(devtest.Main(m))
}

func newRoot(out, errw io.Writer) *cobra.Command {
	return newRootCommand(out, errw, document.Child{}).Root
}
