package housetest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	maxColumns       = 120 // a tab counts as four
	maxMethods       = 40
	maxParameters    = 7
	maxFileLines     = 400
	maxFunctionLines = 60
	// Nine functions in ten are shorter than this.
	usualFunctionLines = 45
)

// unfinished are the words that somebody leaves who means to come back.
var unfinished = regexp.MustCompile(`\b(TODO|FIXME|HACK)\b|(?i)\b(not (yet )?implemented|unimplemented)\b`)

// ceiling is a row of the table of sizes in docs/architecture.md.
var ceiling = regexp.MustCompile(`(?m)^\| ([a-z][^|]*[^| ]) \| ([\d,]+) \|$`)

// TestTotals holds the whole to the table of sizes in docs/architecture.md, and each file
// and function of the program to its own. A ceiling may be lowered, not raised.
func TestTotals(t *testing.T) {
	t.Parallel()
	is := count(t)
	_, table, found := strings.Cut(content(t, "docs/architecture.md"), "\n## Sizes\n")
	require.True(t, found)
	rows := ceiling.FindAllStringSubmatch(table, -1)
	for _, row := range rows {
		most, err := strconv.Atoi(strings.ReplaceAll(row[2], ",", ""))
		require.NoError(t, err)
		n, known := is[row[1]]
		assert.True(t, known, row[1])
		t.Logf("%s: %d of %d", row[1], n, most)
		assert.LessOrEqual(t, n, most, row[1])
		delete(is, row[1])
	}
	for what, n := range is {
		t.Errorf("%s: %d, and the table of sizes in docs/architecture.md has no such row", what, n)
	}
}

// sizes counts the files of the repository.
type sizes struct {
	is       map[string]int
	exported map[string][]string        // package folder → names
	used     map[string]map[string]bool // name after a dot → folders of the packages that write it
	lines    map[string]int             // folder → lines of its files that are no tests
	programs map[string]bool            // folders of package main, and what programs import

	functions []int // lines of each of the program
}

// place adds the lines of each folder to the program, to the laboratory, or to the tests
// where only tests import it.
func (s *sizes) place() {
	for dir, n := range s.lines {
		switch {
		case !s.programs[dir]:
			s.is["lines of tests"] += n
		case strings.HasPrefix(dir, "internal/lab/"):
			s.is["lines of the laboratory"] += n
		default:
			s.is["lines of the program"] += n
		}
	}
}

// count measures every row of the table of sizes. Of methods it gives the types that
// have too many.
func count(t *testing.T) map[string]int {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "*.go", "*.md")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Skip("no git repository: ", err)
	}
	tooMany := fmt.Sprintf("functions of more than %d parameters", maxParameters)
	s := &sizes{
		is:       map[string]int{tooMany: 0},
		exported: map[string][]string{},
		used:     map[string]map[string]bool{},
		lines:    map[string]int{},
		programs: map[string]bool{},
	}
	methods := map[string]int{}
	for _, name := range strings.Fields(string(out)) {
		raw, err := os.ReadFile(filepath.Join(root(t), name))
		if os.IsNotExist(err) { // deleted, and not yet committed
			continue
		}
		require.NoError(t, err)
		switch text := string(raw); {
		case strings.HasSuffix(name, ".md"):
			s.is["words of documentation"] += len(strings.Fields(text))
		case strings.HasSuffix(name, "_test.go"):
			s.is["lines of tests"] += strings.Count(text, "\n")
			s.is["lines of tests over 120 columns"] += wide(text)
			s.names(t, name, raw, nil)
		default:
			s.lines[filepath.Dir(name)] += strings.Count(text, "\n")
			s.is["lines of the program over 120 columns"] += wide(text)
			s.names(t, name, raw, methods)
		}
	}
	s.place()
	for of, n := range methods {
		if n > maxMethods {
			s.is["methods of `"+of+"`"] = n
		}
	}
	s.is["exported names that no other package mentions"] = s.private()
	slices.Sort(s.functions)
	assert.LessOrEqual(t, s.functions[len(s.functions)*9/10], usualFunctionLines)
	return s.is
}

func wide(text string) (n int) {
	for line := range strings.Lines(strings.ReplaceAll(text, "\t", "    ")) {
		if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > maxColumns {
			n++
		}
	}
	return n
}

// names counts the declarations of a file; methods is nil for a test.
func (s *sizes) names(t *testing.T, name string, raw []byte, methods map[string]int) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, raw, parser.ParseComments)
	require.NoError(t, err)
	dir := filepath.Dir(name)
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, is := n.(*ast.SelectorExpr); is {
			in := dir
			if strings.HasSuffix(file.Name.Name, "_test") {
				in += "_test"
			}
			if s.used[sel.Sel.Name] == nil {
				s.used[sel.Sel.Name] = map[string]bool{}
			}
			s.used[sel.Sel.Name][in] = true
		}
		return true
	})
	if methods == nil {
		return
	}
	if !ast.IsGenerated(file) {
		assert.LessOrEqual(t, bytes.Count(raw, []byte("\n")), maxFileLines, name)
		assert.Empty(t, unfinished.FindAll(raw, -1), name)
	}
	s.programs[dir] = s.programs[dir] || file.Name.Name == "main"
	for _, i := range file.Imports {
		s.programs[strings.TrimPrefix(strings.Trim(i.Path.Value, `"`), module+"/")] = true
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			length := set.Position(d.End()).Line - set.Position(d.Pos()).Line + 1
			s.functions = append(s.functions, length)
			assert.True(t, length <= maxFunctionLines || ast.IsGenerated(file), "%s: %s has %d lines", name, d.Name.Name, length)
			assert.False(t, d.Recv == nil && d.Name.Name == "init", name)
			if d.Type.Params.NumFields() > maxParameters {
				s.is[fmt.Sprintf("functions of more than %d parameters", maxParameters)]++
			}
			if d.Recv != nil {
				methods[filepath.Base(dir)+"."+receiver(d.Recv.List[0].Type)]++
			} else {
				s.export(dir, file.Name.Name, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch x := spec.(type) {
				case *ast.TypeSpec:
					s.export(dir, file.Name.Name, x.Name)
				case *ast.ValueSpec:
					for _, n := range x.Names {
						s.export(dir, file.Name.Name, n)
					}
				}
			}
		}
	}
}

func (s *sizes) export(dir, pkg string, name *ast.Ident) {
	if name.IsExported() && pkg != "main" {
		s.exported[dir] = append(s.exported[dir], name.Name)
	}
}

// private counts the exported names that are written after a dot in no other package.
func (s *sizes) private() (n int) {
	for dir, names := range s.exported {
		for _, name := range names {
			others := len(s.used[name])
			if s.used[name][dir] {
				others--
			}
			if others == 0 {
				n++
			}
		}
	}
	return n
}

// receiver is the name of a method's type, without a star and type parameters.
func receiver(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return "?"
}
