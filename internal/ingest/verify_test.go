package ingest

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestVerifyComparesContent checks that a saved file whose bytes were changed in place is a
// difference, and that importing it again mends it.
func TestVerifyComparesContent(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	o := Options{Paths: []string{s.write("x.warc.gz", answer("http://a.example/1.pdf", "", s.pdf(1)))}}
	run := s.addImport(o)
	_, err := s.Import(ctx, run, time.Hour, func(Progress) {})
	require.NoError(t, err)
	h := hashOf("http://a.example/1.pdf")
	known, err := s.DB.ExplainURL(ctx, "a.example", h[:])
	require.NoError(t, err, "no crawl met it")
	require.Equal(t, []string{"document", "import"}, []string{known.StateName, known.Source})
	require.Len(t, known.SHA256, 1)
	all, err := s.DB.ImportRecords(ctx, run.Job, 0, false, 10)
	require.NoError(t, err)
	sha := all[0].SHA256
	require.NoError(t, s.Repo.Check(ctx, sha))
	file, err := os.OpenFile(strings.TrimPrefix(s.Repo.Where(sha), "file://"), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteAt([]byte("ten others"), 100)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	v, err := s.Verify(ctx, run, 0, 0, func(int64) {})
	require.NoError(t, err)
	require.Equal(t, []any{true, int64(1)}, []any{v.More, v.After}, "others have their turn")
	v, err = s.Verify(ctx, run, v.After, 0, func(int64) {})
	require.NoError(t, err)
	require.False(t, v.More)
	require.EqualValues(t, 1, v.Differences)
	c, by := s.imported(o)
	require.Equal(t, SavedDuplicate, by["http://a.example/1.pdf"].Outcome)
	require.Zero(t, c.Differences)
	require.NoError(t, s.Repo.Check(ctx, sha))
}
