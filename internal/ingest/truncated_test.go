package ingest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

// TestTruncated: what a crawler says it did not read to its end, or cut in parts, is no
// document, however much of it could be read; a page of which that is so still leads on.
func TestTruncated(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cut := func(url, head, body, says string) []byte {
		return record("response", url, "application/http; msgtype=response", says+"\r\n", "HTTP/1.1 200 OK\r\n"+head+"\r\n"+body)
	}
	paper := string(s.pile.File(2, sampleweb.AsHTML))
	archive := slices.Concat(
		cut("http://a.example/papers/1.pdf", "", s.pdf(1), "WARC-Truncated: length"),
		cut("http://a.example/2.pdf", "", s.pdf(2), "WARC-Segment-Number: 1"),
		cut("http://a.example/", "Content-Type: text/html\r\n", listing, "WARC-Truncated: disconnect"),
		cut("http://a.example/paper.html", "Content-Type: text/html\r\n", paper, "WARC-Truncated: disconnect"))
	c, by := s.imported(Options{Paths: []string{s.write("cut.warc.gz", archive)}})
	for url, why := range map[string]string{"http://a.example/papers/1.pdf": "cut off by its crawler: length", "http://a.example/2.pdf": "cut off by its crawler: in segments"} {
		require.Equal(t, FailedFileNotFound, by[url].Outcome)
		require.Equal(t, why, by[url].Detail)
	}
	require.Equal(t, FilteredMTF, by["http://a.example/paper.html"].Outcome)
	require.Zero(t, c.Differences, "the archive says so itself")
	docs, err := s.DB.FindDocuments(t.Context(), store.DocumentQuery{})
	require.NoError(t, err)
	require.Empty(t, docs)
	require.Equal(t, 1, storetest.Get[int](t, s.DB.Pool, `SELECT count(*) FROM links`))
}
