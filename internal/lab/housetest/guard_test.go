package housetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mayStart are the packages that start goroutines by themselves, with the reason.
var mayStart = map[string]string{
	"internal/guard":                     "it recovers what they panic over",
	"internal/devstack":                  "it runs servers for a person or a test, and reads nothing from the web",
	"internal/service/terminal":          "it draws what a command did, in no worker",
	"internal/service/notify/notifytest": "a mail server for tests",
}

// TestNoGoroutineEndsTheProcess: outside of guard nobody writes a go statement or uses
// errgroup, whose goroutines end the process where they panic.
func TestNoGoroutineEndsTheProcess(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		name := p.name()
		program := strings.HasPrefix(name, "internal/") || name == "activities" || strings.HasPrefix(name, "worker") || name == "workflows"
		if _, may := mayStart[name]; may || !program || strings.HasPrefix(name, "internal/lab") || strings.HasPrefix(name, "internal/devstack/") {
			continue
		}
		require.NotContains(t, p.Imports, "golang.org/x/sync/errgroup", "%s: use guard.Group", name)
		for _, f := range p.GoFiles {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				if g, is := n.(*ast.GoStmt); is {
					t.Errorf("%s: use guard.Go", fset.Position(g.Go))
				}
				if startsUnguarded(n) {
					t.Errorf("%s: use guard.Group", fset.Position(n.Pos()))
				}
				return true
			})
		}
	}
}

// startsUnguarded reports whether a node is a call like that of sync.WaitGroup.Go, whose
// function returns nothing, so that its panic ends the process.
func startsUnguarded(n ast.Node) bool {
	call, is := n.(*ast.CallExpr)
	if !is || len(call.Args) != 1 {
		return false
	}
	of, is := call.Fun.(*ast.SelectorExpr)
	f, literal := call.Args[0].(*ast.FuncLit)
	if !is || !literal || of.Sel.Name != "Go" || f.Type.Results != nil {
		return false
	}
	from, is := of.X.(*ast.Ident)
	return !is || from.Name != "guard"
}
