package ingest

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/packtest"
)

// TestDenied: files and folders that the worker may not read are passed over, each by a name
// of its own, and what is beside them is read.
func TestDenied(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"a.warc": 0o644, "b.warc": 0, "c.warc": 0o644} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), packtest.Gzip(plainRecord("http://a.test/"+name[:1], "", "body")), mode))
	}
	closed := filepath.Join(dir, "bb")
	require.NoError(t, os.Mkdir(closed, 0))
	if os.Getuid() == 0 { // this thread reads files as nobody does
		for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
			require.NoError(t, os.Chmod(at, 0o755)) // #nosec G302 -- nobody is to get there
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		require.NoError(t, syscall.Setfsuid(65534))
		defer func() { _ = syscall.Setfsuid(0) }()
	}
	var got []string
	for r := range rest(t, mustOpen(t, Options{Paths: []string{dir}})) {
		got = append(got, r.URL+r.Skip)
	}
	require.Equal(t, []string{"http://a.test/a", Unreadable, Unreadable, "http://a.test/c"}, got)
}
