package fetch

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gocolly/colly/v2"
	"github.com/stretchr/testify/require"
)

// TestCollyLeavesBytesAlone: whatever a server says of its bytes, the caller gets
// them, and its header, as they came.
func TestCollyLeavesBytesAlone(t *testing.T) {
	t.Parallel()
	const body = "caf\xe9 \xff\xfe\x00 \x81\x8d"
	types := []string{
		"text/html; charset=iso-8859-1", "text/html; charset=windows-1252", "Text/HTML; Charset=UTF-16", "text/html; charset=nonsense", "text/html; charset=",
		"charset=koi8-r", "charset=koi8-r; charset=latin1", "text/charset=big5; charset=big5", "application/pdf; charset=shift_jis", "text/plain;charset=\"gb2312\"", "x-user-defined",
	}
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		_, _ = io.WriteString(w, body)
	})
	c := testClient(t, nil)
	for _, typ := range types {
		resp, err := c.Fetch(context.Background(), Request{URL: s.URL + "/" + "?type=" + strings.NewReplacer(" ", "%20", ";", "%3B", "\"", "%22").Replace(typ)})
		require.NoError(t, err, typ)
		require.Equal(t, body, string(resp.Body), typ)
		require.Equal(t, typ, resp.Header.Get("Content-Type"))
	}
}

// TestCollyIsGivenWhatIsThere: the address, the header and the body that pass
// through colly are those of the page.
func TestCollyIsGivenWhatIsThere(t *testing.T) {
	t.Parallel()
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/from" {
			http.Redirect(w, r, "/~ada/to?b=%7E&a=1", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("ETag", `"v1"`)
		_, _ = io.WriteString(w, "<title>there</title>")
	})
	c := testClient(t, nil)
	var got []string
	made := c.collectors.New
	c.collectors = sync.Pool{New: func() any {
		col := made().(*collector)
		col.OnResponse(func(r *colly.Response) {
			got = append(got, r.Request.URL.String(), r.Headers.Get("Etag"), r.Headers.Get("Content-Type"), string(r.Body))
		})
		return col
	}}
	mustFetch(t, c, Request{URL: s.URL + "/from"})
	require.Equal(t, []string{s.URL + "/~ada/to?b=%7E&a=1", `"v1"`, "text/html", "<title>there</title>"}, got)
}

// TestWhatIsTooLargeIsNotRead: a document or a film that its header promises to be
// too large is turned down before its first byte.
func TestWhatIsTooLargeIsNotRead(t *testing.T) {
	t.Parallel()
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", strings.TrimPrefix(r.URL.Path, "/"))
		w.Header().Set("Content-Length", "5000000")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	c := testClient(t, nil)
	for _, typ := range []string{"application/pdf", "video/mp4"} {
		e := failure(t, c, Request{URL: s.URL + "/" + typ})
		require.Equal(t, TooLarge, e.Outcome, "%s: %v", typ, e)
		require.Equal(t, http.StatusOK, e.Status)
		require.Zero(t, e.Bytes)
	}
}

// TestEachHopOfARedirectIsAsPoliteAsTheFirst: robots.txt and a turn for each, and
// no word of where one comes from.
func TestEachHopOfARedirectIsAsPoliteAsTheFirst(t *testing.T) {
	t.Parallel()
	var referer []string
	closed, asked := robotsSite(t, saying("User-agent: *\nDisallow: /private/"))
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		referer = append(referer, r.Header.Get("Referer"))
		switch r.URL.Path {
		case "/a":
			http.Redirect(w, r, "/b", http.StatusMovedPermanently)
		case "/b":
			http.Redirect(w, r, closed.URL+"/private/x", http.StatusFound)
		}
	})
	g := &recordingGate{}
	c := testClient(t, func(cfg *Config) { cfg.Gate = g })
	e := failure(t, c, Request{URL: s.URL + "/a", FollowOffHost: true})
	require.Equal(t, RobotsDenied, e.Outcome, "%v", e)
	require.Equal(t, closed.URL+"/private/x", e.URL)
	here, there := s.Listener.Addr().String(), closed.Listener.Addr().String()
	require.Equal(t, []string{here, here, here, there}, g.turns, "two for robots.txt, two for pages; none for what may not be asked for")
	require.EqualValues(t, 1, asked.Load())
	require.Equal(t, []string{"", ""}, referer)
}
