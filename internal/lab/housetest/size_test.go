package housetest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	maxFileLines     = 400
	maxFunctionLines = 60
	// Nine functions in ten are shorter than this.
	usualFunctionLines = 45
)

// unfinished are the words that somebody leaves who means to come back.
var unfinished = regexp.MustCompile(`\b(TODO|FIXME|HACK)\b|(?i)\b(not (yet )?implemented|unimplemented)\b`)

// TestSizes looks at every file of the program; tests are let off.
func TestSizes(t *testing.T) {
	t.Parallel()
	base := root(t)
	var functions, files []int
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			short, err := filepath.Rel(base, path)
			require.NoError(t, err)
			lines, lengths := measure(t, path, short)
			files = append(files, lines)
			functions = append(functions, lengths...)
		}
	}
	slices.Sort(functions)
	slices.Sort(files)
	ninth := functions[len(functions)*9/10]
	t.Logf("%d files, half of them under %d lines; %d functions, half under %d lines, nine in ten under %d",
		len(files), files[len(files)/2], len(functions), functions[len(functions)/2], ninth)
	require.LessOrEqual(t, ninth, usualFunctionLines)
}

// measure returns the lines of a file and of each function in it, and reports
// what is too long or unfinished.
func measure(t *testing.T, path, short string) (lines int, functions []int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, raw, parser.ParseComments)
	require.NoError(t, err)
	lines = bytes.Count(raw, []byte("\n"))
	if ast.IsGenerated(file) {
		return lines, nil
	}
	assert.LessOrEqual(t, lines, maxFileLines, short)
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		n := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1
		functions = append(functions, n)
		assert.LessOrEqual(t, n, maxFunctionLines, "%v %v", short, f.Name.Name)
		assert.False(t, f.Recv == nil && f.Name.Name == "init", short)
	}
	for _, m := range unfinished.FindAll(raw, -1) {
		t.Errorf("%s says %q", short, m)
	}
	return lines, functions
}
