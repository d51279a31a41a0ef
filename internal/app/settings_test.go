package app_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/config"
	"gleaner/internal/crawl"
	"gleaner/internal/document"
	"gleaner/internal/rank"
)

// readers are the functions by which code reads a setting, with its name as the
// first or second argument.
var readers = []string{"Text", "Duration", "Number", "Float", "Switch", "fromFile", "given"}

// TestEverySettingIsRead: one that no code reads would be set in vain, and one
// that is read and does not exist would panic.
func TestEverySettingIsRead(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	for _, folder := range []string{".", "../../starter", "../../worker", "../../worker/pool", "../../activities", "../devstack"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && slices.Contains(readers, called(call)) {
					for _, arg := range call.Args {
						if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
							key, _ := strconv.Unquote(lit.Value)
							read[key] = true
						}
					}
				}
				return true
			})
		}
	}
	for _, s := range config.Settings {
		require.True(t, read[s.Key], "no code reads %s", s.Key)
	}
}

func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok && (x.Name == "slog" || x.Name == "fl") {
			return "" // attributes of a log line, flags
		}
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// TestChoicesAreThoseOfTheCode: package config stands below what it names.
func TestChoicesAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	of := func(key string) []string {
		s, ok := config.Find(key)
		require.True(t, ok)
		return s.Choices
	}
	require.ElementsMatch(t, rank.Names(), of("strategy"))
	require.ElementsMatch(t, []string{string(document.Conservative), string(document.Balanced), string(document.Liberal), "off"}, of("filter"))
	require.Contains(t, of("crawl-policy"), crawl.PolicyWhitelist)
	require.Contains(t, of("crawl-policy"), crawl.PolicyHybrid)
}
