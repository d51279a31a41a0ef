package ingest

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/repository"
)

// TestViaOfARequest: the Via of a request names proxies, and no page that led there; its
// Referer does, as does the via of a metadata record.
func TestViaOfARequest(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	asked := func(url, head string) []byte {
		return record("request", url, "application/http; msgtype=request", "", "GET / HTTP/1.1\r\n"+head+"\r\n\r\n")
	}
	data := bytes.Join([][]byte{
		answer("http://a.example/1.pdf", "", "x"), asked("http://a.example/1.pdf", "Via: http://proxy.example/\r\nhopsFromSeed: L"),
		answer("http://a.example/2.pdf", "", "x"), asked("http://a.example/2.pdf", "Referer: http://a.example/list.html\r\nVia: http://proxy.example/"),
		record("metadata", "http://a.example/"+strings.Repeat("x", maxURL), "application/warc-fields", "", "via: http://a.example/\r\n"),
		answer("http://a.example/3.pdf", "", "x"), record("metadata", "http://a.example/3.pdf", "application/warc-fields", "", "via: http://a.example/\r\nReferer: http://b.example/\r\nhopsFromSeed: L\r\n"),
	}, nil)
	log := mustOpen(t, Options{Paths: []string{s.write("a.warc.gz", data)}})
	var all []*Resource
	for r := range rest(t, log) {
		all = append(all, r)
		require.Empty(t, log.(*archives).pending, "the provenance of so long a URL is not held")
	}
	require.Equal(t, "", all[0].Parent)
	require.Equal(t, -1, all[0].Depth)
	require.Equal(t, "http://a.example/list.html", all[1].Parent)
	require.Equal(t, "http://a.example/", all[2].Parent)
	require.Equal(t, 1, all[2].Depth)
}

// TestTheArchiveNamesAParent: the page that the archive says to have led to a document is
// its parent, though another one in it links to the document.
func TestTheArchiveNamesAParent(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const pdf = "http://a.example/papers/1.pdf"
	data := bytes.Join([][]byte{
		answer("http://a.example/", "Content-Type: text/html\r\n", listing), answer(pdf, "", s.pdf(1)),
		record("metadata", pdf, "application/warc-fields", "", "via: http://b.example/via.html\r\n"),
	}, nil)
	_, by := s.imported(Options{Paths: []string{s.write("a.warc.gz", data)}})
	require.Equal(t, "http://b.example/via.html", by[pdf].Parent)
	require.Equal(t, "http://b.example/via.html", s.place(by[pdf].SHA256).Parent)
}

// TestRevisitByDigestAlone: what an archive calls the same as before without saying where
// that was is the document of its SHA-1.
func TestRevisitByDigestAlone(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	pdf, html := s.pdf(1), string(s.pile.File(7, sampleweb.AsHTML))
	again := func(url, body string) []byte {
		return revisit(url, "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n"+digest(body))
	}
	data := bytes.Join([][]byte{
		answer("http://a.example/1.pdf", "", pdf), answer("http://a.example/7.html", "Content-Type: text/html\r\n", html),
		again("http://b.example/copy.pdf", pdf), again("http://b.example/other.pdf", s.pdf(2)),
	}, nil)
	_, by := s.imported(Options{Paths: []string{s.write("a.warc.gz", data)}})
	require.Equal(t, SavedNew, by["http://b.example/copy.pdf"].Outcome)
	require.Equal(t, by["http://a.example/1.pdf"].SHA256, by["http://b.example/copy.pdf"].SHA256)
	require.Contains(t, by["http://b.example/other.pdf"].Detail, NoEarlier)

	// A trial judges it once, and what is read for that is not what the archive unpacks to.
	twice := bytes.Join([][]byte{
		again("http://c.example/1.pdf", pdf), again("http://c.example/7.html", html),
		revisit("http://a.example/1.pdf", ""), revisit("http://a.example/7.html", ""),
	}, nil)
	w, err := s.begin(t.Context(), s.addImport(Options{Paths: []string{s.write("c.warc.gz", twice)}, Unrecorded: true}))
	require.NoError(t, err)
	defer w.close()
	for i := range 4 {
		r, err := w.read(t.Context())
		require.NoError(t, err)
		if i == 0 {
			unpacksOf(w.log).Store(0)
		}
		require.NoError(t, w.take(t.Context(), r))
		require.Equal(t, i > 1, w.items[0].as != nil)
		require.NoError(t, w.step(t.Context(), place{Position: r.At}))
	}
	require.Equal(t, 2, w.done.Counters.SavedNew)
	require.Equal(t, 2, w.done.Counters.SavedDuplicate)
	require.Zero(t, unpacksOf(w.log).Load())

	// Its file is read to be copied once, and not for what was as before: it may be as long as they are many.
	out := filepath.Join(s.dir, "out")
	for i, body := range []string{pdf, html} {
		sha := by[[]string{"http://a.example/1.pdf", "http://a.example/7.html"}[i]].SHA256
		for k, to := range []string{out, "", out} {
			url := fmt.Sprintf("http://%c.example/%d", 'c'+k, i)
			_, copies := s.imported(Options{Paths: []string{s.write("b.warc.gz", again(url, body))}, To: to})
			require.Equal(t, SavedNew, copies[url].Outcome, url)
			require.Equal(t, sha, copies[url].SHA256)
			if k == 0 {
				require.NoError(t, s.Repo.Delete(t.Context(), sha))
			}
		}
		require.FileExists(t, filepath.Join(out, repository.Path(sha)))
	}
}

// TestPlacedElsewhere: a document that lies at another place than the one that the log
// promises is a difference.
func TestPlacedElsewhere(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := context.Background()
	pdf := s.pdf(1)
	zip := string(s.pile.File(2, sampleweb.AsGzip))
	data := bytes.Join([][]byte{answer("http://a.example/1.pdf", "", pdf), answer("http://b.example/1.pdf", "", pdf), answer("http://a.example/2.ps.gz", "", zip)}, nil)
	run := s.addImport(Options{Paths: []string{s.write("a.warc.gz", data)}})
	_, err := s.Import(ctx, run, time.Hour, func(Progress) {})
	require.NoError(t, err)
	storetest.Exec(t, s.DB.Pool, `DELETE FROM locations WHERE url='http://b.example/1.pdf'`)
	c, by := s.finish(run)
	require.EqualValues(t, 1, c.Differences)
	require.Equal(t, noPlace, by["http://b.example/1.pdf"].Difference)
}
