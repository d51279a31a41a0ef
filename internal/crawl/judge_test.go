package crawl

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnArchiveDoesNotHoldItsSite: of its members a few are judged in the slice,
// and all are kept.
func TestAnArchiveDoesNotHoldItsSite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var body bytes.Buffer
	z := zip.NewWriter(&body)
	for i := range 3 * judgedMembers {
		f, err := z.Create(fmt.Sprintf("paper%d.pdf", i))
		require.NoError(t, err)
		_, err = fmt.Fprintf(f, "%%PDF-1.4\npaper %d", i)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	s := serve(t, map[string]any{"/": links("all", "a.html"), "/a.html": links(), "/all": func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/zip")
		_, _ = rw.Write(body.Bytes())
	}})
	w.seed(t, s.host, "/", "/")
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	var left, judged int
	require.NoError(t, w.db.Pool.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE state='new'), count(*) FILTER (WHERE state<>'new') FROM documents`).Scan(&left, &judged))
	require.Equal(t, judgedMembers, judged)
	require.Equal(t, 2*judgedMembers, left)
	require.Equal(t, "document success", w.record(t, s.host)["/all"])
}
