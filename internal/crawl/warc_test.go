package crawl

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gowarc "github.com/internetarchive/gowarc"
	"github.com/internetarchive/gowarc/cmd/warc/verify"
	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/record/store"
)

// kept is a record of a WARC file, as another program reads it.
type kept struct {
	kind, path string
	header     gowarc.Header
	block      string
}

// keptOf reads all files of a world in the order of their names, with the reader of
// the Internet Archive; its program finds each of them valid.
func (w *world) keptOf(t *testing.T, host string) (all []kept, files int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(w.files, "warc", "*", "*.warc.gz"))
	require.NoError(t, err)
	for _, name := range names {
		v, err := verify.ValidateWARCFile(name)
		require.NoError(t, err)
		require.True(t, v.Valid && v.AllRecordsRead, "%s: %+v", name, v)
		err = eachKept(t, name, func(k kept) {
			k.path = strings.TrimPrefix(k.path, "http://"+host)
			all = append(all, k)
		})
		require.ErrorIs(t, err, io.EOF)
	}
	return all, len(names)
}

// eachKept reads a file to its end, or as far as it goes.
func eachKept(t *testing.T, name string, do func(kept)) error {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	in, err := gowarc.NewReader(f)
	require.NoError(t, err)
	for {
		r, err := in.ReadRecord()
		if err != nil {
			return err
		}
		block, err := io.ReadAll(r.Content)
		require.NoError(t, err)
		require.NoError(t, r.Content.Close())
		require.Equal(t, "WARC/1.1", r.Version)
		do(kept{r.Header.Get("WARC-Type"), r.Header.Get("WARC-Target-URI"), r.Header, string(block)})
	}
}

// responsesIn counts the answers in the files of a blob store, also in those whose
// writer was killed, by address.
func responsesIn(t *testing.T, blobs string) map[string]int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(blobs, "warc", "*", "*.warc.gz*"))
	require.NoError(t, err)
	out := map[string]int{}
	for _, name := range names {
		_ = eachKept(t, name, func(k kept) {
			if k.kind == "response" || k.kind == "revisit" {
				out[k.path]++
			}
		})
	}
	return out
}

// about are the records of one address, by type.
func about(all []kept, path string) map[string]kept {
	out := map[string]kept{}
	for _, k := range all {
		if k.path == path {
			out[k.kind] = k
		}
	}
	return out
}

// exchanges is a site with an answer of each kind.
func exchanges() map[string]any {
	paper := "%PDF-1.4\n" + strings.Repeat("a long paper ", 200_000)
	return map[string]any{
		"/robots.txt": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /private/\n")
		},
		"/":              links("pubs.html", "old.html", "gone.html", "packed.html", "private/diary.html", "cut.pdf", "mute.html"),
		"/pubs.html":     links("p1.pdf", "copies/p1.pdf"),
		"/p1.pdf":        tagged("application/pdf", paper),
		"/copies/p1.pdf": tagged("application/pdf", paper),
		"/old.html":      redirect("new.html"),
		"/new.html":      links(),
		"/packed.html": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "text/html")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, links("hidden.pdf"))
			_ = z.Close()
		},
		"/hidden.pdf": "hidden",
		"/cut.pdf": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/pdf")
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "%PDF-1.4\nno more")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		},
		"/mute.html": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
}

// tagged is an answer with an ETag, to which a conditional request is answered.
func tagged(media, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", media)
		_, _ = io.WriteString(w, body)
	}
}

