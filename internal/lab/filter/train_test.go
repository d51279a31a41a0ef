package filter

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/document"
)

// A URL of the training set names a file of its mirror, whatever its path says.
func TestTrainingReadsItsMirrorAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mirror := filepath.Join(dir, "mirror")
	require.NoError(t, os.MkdirAll(filepath.Join(mirror, "a.org"), 0o700))
	for _, name := range []string{"outside.html", "mirror/a.org/inside.html"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("<html><p>words of a page"), 0o600))
	}
	r := document.NewReader(document.Options{})
	s, err := readSample(t.Context(), r, mirror, Labelled{URL: "http://a.org/inside.html", Label: "Text"})
	require.NoError(t, err)
	assert.Equal(t, "a.org", s.host)
	for _, path := range []string{"/../../outside.html", "/%2e%2e/%2e%2e/outside.html"} {
		_, err := readSample(t.Context(), r, mirror, Labelled{URL: "http://a.org" + path, Label: "Text"})
		assert.Error(t, err, path)
	}
}
