package activities_test

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
)

// harvested is what a harvest of forty papers left, once for all tests of this binary.
var harvested struct {
	once     sync.Once
	dsn      string
	data     string // folder
	bytes    int64  // that it was answered
	requests int
}

// redirected is how many of its papers are linked by addresses that redirect.
const redirected = 6

// newHarvested opens a library that has harvested a sample web of forty papers. It has
// copies of the database and of the data folder of one harvest.
func newHarvested(t *testing.T) *library {
	t.Helper()
	harvested.once.Do(func() {
		harvested.dsn, harvested.data = devtest.KeptPostgres(t), devtest.Dir(t)
		t.Run("first harvest", func(t *testing.T) { // at its end all connections are closed
			l := newLibrary(t, 40, map[string]string{"database-url": harvested.dsn, "data-dir": harvested.data})
			l.redirects(t, redirected)
			l.collect(t, "")
			harvested.bytes, harvested.requests = l.web.reset()
		})
	})
	require.Positive(t, harvested.requests, "the first harvest failed")
	data := t.TempDir()
	require.NoError(t, os.CopyFS(data, os.DirFS(harvested.data)))
	l := newLibrary(t, 40, map[string]string{"database-url": devtest.Copy(t, harvested.dsn), "data-dir": data})
	l.moved = l.redirects(t, redirected)
	return l
}
