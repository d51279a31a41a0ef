package program_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/service/program"
)

// TestAFileIsThereWholeOrNotAtAll: what breaks off leaves the file of before, and what is
// no file, as a device or a link, stays what it is.
func TestAFileIsThereWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link, device := filepath.Join(dir, "report.html"), filepath.Join(dir, "latest.html"), filepath.Join(dir, "null")
	require.NoError(t, os.Symlink("report.html", link))
	require.NoError(t, os.Symlink(os.DevNull, device))
	say := func(what string, err error) func(io.Writer) error {
		return func(w io.Writer) error { _, _ = io.WriteString(w, what); return err }
	}
	is := func(name, want string) {
		body, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, want, string(body))
	}
	require.NoError(t, program.WriteFile(file, say("old", nil)))
	broken := errors.New("the database is away")
	require.ErrorIs(t, program.WriteFile(file, say("ne", broken)), broken)
	nowhere := filepath.Join(dir, "none", "report.html")
	require.ErrorContains(t, program.WriteFile(nowhere, say("", nil)), "open "+nowhere+": ")
	is(file, "old")
	require.NoError(t, program.WriteFile(link, say("new", nil)))
	is(file, "new")
	require.NoError(t, program.WriteFile(device, say("x", nil)))
	for _, l := range []string{link, device} {
		info, err := os.Lstat(l)
		require.NoError(t, err)
		require.Equal(t, os.ModeSymlink, info.Mode().Type(), l)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 3, "nothing is left beside them")
}
