package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/realdata"
)

const output = `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: poppler's pdftotext is not installed\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB","Elapsed":2.5}
not a line of JSON
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
{"Action":"output","Package":"q","Test":"TestStopped","Output":"waits\n"}
`

// TestCount: what is skipped is counted, and fails where its reason is not listed; what
// failed, or never ended since its process died, is shown, and with -logs what a test that
// asked for real data printed.
func TestCount(t *testing.T) {
	t.Parallel()
	const measured = `{"Action":"attr","Package":"p","Test":"TestA/farm","Key":"` + realdata.Attribute + `"}
{"Action":"output","Package":"p","Test":"TestA","Output":"98.1 % right\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"anything\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
`
	shown := "not a line of JSON\nok  \tp\t0.1s\nq.TestStopped did not end:\nwaits\nskipped  p.TestA  "
	for name, c := range map[string]struct {
		in           string
		logs         bool
		fine, failed bool
		want         string
	}{
		"skipped":   {output, false, true, false, shown + "poppler's pdftotext is not installed\n1 tests skipped\n"},
		"unlisted":  {strings.ReplaceAll(output, "poppler's pdftotext is not installed", "flaky on Mondays"), false, false, false, shown + "NOT ALLOWED: flaky on Mondays\n1 tests skipped\n"},
		"failed":    {`{"Action":"output","Package":"p","Test":"TestA","Output":"it broke\n"}` + "\n" + `{"Action":"fail","Package":"p","Test":"TestA"}`, false, true, true, "it broke\n0 tests skipped\n"},
		"measured":  {measured, true, true, false, "98.1 % right\n0 tests skipped\n"},
		"unwatched": {measured, false, true, false, "0 tests skipped\n"},
		"died": {`{"Action":"output","Package":"p","Test":"TestA","Output":"panic: over\n"}
{"Action":"output","Package":"q","Test":"TestB","Output":"goes on\n"}
{"Action":"fail","Package":"p"}
{"Action":"pass","Package":"q","Test":"TestB"}
`, false, true, true, "p.TestA did not end:\npanic: over\n0 tests skipped\n"},
	} {
		var out strings.Builder
		got, err := count(strings.NewReader(c.in), &out, c.logs)
		require.NoError(t, err, name)
		require.Equal(t, c.failed, got.failed, name)
		require.Equal(t, c.fine, report(&out, got.skips), name)
		require.Equal(t, c.want, out.String(), name)
	}
}

// TestTheSlowestAreNamed, and the command's status counts.
func TestTheSlowestAreNamed(t *testing.T) {
	t.Parallel()
	for status, fine := range map[string]bool{"0": true, "1": false} {
		var out strings.Builder
		got, err := run(&out, []string{"sh", "-c", "cat <<'END'\n" + output + "END\nexit " + status}, false)
		require.NoError(t, err)
		require.Equal(t, fine, got)
		require.Contains(t, out.String(), "the slowest tests:\n     2.5 s  p TestB\n     0.0 s  p TestA\nthe slowest packages:\n")
		require.Contains(t, out.String(), " processor seconds in ")
	}
}

// Every reason that the project's tests give is one of those allowed: what would be found
// at the end of the whole run is found here.
func TestReasonsAreAllowed(t *testing.T) {
	t.Parallel()
	reasons := 0
	require.NoError(t, filepath.WalkDir("../../../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if reason, ok := skips(n); ok {
				reasons++
				require.True(t, isAllowed(reason), "%s skips for %q", path, reason)
			}
			return true
		})
		return nil
	}))
	require.Greater(t, reasons, 10)
}

// skips is the reason, or its beginning, that a call of Skip or Skipf gives.
func skips(n ast.Node) (string, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return "", false
	}
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || fn.Sel.Name != "Skip" && fn.Sel.Name != "Skipf" {
		return "", false
	}
	text, ok := call.Args[0].(*ast.BasicLit)
	if !ok || text.Kind != token.STRING {
		return "", false
	}
	reason, err := strconv.Unquote(text.Value)
	return reason, err == nil
}
