package housetest

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/service/config"
)

const configPath = module + "/internal/service/config"

// TestEverySettingIsRead: one that no code reads would be set in vain. A field
// counts as read where the program, outside package config, takes its value; to
// set it is not to read it.
func TestEverySettingIsRead(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	exports, set := exportData(t), token.NewFileSet()
	from := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	checked := 0
	for _, p := range packages(t) {
		if p.ImportPath != configPath && slices.Contains(p.Imports, configPath) {
			fieldsRead(t, p, set, from, read)
			checked++
		}
	}
	require.Greater(t, checked, 5)
	var all []string
	for _, of := range []any{config.Config{}, config.Policy{}} {
		all = append(all, leaves(reflect.TypeOf(of))...)
	}
	require.Len(t, all, len(config.Settings())+len(config.PolicySettings()))
	for _, f := range all {
		if f != "Process.Policy" { // the name of a file that package config reads itself
			require.True(t, read[f], "no code reads %s", f)
		}
	}
}

// leaves are the fields of the structs within a struct, as Struct.Field.
func leaves(t reflect.Type) (all []string) {
	for i := range t.NumField() {
		section := t.Field(i)
		if section.Tag.Get("koanf") == "-" || !section.IsExported() {
			continue
		}
		for j := range section.Type.NumField() {
			all = append(all, section.Type.Name()+"."+section.Type.Field(j).Name)
		}
	}
	return all
}

// exportData is where the compiler left what it knows of each package.
func exportData(t *testing.T) map[string]string {
	all, err := goList[struct{ ImportPath, Export string }]("-export", "-deps", "-json=ImportPath,Export")
	require.NoError(t, err)
	files := map[string]string{}
	for _, p := range all {
		files[p.ImportPath] = p.Export
	}
	return files
}

// fieldsRead notes which fields of package config's structs a package reads.
func fieldsRead(t *testing.T, p pkg, set *token.FileSet, from types.Importer, read map[string]bool) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, 0)
		require.NoError(t, err)
		files = append(files, f)
	}
	info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: from}
	_, err := conf.Check(p.ImportPath, set, files, info)
	require.NoError(t, err)
	for _, f := range files {
		written := map[ast.Expr]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					written[to] = true
				}
			case *ast.SelectorExpr:
				if s := info.Selections[n]; s != nil && s.Kind() == types.FieldVal && !written[n] {
					if owner, ok := types.Unalias(pointed(s.Recv())).(*types.Named); ok && owner.Obj().Pkg() != nil && owner.Obj().Pkg().Path() == configPath {
						read[owner.Obj().Name()+"."+s.Obj().Name()] = true
					}
				}
			}
			return true
		})
	}
}

func pointed(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// TestOneSpellingOfDefaults: what fills in what was left empty is called
// withDefaults, or WithDefaults where other packages call it; a function that
// returns what holds by default is called Defaults.
func TestOneSpellingOfDefaults(t *testing.T) {
	t.Parallel()
	other := regexp.MustCompile(`^(?i:complete|(set|fill|apply|use|add)?defaults?|fill|default(config|options|settings|policy))$`)
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
			require.NoError(t, err)
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Type.Params.NumFields() > 0 || fn.Type.Results.NumFields() == 0 || !other.MatchString(fn.Name.Name) {
					continue
				}
				require.Nil(t, fn.Recv, "%v %v", p.name(), name)
				assert.Equal(t, "Defaults", fn.Name.Name, "%v %v", p.name(), name)
			}
		}
	}
}
