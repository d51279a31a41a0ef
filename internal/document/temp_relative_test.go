package document

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTemporaryFolderIsFoundFromAnywhere: with a relative TMPDIR every document
// was unreadable, since readers work in another folder.
func TestTemporaryFolderIsFoundFromAnywhere(t *testing.T) {
	t.Chdir(t.TempDir())
	dir, shut, err := OpenTemp(".")
	require.NoError(t, err)
	defer shut()
	require.True(t, filepath.IsAbs(dir), dir)
}
