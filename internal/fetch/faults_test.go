package fetch

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
)

func pack(t testing.TB, coding string, plain []byte) []byte {
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip", "x-gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "bare-deflate":
		w, _ = flate.NewWriter(&b, 6)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	}
	_, err := w.Write(plain)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// hijack answers with raw bytes and closes.
func hijack(w http.ResponseWriter, raw string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(conn, raw)
	_ = conn.Close()
}

func html(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/html") }

// trickle sends so many bytes each 20 ms until the client leaves.
func trickle(w http.ResponseWriter, r *http.Request, n int) {
	html(w)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := io.WriteString(w, strings.Repeat("x", n)); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// TestFaults has one server misbehave in every way that has a name.
func TestFaults(t *testing.T) {
	t.Parallel()
	bomb := make([]byte, 4<<20)
	var hops atomic.Int64
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); _, _ = io.WriteString(w, "text") }
	}
	coded := func(coding, as string, plain []byte) http.HandlerFunc {
		body := pack(t, coding, plain)
		return func(w http.ResponseWriter, _ *http.Request) {
			html(w)
			w.Header().Set("Content-Encoding", as)
			_, _ = w.Write(body)
		}
	}
	shortGzip, ratioBomb := pack(t, "gzip", []byte(strings.Repeat("some text ", 100)))[:40], pack(t, "gzip", make([]byte, 3<<20))
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    gleaner.Outcome
	}{
		{"dropped without an answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ConnectFailure},
		{"never answers", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, Timeout},
		{"cut within a chunk", func(w http.ResponseWriter, _ *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100\r\nshort")
		}, Truncated},
		{"gzip without its end", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(shortGzip)
		}, Truncated},
		{"gzip in name only", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "<html>this is no gzip at all</html>")
		}, BadAnswer},
		{"unknown coding", coded("gzip", "compress", []byte("x")), BadAnswer},
		{"busy", status(503), Busy},
		{"too many requests", status(429), Busy},
		{"server error", status(500), ServerError},
		{"bad gateway", status(502), ServerError},
		{"not found", status(404), NotFound},
		{"gone", status(410), NotFound},
		{"log in", status(401), Forbidden},
		{"forbidden", status(403), Forbidden},
		{"unavailable for legal reasons", status(451), Forbidden},
		{"teapot", status(418), BadStatus},
		{"server gave up waiting", status(408), Timeout},
		{"a part nobody asked for", status(206), BadAnswer},
		{"not modified though nothing was known", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }, BadAnswer},
		{"no content", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, EmptyBody},
		{"nothing in it", func(http.ResponseWriter, *http.Request) {}, EmptyBody},
		{"nothing in it, packed", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", "gzip") }, EmptyBody},
		{"endless and slow", func(w http.ResponseWriter, r *http.Request) { trickle(w, r, 2) }, SlowBody},
		{"endless and fast", func(w http.ResponseWriter, r *http.Request) { trickle(w, r, 16<<10) }, TooLarge},
		{"stalls half way", func(w http.ResponseWriter, r *http.Request) {
			html(w)
			_, _ = io.WriteString(w, strings.Repeat("x", 2000))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, SlowBody},
		{"large by promise", func(w http.ResponseWriter, _ *http.Request) {
			html(w)
			w.Header().Set("Content-Length", "70000")
			_, _ = w.Write(make([]byte, 70000))
		}, TooLarge},
		{"large picture", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write(make([]byte, 2000))
		}, TooLarge},
		{"bomb, gzip", coded("gzip", "gzip", bomb), Inflated},
		{"bomb, brotli", coded("br", "br", bomb), Inflated},
		{"bomb, zstd", coded("zstd", "zstd", bomb), Inflated},
		{"bomb, deflate", coded("deflate", "deflate", bomb), Inflated},
		{"bomb by ratio alone", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/pdf")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(ratioBomb)
		}, Inflated},
		{"loop to itself", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusMovedPermanently)
		}, RedirectLoop},
		{"loop by a counter", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, fmt.Sprintf("%s?hop=%d", r.URL.Path, hops.Add(1)), http.StatusFound)
		}, RedirectLoop},
		{"endless stairs", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusTemporaryRedirect)
		}, TooManyRedirects},
		{"redirect without aim", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(302) }, BadAnswer},
		{"redirect to a private network", redirect("http://192.168.0.1/"), AddressDenied},
		{"redirect to mail", redirect("mailto:a@example.org"), BadURL},
		{"redirect to another host", redirect("http://www.example.org/b"), RedirectOffHost},
		{"another protocol", func(w http.ResponseWriter, _ *http.Request) { hijack(w, "220 ftp.example.org ready\r\n") }, BadAnswer},
	}
	byPath := map[string]http.HandlerFunc{}
	s := site(t, func(w http.ResponseWriter, r *http.Request) { byPath[strings.TrimRight(r.URL.Path, "x")](w, r) })
	for i, tt := range tests {
		byPath["/"+strconv.Itoa(i)] = tt.handler
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := failure(t, testClient(t, nil), Request{URL: s.URL + "/" + strconv.Itoa(i)})
			require.Equal(t, tt.want, e.Outcome, "%v", e)
		})
	}
}

