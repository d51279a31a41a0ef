package ingest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/ingest/source"
	"gleaner/internal/lab/packtest"
)

// site is a web server of files, which does what the test wants of it.
type site struct {
	mu    sync.Mutex
	files map[string]string // by path
	tags  map[string]string // ETag, by path
	asked []string          // path and range
	cut   int               // answers to be cut off in the middle
	whole bool              // no parts of files are given
	say   func(w http.ResponseWriter, r *http.Request) bool
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock() // so requests are one after the other, or the test stands still
	body, is := s.files[r.URL.Path]
	if r.URL.Path != "/robots.txt" {
		s.asked = append(s.asked, r.URL.Path+" "+r.Header.Get("Range"))
	}
	switch {
	case s.say != nil && s.say(w, r):
		return
	case !is:
		http.NotFound(w, r)
		return
	}
	if s.whole {
		r.Header.Del("Range")
	}
	w.Header().Set("ETag", s.tags[r.URL.Path])
	w.Header().Set("Content-Type", "application/octet-stream")
	if strings.HasSuffix(r.URL.Path, ".html") {
		w.Header().Set("Content-Type", "text/html")
	}
	if s.cut > 0 && r.Header.Get("Range") != "bytes=0-0" && len(body) > 4000 {
		s.cut--
		w = &cutting{ResponseWriter: w, left: 4000}
	}
	http.ServeContent(w, r, "", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), strings.NewReader(body))
}

// cutting hangs up in the middle of an answer.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	n, _ := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; c.left == 0 {
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

func (s *site) serve(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return srv.URL
}

