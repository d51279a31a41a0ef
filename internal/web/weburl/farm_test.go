package weburl

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/realdata"
)

// TestFarmTakesTheShortWay holds fast against slow on real links, and counts how
// many take the short way: the speed of a crawl hangs on it.
func TestFarmTakesTheShortWay(t *testing.T) {
	root := realdata.Path(t, "farm")
	href := regexp.MustCompile(`(?i)<a\s[^<>]*?\bhref\s*=\s*"([^"<>]*)"`)
	web, quick := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".html") {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		base := "http://" + filepath.ToSlash(rel)
		for _, m := range href.FindAllSubmatch(body, -1) {
			ref := strings.TrimSpace(string(m[1]))
			want, err := slow(base, ref)
			if err != nil {
				continue
			}
			web++
			if got, ok := fast(base, ref); ok {
				quick++
				assert.Equal(t, want, got, "%v %v", base, ref)
			}
		}
		return err
	})
	require.NoError(t, err)
	t.Logf("%d of %d links take the short way (%.1f %%)", quick, web, 100*float64(quick)/float64(max(web, 1)))
	assert.GreaterOrEqual(t, quick, web*9/10, "too few")
}
