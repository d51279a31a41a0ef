package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/document"
	"gleaner/internal/lab/realdata"
)

const checkout = "../../../.."

// command is a line by which a page measures.
type command struct {
	where, line string
	whole       bool // to be typed as it is
}

var (
	measures  = regexp.MustCompile(`^(?:` + realdata.Variable + `=DIR )?(?:lab|go test) `)
	remark    = regexp.MustCompile(`\s+#.*$`)
	inText    = regexp.MustCompile("`([^`]+)`")
	shellWord = regexp.MustCompile(`'[^']*'|\S+`)
	brackets  = strings.NewReplacer("[", "", "]", "")
)

// commands are the measuring lines of the pages: in blocks, indented, and in the text.
func commands(t *testing.T) (all []command) {
	pages, err := filepath.Glob(filepath.Join(checkout, "docs", "*.md"))
	require.NoError(t, err)
	for _, page := range append(pages, checkout+"/README.md", checkout+"/CONTRIBUTING.md") {
		raw, err := os.ReadFile(page)
		require.NoError(t, err)
		where := filepath.Base(page)
		add := func(line string, whole bool) {
			line, _, _ = strings.Cut(brackets.Replace(remark.ReplaceAllString(line, "")), " | ")
			if measures.MatchString(line) {
				all = append(all, command{where + ": " + line, line, whole})
			}
		}
		for i, part := range strings.Split(string(raw), "```") {
			for line := range strings.Lines(part) {
				if indented, ok := strings.CutPrefix(line, "    "); ok || i%2 == 1 {
					add(strings.TrimSpace(indented), true)
				}
			}
			for _, m := range inText.FindAllStringSubmatch(part, -1) {
				add(strings.Join(strings.Fields(m[1]), " "), where == "measurements.md" || strings.Contains(m[1], " -"))
			}
		}
	}
	return all
}

// TestMeasuringLines: what the pages give as the way to a figure is a command with its
// flags, or tests that there are.
func TestMeasuringLines(t *testing.T) {
	t.Parallel()
	all := commands(t)
	require.Greater(t, len(all), 25)
	for _, c := range all {
		args := shellWord.FindAllString(c.line, -1)
		if args[0] == "lab" {
			checkLab(t, c, args[1:])
		} else if i := slices.Index(args, "-run"); i > 0 {
			checkTests(t, c, args[slices.Index(args, "test")+1], args[i+1])
		}
	}
}

// TestEveryFigureHasItsWay: a row of docs/measurements.md names the command that prints
// it, or says that none does, and the data that it needs.
func TestEveryFigureHasItsWay(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(checkout, "docs", "measurements.md"))
	require.NoError(t, err)
	rows := strings.Split(string(raw), "\n| ")[2:]
	require.Greater(t, len(rows), 10)
	for _, row := range rows {
		cells := strings.Split(row, " | ")
		how := cells[len(cells)-1]
		require.Regexp(t, "`(lab|make|(GLEANER_SHARED=DIR )?go test) |^(needs data; )?no command is", how)
		require.True(t, !strings.Contains(how, "DIR") || strings.HasPrefix(how, "needs data: "), row)
	}
}

func checkLab(t *testing.T, c command, args []string) {
	cmd, rest, err := newRootCommand(io.Discard, io.Discard, document.Child{}).Root.Find(args)
	assert.NoError(t, err, c.where)
	assert.NoError(t, cmd.ParseFlags(rest), c.where)
	assert.NoError(t, cobra.NoArgs(cmd, cmd.Flags().Args()), c.where)
	if c.whole {
		assert.NoError(t, cmd.ValidateRequiredFlags(), c.where)
		assert.True(t, cmd.Runnable(), c.where)
	}
}

var testName = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)

// checkTests looks for the tests of a package that are named by -run.
func checkTests(t *testing.T, c command, dir, names string) {
	files, err := filepath.Glob(filepath.Join(checkout, dir, "*_test.go"))
	require.NoError(t, err)
	var tests []string
	for _, name := range files {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range testName.FindAllStringSubmatch(string(raw), -1) {
			tests = append(tests, m[1])
		}
	}
	for word := range strings.SplitSeq(strings.Trim(names, "'"), "|") {
		assert.True(t, slices.ContainsFunc(tests, regexp.MustCompile(word).MatchString), "no test is called %s: %s", word, c.where)
	}
}