// asker asks servers of this machine, without a pause.
func asker(t *testing.T, change func(*fetch.Config)) *fetch.Client {
	c := fetch.Config{AllowLoopback: true, Proxy: "none", Pacing: fetch.Pacing{Unpaced: true, BackoffBase: time.Millisecond, BackoffMax: time.Millisecond, ParkAfter: 1000}}
	if change != nil {
		change(&c)
	}
	client, err := fetch.New(c)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// TestWeb: an archive of a web server, and the archives of a list, packed or not, or of
// a page, are read as those of this machine are, from any of their resources on, also
// where answers are cut off or the server gives no parts of files.
func TestWeb(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	a, b := string(s.crawl()), string(answer("http://b.example/7.pdf", "", s.pdf(7)))
	web := &site{files: map[string]string{"/data/2005/a.warc.gz": a, "/data/2005/b.warc.gz": b, "/get": a,
		"/data/2005/warc.paths.gz": string(packtest.Gzip("data/2005/a.warc.gz\ndata/2005/b.warc.gz\n")), "/data/list.txt": "# of 2005\r\n2005/a.warc.gz\r\n\r\n/data/2005/b.warc.gz\r\n",
		"/data/2005/index.html": `<html><title>2005</title><a href="a.warc.gz">a</a> <a href="notes.txt">notes</a> <a href="b.warc.gz">b</a>`,
		"/notes.txt":            "no list\n", "/empty.warc": "", "/other.txt": "a.warc.gz\nhttp://127.0.0.1:1/x.warc.gz?a=1\nmailto:x.warc\n"},
		tags: map[string]string{"/data/2005/a.warc.gz": `"a"`}}
	at := web.serve(t)
	places := source.Places{Asker: asker(t, nil)}
	dir := s.lay("2005", map[string]string{"a.warc.gz": a, "b.warc.gz": b})
	want, wantBodies := read(t, Options{Paths: []string{dir}}, Position{})

	for _, how := range []struct {
		path  string
		cut   int
		whole bool
	}{{path: "/data/2005/warc.paths.gz"}, {path: "/data/list.txt", cut: 3}, {path: "/data/2005/index.html"}, {path: "/data/list.txt", whole: true}, {path: "/data/list.txt", whole: true, cut: 2}} {
		web.cut, web.whole = how.cut, how.whole
		o := Options{Paths: []string{at + how.path}}
		got, bodies := from(t, places, o, Position{})
		require.Zero(t, web.cut, "%+v", how)
		require.Len(t, got, len(want), "%+v", how)
		for url, body := range wantBodies {
			require.True(t, body == bodies[url], "%s of %+v", url, how)
		}
		for i, r := range got {
			require.Equal(t, want[i].At.Position, r.At.Position)
			rest, _ := from(t, places, o, r.At)
			require.Len(t, rest, len(got)-i)
		}
	}
	web.whole = false
	one, _ := from(t, places, Options{Paths: []string{at + "/get"}}, Position{})
	require.Len(t, one, len(want)-1, "told by its content")
	none, _ := from(t, places, Options{Paths: []string{at + "/empty.warc"}}, Position{})
	require.Len(t, none, 1)
	require.Equal(t, NoResource, none[0].Skip)

	for path, says := range map[string]string{"/notes.txt": "line 1 of", "/other.txt": "line 3 of", "/gone.warc.gz": "not-found"} {
		refused(t, places, Options{Paths: []string{at + path}}, ErrInput, says)
	}
	refused(t, source.Places{}, Options{Paths: []string{at + "/data/2005/a.warc.gz"}}, source.ErrRefused, "") // nobody is asked without a client
	refused(t, places, Options{Paths: []string{at + "/data/"}, Format: Mirror}, ErrInput, "")
	_, err := Open(t.Context(), places, Options{Paths: []string{"http://ada:secret@a.example/x.warc"}}, Position{})
	require.ErrorIs(t, err, ErrInput)
	require.NotContains(t, err.Error(), "secret")
}

// TestWebImport: an import from a web server comes to what one from this machine does,
// and what is gone or changed meanwhile has a named outcome and ends that file alone.
func TestWebImport(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	large := slices.Concat(s.crawl(), answer("http://a.example/big.bin", "Content-Type: application/octet-stream\r\n", noise(9<<20)), answer("http://a.example/8.pdf", "", s.pdf(8)))
	web := &site{files: map[string]string{"/a.warc.gz": string(large), "/b.warc.gz": string(answer("http://b.example/7.pdf", "", s.pdf(7))), "/list.txt": "a.warc.gz\ngone.warc.gz\nb.warc.gz\n"},
		tags: map[string]string{"/a.warc.gz": `"one"`}}
	at := web.serve(t)
	s.Places = source.Places{Asker: asker(t, nil)}
	web.cut = 3
	c, by := s.imported(Options{Paths: []string{at + "/list.txt"}, Blacklist: []string{"bad.example"}})
	require.Equal(t, SavedNew, by["http://a.example/8.pdf"].Outcome)
	require.Equal(t, SavedNew, by["http://b.example/7.pdf"].Outcome)
	require.EqualValues(t, 1, c.Skipped[Damaged], "the archive that is gone")
	require.Equal(t, 6, c.SavedNew)
	ranges := each.Count(web.asked, func(r string) bool { return strings.HasPrefix(r, "/a.warc.gz bytes=") })
	require.Greater(t, ranges, 3, "piece by piece: %v", web.asked)

	log := openAt(t, s.Places, Options{Paths: []string{at + "/list.txt"}}, Position{})
	first, second := next(t, log), next(t, log)
	web.tags["/a.warc.gz"] = `"two"`
	all := slices.Collect(rest(t, log))
	changed := slices.IndexFunc(all, func(r *Resource) bool { return r.Skip == Changed })
	require.GreaterOrEqual(t, changed, 0)
	require.Equal(t, "http://b.example/7.pdf", all[len(all)-1].URL, "the next one is read")
	require.NotContains(t, urlsOf(all), "http://a.example/8.pdf", "nothing of the other version")
	web.tags["/a.warc.gz"] = `"three"`
	all, _ = from(t, s.Places, Options{Paths: []string{at + "/list.txt"}}, second.At)
	require.Equal(t, Changed, all[0].Skip, "also where an import goes on later")
	require.Equal(t, second.At, all[0].At)
	require.Equal(t, `"one"`, first.At.Version)
}

func urlsOf(all []*Resource) []string { return each.Of(all, func(r *Resource) string { return r.URL }) }

// noise is what does not compress.
func noise(n int) string {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return string(b)
}

// TestWebManners: an import asks what robots.txt allows, at the host's pace and one
// thing at a time; an address that is not public, a host on the blacklist and a server
// that is away have the outcome that they have elsewhere.
func TestWebManners(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	web := &site{files: map[string]string{"/robots.txt": "User-agent: *\nDisallow: /private/", "/a.warc.gz": string(s.crawl()), "/private/a.warc.gz": string(s.crawl())}}
	at := web.serve(t)
	g := &turns{}
	places := source.Places{Asker: asker(t, func(c *fetch.Config) { c.Gate = g })}
	fails := func(path string, is error, says string) { refused(t, places, Options{Paths: []string{path}}, is, says) }
	fails(at+"/private/a.warc.gz", source.ErrRefused, "robots")
	require.Empty(t, web.asked)
	all, _ := from(t, places, Options{Paths: []string{at + "/a.warc.gz"}}, Position{})
	require.NotEmpty(t, all)
	require.Equal(t, len(web.asked)+1, g.taken, "a turn each, and one for robots.txt")
	require.Zero(t, g.together, "never two at a time")
	fails("http://10.1.2.3/a.warc.gz", source.ErrRefused, "10.1.2.3")
	fails("http://169.254.169.254/a.warc.gz", source.ErrRefused, "metadata")
	web.say = func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	fails(at+"/a.warc.gz", source.ErrAway, "busy")
	web.say = func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusForbidden); return true }
	fails(at+"/a.warc.gz", source.ErrRefused, "forbidden")
	places.Asker = asker(t, func(c *fetch.Config) {
		c.Blocked = func(context.Context, string) (string, error) { return "on the list", nil }
	})
	fails(at+"/a.warc.gz", source.ErrRefused, "on the list")
}

