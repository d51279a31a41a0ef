package crawl

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/library/repository"
)

// TestNothingIsFetchedThatCannotBeKept: while the blob store takes no file, a
// document is downloaded once, however often its crawl is tried, and none of
// another site is.
func TestNothingIsFetchedThatCannotBeKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.crawler(w.client)
	s := serve(t, map[string]any{"/": links("1.pdf", "2.pdf"), "/1.pdf": "one", "/2.pdf": "two"})
	other := serve(t, map[string]any{"/": links("3.pdf"), "/3.pdf": "three"})
	w.seed(t, s.host, "/", "/")
	w.seed(t, other.host, "/", "/")
	s.at = func(n int) {
		if n == 3 { // after robots.txt and the first page
			require.NoError(t, os.Rename(w.files, w.files+".away"))
		}
	}
	for range 5 {
		_, err := c.Slice(t.Context(), s.host, func(Progress) {})
		require.ErrorIs(t, err, repository.ErrAway)
		_, err = c.Slice(t.Context(), other.host, func(Progress) {})
		require.ErrorIs(t, err, repository.ErrAway)
	}
	require.Equal(t, map[string]int{"/": 1, "/1.pdf": 1}, s.asked())
	require.Empty(t, other.asked())

	s.at = nil
	require.NoError(t, os.Rename(w.files+".away", w.files))
	require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
	require.Equal(t, Exhausted, w.finish(t, c, other.host).Ending)
	require.Equal(t, map[string]int{"/": 1, "/1.pdf": 2, "/2.pdf": 1}, s.asked())
	require.Equal(t, map[string]string{"/": "page success", "/1.pdf": "document success", "/2.pdf": "document success"}, w.record(t, s.host))
	require.Equal(t, "document success", w.record(t, other.host)["/3.pdf"])
}
