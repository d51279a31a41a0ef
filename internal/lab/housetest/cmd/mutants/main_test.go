package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../../../../.."

// TestPatchesApply: the text that each patch replaces stands once in its file. That the test fails over the patch is what `make mutants` shows.
func TestPatchesApply(t *testing.T) {
	t.Parallel()
	list, err := mutants()
	require.NoError(t, err)
	require.NotEmpty(t, list)
	for _, m := range list {
		_, err := m.apply(root)
		require.NoError(t, err)
	}
}

// TestAFailingTestNoticesNothing: a patch counts as noticed only by a test that passes
// without it.
func TestAFailingTestNoticesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module p\n",
		"p.go":   "package p\n\nvar right = true\n",
		"p_test.go": `package p

import "testing"

func TestA(t *testing.T) { t.Fail() }
`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	patch := mutant{name: "a", pkg: ".", test: "TestA", file: "p.go", before: "true", after: "false"}
	survivors, err := all(dir, []mutant{patch}, regexp.MustCompile(""))
	require.NoError(t, err)
	require.Equal(t, 1, survivors)
}
