package fetch

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStream: a file larger than any limit is read as it comes, from any byte on, as
// it lies on the server; and one that is another by now is told from the one before.
func TestStream(t *testing.T) {
	t.Parallel()
	whole := bytes.Repeat([]byte("0123456789abcdef"), 1<<19) // twice what a document may have
	tag := `"one"`
	var asked []string
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Range")+r.Header.Get("If-Match"))
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/file.gz", http.StatusFound)
		case "/plain":
			_, _ = w.Write(whole)
		case "/liar":
			w.Header().Set("Content-Range", "bytes 7-9/100")
			w.WriteHeader(http.StatusPartialContent)
		default:
			w.Header().Set("ETag", tag)
			w.Header().Set("Content-Encoding", "gzip") // as servers call what is called .gz
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(whole))
		}
	})
	c := testClient(t, nil)
	read := func(req StreamRequest) (*Streamed, []byte, error) {
		var got *Streamed
		var body []byte
		err := c.Stream(t.Context(), req, func(s *Streamed) (err error) {
			got = s
			body, err = io.ReadAll(s.Body)
			return err
		})
		return got, body, err
	}
	got, body, err := read(StreamRequest{URL: s.URL + "/moved", From: 10, Most: 4})
	require.NoError(t, err)
	require.Equal(t, "abcd", string(body))
	require.True(t, got.Part)
	require.EqualValues(t, len(whole), got.Size)
	require.Equal(t, s.URL+"/file.gz", got.URL)
	_, body, err = read(StreamRequest{URL: s.URL + "/file.gz", From: 1, ETag: tag})
	require.NoError(t, err)
	require.True(t, bytes.Equal(whole[1:], body))
	require.Equal(t, []string{"bytes=10-13", "bytes=10-13", `bytes=1-"one"`}, asked)

	tag = `"two"`
	_, _, err = read(StreamRequest{URL: s.URL + "/file.gz", From: 1, ETag: `"one"`})
	require.Equal(t, Changed, fetchError(t, err).Outcome)
	_, _, err = read(StreamRequest{URL: s.URL + "/file.gz", From: int64(len(whole))})
	require.Equal(t, Changed, fetchError(t, err).Outcome)
	_, _, err = read(StreamRequest{URL: s.URL + "/liar", From: 5, Most: 10})
	require.Equal(t, BadAnswer, fetchError(t, err).Outcome)
	got, body, err = read(StreamRequest{URL: s.URL + "/plain", From: 5, Most: 10})
	require.NoError(t, err)
	require.False(t, got.Part)
	require.Len(t, body, len(whole))
}

// TestStreamChecks: a stream passes the same checks as every request: robots.txt,
// addresses, the blacklist, turns.
func TestStreamChecks(t *testing.T) {
	t.Parallel()
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /private/")
			return
		}
		asked++
		_, _ = io.WriteString(w, "a file")
	}))
	t.Cleanup(srv.Close)
	s := srv.URL
	nothing := func(*Streamed) error { return nil }
	g := &slowGate{while: func() {}}
	c := testClient(t, func(cfg *Config) { cfg.Gate = g })
	err := c.Stream(t.Context(), StreamRequest{URL: s + "/private/x.warc.gz"}, nothing)
	require.Equal(t, RobotsDenied, fetchError(t, err).Outcome)
	require.Zero(t, asked)
	require.NoError(t, c.Stream(t.Context(), StreamRequest{URL: s + "/x.warc.gz"}, nothing))
	require.Len(t, g.ended, 2, "one of robots.txt, one of the file")
	for _, u := range []string{"http://10.0.0.1/x.warc", "http://169.254.169.254/x.warc"} {
		err = c.Stream(t.Context(), StreamRequest{URL: u}, nothing)
		require.Equal(t, AddressDenied, fetchError(t, err).Outcome, u)
	}
	blocked := testClient(t, func(cfg *Config) {
		cfg.Blocked = func(context.Context, string) (string, error) { return "on the list", nil }
	})
	err = blocked.Stream(t.Context(), StreamRequest{URL: s + "/x.warc.gz"}, nothing)
	require.Equal(t, Blacklisted, fetchError(t, err).Outcome)
	require.Equal(t, 1, asked)
}
