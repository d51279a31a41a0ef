package document

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryWordIsListed: what Kinds, Classes and Outcomes list are all constants of
// their types.
func TestEveryWordIsListed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	there := map[string][]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) == 0 {
				return true
			}
			typ, isNamed := spec.Type.(*ast.Ident)
			lit, isText := spec.Values[0].(*ast.BasicLit)
			switch {
			case isNamed && isText && lit.Kind == token.STRING:
				word, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)
				there[typ.Name] = append(there[typ.Name], word)
			case isNamed && typ.Name == "Outcome": // a noun that the record knows, too
				there["nouns"] = append(there["nouns"], spec.Names[0].Name)
			}
			return true
		})
	}
	require.ElementsMatch(t, there["Kind"], Kinds())
	require.ElementsMatch(t, there["Class"], Classes())
	require.ElementsMatch(t, []string{"ImageOnly", "Garbled", "OtherDiscipline", "Stalled"}, there["nouns"])
	require.ElementsMatch(t, append(there["Outcome"], string(ImageOnly), string(Garbled), string(OtherDiscipline), string(Stalled)), Outcomes())
}