// TestWholeBodies checks answers that are odd and yet whole.
func TestWholeBodies(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("The quick brown fox. ", 400))
	gzFile := pack(t, "gzip", text)
	type answer struct {
		typ, coding string
		body, want  []byte
	}
	tests := map[string]answer{
		"plain":            {"text/html", "", text, text},
		"gzip":             {"text/html", "gzip", gzFile, text},
		"x-gzip":           {"text/html", "x-gzip", gzFile, text},
		"padded gzip":      {"text/html", "gzip", append(bytes.Clone(gzFile), "\r\npadding"...), text},
		"deflate":          {"text/html", "deflate", pack(t, "deflate", text), text},
		"bare deflate":     {"text/html", "deflate", pack(t, "bare-deflate", text), text},
		"brotli":           {"text/html", "br", pack(t, "br", text), text},
		"zstd":             {"text/html", "zstd", pack(t, "zstd", text), text},
		"two layers":       {"text/html", "gzip, br", pack(t, "br", gzFile), text},
		"identity":         {"text/html", "identity", text, text},
		"gz file":          {"application/gzip", "", gzFile, gzFile},
		"gz file, by type": {"application/x-gzip", "gzip", gzFile, gzFile},
		"no type":          {"", "", text, text},
		"PDF as a page":    {"text/html", "", append([]byte("%PDF-1.4\n"), make([]byte, 100<<10)...), append([]byte("%PDF-1.4\n"), make([]byte, 100<<10)...)},
		"large document":   {"application/pdf", "", bytes.Repeat([]byte("0123456789abcdef"), 3<<16), bytes.Repeat([]byte("0123456789abcdef"), 3<<16)},
	}
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		a := tests[r.URL.Query().Get("is")]
		w.Header()["Content-Type"] = nil
		if a.typ != "" {
			w.Header().Set("Content-Type", a.typ)
		}
		if a.coding != "" {
			w.Header().Set("Content-Encoding", a.coding)
		}
		_, _ = w.Write(a.body)
	})
	c := testClient(t, nil)
	for name, a := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The ending is one at which colly would inflate by itself.
			u := s.URL + "/file.xml.gz?is=" + strings.ReplaceAll(strings.ReplaceAll(name, ",", "%2C"), " ", "%20")
			resp := mustFetch(t, c, Request{URL: u})
			require.Equal(t, []any{200, u}, []any{resp.Status, resp.URL})
			require.True(t, bytes.Equal(a.want, resp.Body), "%d bytes, want %d", len(resp.Body), len(a.want))
			require.Equal(t, int64(len(a.body)), resp.Bytes)
		})
	}
}

func TestRecoversWhenTheHostDoes(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) <= 2 {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "back")
	})
	c := testClient(t, func(cfg *Config) { cfg.Gate = freeGate{} })
	for range 2 {
		e := failure(t, c, Request{URL: s.URL + "/"})
		require.Equal(t, Busy, e.Outcome)
		require.Equal(t, 7*time.Second, e.RetryAfter)
		require.Equal(t, 503, e.Status)
	}
	resp := mustFetch(t, c, Request{URL: s.URL + "/"})
	require.Equal(t, "back", string(resp.Body))
}

