package housetest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unbroken are the tests of promises that no patch of `make mutants` breaks, and why.
var unbroken = map[string]string{
	"pool.TestHostileWeb": "it takes minutes, and all that it rests on is promised, and broken, by itself",
}

// TestEveryPromiseHasItsTest: docs/security.md names a test for each promise, and a patch of
// `make mutants` makes it fail.
func TestEveryPromiseHasItsTest(t *testing.T) {
	t.Parallel()
	folders := map[string]string{}
	for _, p := range packages(t) {
		folders[filepath.Base(p.ImportPath)] = p.Dir
	}
	broken := patchedTests(t)
	promises := regexp.MustCompile(`(?m)^\| [A-Z].*\|$`).FindAllString(content(t, "docs/security.md"), -1)
	require.Greater(t, len(promises), 20)
	for _, promise := range promises {
		named := regexp.MustCompile("`(\\w+)\\.((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(promise, -1)
		assert.NotEmpty(t, named, "no test holds it %v", promise)
		kept := true
		for _, n := range named {
			name := n[1] + "." + n[2]
			kept = kept && !broken[name] && unbroken[name] == ""
			assert.True(t, hasTest(t, folders[n[1]], n[2]), "there is no %v", name)
		}
		assert.False(t, kept, "no patch breaks it %v", promise)
	}
	for name := range unbroken {
		assert.False(t, broken[name], "a patch breaks")
	}
}

// patchedTests are the tests that patches name, by package and name.
func patchedTests(t *testing.T) map[string]bool {
	tables, err := filepath.Glob(filepath.Join(root(t), "internal", "lab", "housetest", "cmd", "mutants", "*.txt"))
	require.NoError(t, err)
	all := map[string]bool{}
	for _, table := range tables {
		raw, err := os.ReadFile(table)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^test (\S+) (\w+)$`).FindAllStringSubmatch(string(raw), -1) {
			assert.True(t, hasTest(t, filepath.Join(root(t), m[1]), m[2]), "there is no %s.%s", m[1], m[2])
			all[filepath.Base(m[1])+"."+m[2]] = true
		}
	}
	return all
}

func hasTest(t *testing.T, dir, name string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		if regexp.MustCompile(`(?m)^func ` + name + `\(`).Match(raw) {
			return true
		}
	}
	return false
}
