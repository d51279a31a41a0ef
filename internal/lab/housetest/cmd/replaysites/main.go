// Replaysites puts a step into one place of the workflows at a time, before a command that
// they give to Temporal, and replays the recorded histories. It fails where the replay
// passes: no history has gone that way, so an upgrade could break workflows under way there
// and nobody would see it before.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// stepVariable numbers the place that has a step; 0 is none.
const stepVariable = "GLEANER_REPLAY_STEP"

// step is compiled into the package: what each place calls.
//
//go:embed step.go.txt
var step []byte

// commands are the functions whose first argument is a context and that give a command.
var commands = map[string]bool{
	"workflow.ExecuteActivity": true, "workflow.ExecuteChildWorkflow": true, "workflow.SignalExternalWorkflow": true,
	"workflow.UpsertTypedSearchAttributes": true, "workflow.UpsertMemo": true,
	"workflow.NewContinueAsNewError": true, "workflow.Sleep": true, "waitFor": true,
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "replaysites:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "replaysites-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	places, err := instrument("workflows", dir)
	if err != nil {
		return err
	}
	program := filepath.Join(dir, "workflows.test")
	overlay := filepath.Join(dir, "overlay.json")
	build := exec.Command("go", "test", "-overlay", overlay, "-c", "-o", program, "./workflows")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if out, err := replay(program, 0); err != nil {
		return fmt.Errorf("without a step: %w: %s", err, out)
	}
	var passed []string
	for i, place := range places {
		if _, err := replay(program, i+1); err == nil {
			passed = append(passed, place)
		}
	}
	fmt.Printf("%d places, a step is noticed in %d\n", len(places), len(places)-len(passed))
	if len(passed) > 0 {
		return fmt.Errorf("no history goes by\n%s", strings.Join(passed, "\n"))
	}
	return nil
}

// instrument writes copies of the package's files that call stepBefore, and the overlay that
// puts them in place. It returns the places by number, less one.
func instrument(pkg, dir string) (places []string, err error) {
	files, err := filepath.Glob(filepath.Join(pkg, "*.go"))
	if err != nil {
		return nil, err
	}
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	replace := map[string]string{}
	write := func(name string, text []byte) error {
		copied := filepath.Join(dir, name)
		replace[filepath.Join(root, pkg, name)] = copied
		return os.WriteFile(copied, text, 0o600)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		places = append(places, instrumented(fset, tree, len(places))...)
		var b bytes.Buffer
		if err := format.Node(&b, fset, tree); err != nil {
			return nil, err
		}
		if err := write(filepath.Base(file), b.Bytes()); err != nil {
			return nil, err
		}
	}
	if err := write("step_before.go", step); err != nil {
		return nil, err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	return places, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600)
}

// instrumented has the commands of a file call stepBefore with the number of the place, of
// which there are some before it.
func instrumented(fset *token.FileSet, tree *ast.File, before int) (places []string) {
	for _, decl := range tree.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Name.Name == "waitFor" {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && commands[nameOf(call.Fun)] {
				places = append(places, fmt.Sprintf("%s in %s", fset.Position(call.Pos()), f.Name.Name))
				number := &ast.BasicLit{Kind: token.INT, Value: strconv.Itoa(before + len(places))}
				call.Args[0] = &ast.CallExpr{Fun: ast.NewIdent("stepBefore"), Args: []ast.Expr{call.Args[0], number}}
			}
			return true
		})
	}
	return places
}

func nameOf(f ast.Expr) string {
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
	}
	return ""
}

// replay replays all histories with a step in one place.
func replay(program string, place int) ([]byte, error) {
	cmd := exec.Command(program, "-test.run", "^TestReplay$")
	cmd.Dir, cmd.Env = "workflows", append(os.Environ(), stepVariable+"="+strconv.Itoa(place))
	return cmd.CombinedOutput()
}