// freeGate lets everybody through.
type freeGate struct{}

func (freeGate) Turn(context.Context, string, time.Duration) (func(Visit), error) {
	return func(Visit) {}, nil
}

// TestConditional: what has not changed comes without a body. A date of what a redirect led
// to once says nothing of what it leads to now.
func TestConditional(t *testing.T) {
	t.Parallel()
	const date = "Sat, 01 Jan 2000 00:00:00 GMT"
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/latest.pdf":
			http.Redirect(w, r, "/v2.pdf", http.StatusFound)
		case r.Header.Get("If-Modified-Since") != "" || r.Header.Get("If-None-Match") == `"v2"`:
			w.WriteHeader(http.StatusNotModified)
		default:
			_, _ = io.WriteString(w, "older than the date, but new")
		}
	})
	c := testClient(t, nil)
	for _, tt := range []struct {
		name string
		req  Request
		want int
	}{
		{"a date alone", Request{URL: s.URL + "/latest.pdf", LastModified: date}, http.StatusOK},
		{"a tag", Request{URL: s.URL + "/latest.pdf", ETag: `"v2"`, LastModified: date}, http.StatusNotModified},
		{"another tag", Request{URL: s.URL + "/latest.pdf", ETag: `"v1"`, LastModified: date}, http.StatusOK},
		{"no redirect", Request{URL: s.URL + "/v2.pdf", LastModified: date}, http.StatusNotModified},
	} {
		resp, err := c.Fetch(context.Background(), tt.req)
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.want, resp.Status, tt.name)
		require.Equal(t, tt.want == http.StatusOK, resp.Body != nil, tt.name)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	other := site(t, saying("there"))
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/a":
			http.Redirect(w, r, "/b#part", http.StatusMovedPermanently)
		case "/b":
			http.Redirect(w, r, "../c/?PHPSESSID=0123456789abcdef0123456789abcdef", http.StatusSeeOther)
		case "/c/":
			_, _ = io.WriteString(w, r.URL.RawQuery)
		case "/off":
			http.Redirect(w, r, other.URL+"/page", http.StatusFound)
		}
	})
	c := testClient(t, nil)
	resp := mustFetch(t, c, Request{URL: s.URL + "/a"})
	require.Equal(t, []string{s.URL + "/a", s.URL + "/b"}, resp.Redirects)
	require.Equal(t, "PHPSESSID=0123456789abcdef0123456789abcdef", string(resp.Body), "asked for as the server wrote it")

	e := failure(t, c, Request{URL: s.URL + "/off"})
	require.Equal(t, RedirectOffHost, e.Outcome)
	require.Equal(t, other.URL+"/page", e.Location)

	resp = mustFetch(t, c, Request{URL: s.URL + "/off", FollowOffHost: true})
	require.Equal(t, "there", string(resp.Body))
	require.Equal(t, other.URL+"/page", resp.URL)
}

func TestCanceledAndTotal(t *testing.T) {
	t.Parallel()
	s := site(t, func(w http.ResponseWriter, r *http.Request) { trickle(w, r, 100) })
	c := testClient(t, func(cfg *Config) { cfg.Limits.Total = 150 * time.Millisecond })
	require.Equal(t, Timeout, outcome(c, s.URL+"/"))

	ctx, cancel := context.WithCancel(context.Background())
	asked := make(chan struct{})
	hang := site(t, func(_ http.ResponseWriter, r *http.Request) { close(asked); <-r.Context().Done() })
	go func() { <-asked; cancel() }()
	_, err := c.Fetch(ctx, Request{URL: hang.URL + "/"})
	require.Equal(t, Canceled, fetchError(t, err).Outcome)
	_, err = c.Fetch(ctx, Request{URL: s.URL + "/again"})
	require.Equal(t, Canceled, fetchError(t, err).Outcome)
}
