package housetest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryPromiseHasItsTest: docs/security.md names a test for each promise.
func TestEveryPromiseHasItsTest(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(root(t), "docs", "security.md"))
	require.NoError(t, err)
	folders := map[string]string{}
	for _, p := range packages(t) {
		folders[filepath.Base(p.ImportPath)] = p.Dir
	}
	promises := regexp.MustCompile(`(?m)^\| [A-Z].*\|$`).FindAllString(string(raw), -1)
	require.Greater(t, len(promises), 20)
	for _, promise := range promises {
		named := regexp.MustCompile("`(\\w+)\\.((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(promise, -1)
		if len(named) == 0 {
			t.Errorf("no test holds it: %s", promise)
		}
		for _, n := range named {
			if !hasTest(t, folders[n[1]], n[2]) {
				t.Errorf("there is no %s.%s", n[1], n[2])
			}
		}
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
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