// TestWARC: what a crawl exchanges with a host is in WARC files, one a slice, that
// another program finds valid.
func TestWARC(t *testing.T) {
	t.Parallel()
	w, s := newWorld(t), serve(t, exchanges())
	w.cfg.SlicePages, w.cfg.MaxTries = 4, 1
	site := w.seed(t, s.host, "/", "/")
	w.wanted(t, "conf/b/2001", site, nil)
	storetest.Exec(t, w.db.Pool, `UPDATE harvests SET options='{"warc": true}'`) // the flag of a harvest
	w.finish(t, w.crawler(w.client), s.host)
	all, files := w.keptOf(t, s.host)
	require.Greater(t, files, 1, "a file a slice")
	open, err := filepath.Glob(filepath.Join(w.files, "warc", "*", "*.open"))
	require.NoError(t, err)
	require.Empty(t, open)

	sent := map[string]int{}
	for _, k := range all {
		if strings.HasPrefix(k.block, "outcome: ") {
			require.Equal(t, "/mute.html", k.path)
			require.Equal(t, "outcome: connect-failure\r\nvia: http://"+s.host+"/\r\nhopsFromSeed: L\r\n", k.block)
			sent[k.path]++
		}
		if k.kind == "request" {
			sent[k.path]++
			require.True(t, strings.HasPrefix(k.block, "GET "+k.path+" HTTP/1.1\r\nHost: "+s.host+"\r\n"), k.block)
			require.Contains(t, k.block, "User-Agent: Gleaner")
		}
	}
	delete(sent, "/robots.txt")
	require.Equal(t, s.asked(), sent, "each request is there, and nothing else")

	page := about(all, "/pubs.html")
	require.Equal(t, page["response"].header.Get("WARC-Record-ID"), page["request"].header.Get("WARC-Concurrent-To"))
	require.Equal(t, "127.0.0.1", page["response"].header.Get("WARC-IP-Address"))
	require.Equal(t, "via: http://"+s.host+"/\r\nhopsFromSeed: L\r\n", page["metadata"].block)
	require.Contains(t, page["response"].block, `href="p1.pdf"`)
	require.Contains(t, about(all, "/robots.txt")["response"].block, "Disallow: /private/")
	require.Empty(t, about(all, "/private/diary.html"), "nobody asked for it")
	require.Contains(t, about(all, "/gone.html")["response"].block, "404 page not found")
	require.Contains(t, about(all, "/old.html")["response"].block, "Location: /new.html")
	require.Equal(t, "via: http://"+s.host+"/old.html\r\nhopsFromSeed: L\r\n", about(all, "/new.html")["metadata"].block)

	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(about(all, "/packed.html")["response"].block)), nil)
	require.NoError(t, err)
	require.Equal(t, "gzip", res.Header.Get("Content-Encoding"), "as it came")
	z, err := gzip.NewReader(res.Body)
	require.NoError(t, err)
	plain, err := io.ReadAll(z)
	require.NoError(t, err)
	require.Equal(t, links("hidden.pdf"), string(plain))

	cut := about(all, "/cut.pdf")["response"]
	require.Equal(t, "disconnect", cut.header.Get("WARC-Truncated"))
	require.True(t, strings.HasSuffix(cut.block, "Content-Length: 16\r\n\r\n%PDF-1.4\nno more"), cut.block)
	require.Contains(t, cut.block, "X-Archive-Orig-Content-Length: 1000")
}

// TestWARCOfWhatWasAsBefore: a payload that comes twice in a slice is there once, and
// so is one of which the server says that it has not changed.
func TestWARCOfWhatWasAsBefore(t *testing.T) {
	t.Parallel()
	w, s := newWorld(t), serve(t, exchanges())
	w.cfg.WARC, w.cfg.MaxTries = true, 1
	w.seed(t, s.host, "/", "/")
	w.finish(t, w.crawler(w.client), s.host)
	all, _ := w.keptOf(t, s.host)
	first, again := about(all, "/p1.pdf"), about(all, "/copies/p1.pdf")
	if first["revisit"].kind != "" {
		first, again = again, first
	}
	require.Equal(t, "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest", again["revisit"].header.Get("WARC-Profile"))
	require.Equal(t, first["response"].header.Get("WARC-Record-ID"), again["revisit"].header.Get("WARC-Refers-To"))
	require.Equal(t, first["response"].header.Get("WARC-Target-URI"), again["revisit"].header.Get("WARC-Refers-To-Target-URI"))
	require.Equal(t, first["response"].header.Get("WARC-Payload-Digest"), again["revisit"].header.Get("WARC-Payload-Digest"))
	require.Greater(t, len(first["response"].block), 2_600_000, "of a file in a file, too")

	w.cfg.WARC = false
	for _, wants := range []bool{true, false} {
		require.NoError(t, os.RemoveAll(filepath.Join(w.files, "warc")))
		require.NoError(t, w.db.FinishCrawl(t.Context(), s.host, store.CrawlEnd{State: "done"}, w.cfg.Recrawl))
		n, err := w.db.RequeueDue(t.Context(), s.host, store.PutBack{All: true, WARC: wants, For: "recrawl/due"}, w.cfg.Recrawl)
		require.NoError(t, err)
		require.Positive(t, n)
		w.finish(t, w.crawler(w.client), s.host)
		all, files := w.keptOf(t, s.host)
		if !wants {
			require.Zero(t, files, "the recrawl that wanted them has ended")
			break
		}
		same := about(all, "/p1.pdf")["revisit"]
		require.Equal(t, "http://netpreserve.org/warc/1.1/revisit/server-not-modified", same.header.Get("WARC-Profile"))
		require.True(t, strings.HasPrefix(same.block, "HTTP/1.1 304 Not Modified\r\n"), same.block)
	}
}
