package main

import (
	"go/ast"
	"go/parser"
	"go/token"
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
// flags, or tests that there are, which print, and get the data that they need.
func TestMeasuringLines(t *testing.T) {
	t.Parallel()
	packages := map[string]map[string]*function{}
	all := commands(t)
	require.Greater(t, len(all), 40)
	for _, c := range all {
		args := shellWord.FindAllString(c.line, -1)
		if args[0] == "lab" {
			checkLab(t, c, args[1:])
			continue
		}
		for i, a := range args {
			if strings.HasPrefix(a, "./") && packages[a] == nil {
				packages[a] = functions(t, filepath.Join(checkout, a))
			}
			if a == "-run" || a == "-bench" {
				in := packages[args[slices.Index(args, "test")+1]]
				checkTests(t, c, in, args, i)
			}
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
		require.Regexp(t, "`(lab|make|(GLEANER_SHARED=DIR )?go test) |^needs data; no command is", how)
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

// checkTests looks at the tests that the flag args[at] names.
func checkTests(t *testing.T, c command, in map[string]*function, args []string, at int) {
	tests := regexp.MustCompile(map[string]string{"-run": "^(Test|Fuzz)", "-bench": "^Benchmark"}[args[at]])
	for word := range strings.SplitSeq(strings.Trim(args[at+1], "'"), "|") {
		matches, found := regexp.MustCompile(word), false
		for name, f := range in {
			if !tests.MatchString(name) || !matches.MatchString(name) {
				continue
			}
			found = true
			prints, data := f.reaches(in, map[*function]bool{})
			assert.True(t, !prints || slices.Contains(args, "-v"), "%s prints, which wants -v: %s", name, c.where)
			assert.True(t, !data || args[0] == realdata.Variable+"=DIR", "%s needs data: %s", name, c.where)
		}
		assert.True(t, found, "no test is called %s: %s", word, c.where)
	}
}

// function is one of a package's tests, or of what they call.
type function struct {
	names        []string // in its body
	prints, data bool
}

// functions reads the tests of a package.
func functions(t *testing.T, dir string) map[string]*function {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files, dir)
	all := map[string]*function{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				f := &function{}
				ast.Inspect(fn.Body, f.note)
				all[fn.Name.Name] = f
			}
		}
	}
	return all
}

func (f *function) note(n ast.Node) bool {
	if id, ok := n.(*ast.Ident); ok {
		f.names = append(f.names, id.Name)
		f.prints = f.prints || id.Name == "Log" || id.Name == "Logf"
		f.data = f.data || id.Name == "realdata"
	}
	return true
}

func (f *function) reaches(in map[string]*function, seen map[*function]bool) (prints, data bool) {
	prints, data, seen[f] = f.prints, f.data, true
	for _, name := range f.names {
		if g := in[name]; g != nil && !seen[g] {
			p, d := g.reaches(in, seen)
			prints, data = prints || p, data || d
		}
	}
	return prints, data
}