// turns is a gate that counts.
type turns struct {
	mu                     sync.Mutex
	taken, going, together int
}

func (g *turns) Turn(context.Context, string, time.Duration) (func(fetch.Visit), error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.taken++
	if g.going++; g.going > 1 {
		g.together++
	}
	return func(fetch.Visit) { g.mu.Lock(); g.going--; g.mu.Unlock() }, nil
}

// TestWebLies: a server that promises more than it gives, and one that has no end, come
// to an end.
func TestWebLies(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	crawl := string(s.crawl())
	web := &site{files: map[string]string{}}
	web.say = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			return false
		}
		var from, to int
		if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); n < 2 {
			to = len(crawl) - 1
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, len(crawl)+100))
		w.Header().Set("Content-Length", "0")
		if from < len(crawl) {
			w.Header().Del("Content-Length")
		}
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write([]byte(crawl[min(from, len(crawl)):min(to+1, len(crawl))]))
		return true
	}
	at := web.serve(t)
	places := source.Places{Asker: asker(t, nil)}
	all, _ := from(t, places, Options{Paths: []string{at + "/a.warc.gz"}}, Position{})
	last := all[len(all)-1]
	require.Equal(t, Damaged, last.Skip)
	require.Contains(t, last.Detail, "ends within")
	require.Len(t, all, 14, "all that is there is read")

	asked := 0
	web.say = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			return false
		}
		asked++
		for range 1 << 20 { // a list without an end, and without a size
			if _, err := w.Write([]byte(strings.Repeat("x", 1<<10))); err != nil {
				break
			}
		}
		return true
	}
	refused(t, places, Options{Paths: []string{at + "/list"}}, ErrInput, "")
	require.Less(t, asked, 10)
}
