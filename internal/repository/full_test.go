package repository

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFullDisk: the kernel's error comes out as ErrFull, and no file stays.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		dir := t.TempDir()
		r, err := Open(t.Context(), dir)
		require.NoError(t, err)
		_, err = r.PutReader(t.Context(), fullAfter{n: 100, err: &fs.PathError{Op: "write", Path: "x", Err: cause}})
		require.ErrorIs(t, err, ErrFull)
		require.ErrorIs(t, err, cause)
		err = typed(r.folder.write("documents/aa/bb/x", fullAfter{n: 100, err: &fs.PathError{Op: "write", Path: "x", Err: cause}}))
		require.ErrorIs(t, err, ErrFull)
		left, err := filepath.Glob(filepath.Join(dir, ".partial", "*"))
		require.NoError(t, err)
		assert.Empty(t, left)
		_, err = os.Stat(filepath.Join(dir, "documents"))
		require.ErrorIs(t, err, os.ErrNotExist)
		require.NoError(t, r.Close())
	}
	assert.False(t, errors.Is(typed(fmt.Errorf("other")), ErrFull))
}

// fullAfter stands for a copy that fails as one to a full disk does.
type fullAfter struct {
	n   int
	err error
}

func (f fullAfter) Read(p []byte) (int, error) {
	return min(f.n, len(p)), f.err
}
