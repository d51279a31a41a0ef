package ingest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/ingest/source"
)

// hangUp ends an exchange without an answer: whoever asked meets an end of file.
func hangUp(w http.ResponseWriter) bool {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close()
	}
	return true
}

// TestHangingUpIsNoEnd: a server that hangs up before or within an archive is away: the
// archive has not ended, and neither has the import.
func TestHangingUpIsNoEnd(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	crawl := string(s.crawl())
	for name, gone := range map[string]func(r *http.Request) bool{
		"before": func(r *http.Request) bool { return r.URL.Path == "/a.warc.gz" },
		"within": func(r *http.Request) bool {
			return r.URL.Path == "/a.warc.gz" && r.Header.Get("Range") != "bytes=0-0"
		},
	} {
		web := &site{files: map[string]string{"/a.warc.gz": crawl, "/list.txt": "a.warc.gz\n"}}
		web.say = func(w http.ResponseWriter, r *http.Request) bool { return gone(r) && hangUp(w) }
		log := openAt(t, source.Places{Asker: asker(t, nil)}, Options{Paths: []string{web.serve(t) + "/list.txt"}}, Position{})
		r, err := log.Next(t.Context())
		require.Nil(t, r)
		require.ErrorIs(t, err, source.ErrAway, name)
		require.NotEqual(t, io.EOF, err, name)
	}
}

// TestHangingUpIsNoEndOfAList: nor has a bucket no files because its listing is hung up.
func TestHangingUpIsNoEndOfAList(t *testing.T) {
	withKeys(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { hangUp(w) }))
	t.Cleanup(srv.Close)
	where := "s3://crawls/tr?region=us-east-1&use_path_style=true&endpoint=" + srv.URL
	log := mustOpen(t, Options{Paths: []string{where}, Format: Folder, URLs: "https://a.example/{path}"})
	_, err := log.Next(t.Context())
	require.ErrorIs(t, err, source.ErrAway)
	require.NotErrorIs(t, err, io.EOF)
}
