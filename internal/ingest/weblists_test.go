package ingest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/ingest/source"
	"gleaner/internal/lab/packtest"
)

// TestUnsteadyETag: a server whose ETag, and whose Last-Modified, is another in each answer
// has not changed its file with each: its list and its archive are read, in parts where
// size and time tell that they are of one version, and from any resource on.
func TestUnsteadyETag(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	crawl := slices.Concat(s.crawl(), answer("http://a.example/big.bin", "Content-Type: application/octet-stream\r\n", noise(9<<20)), answer("http://a.example/8.pdf", "", s.pdf(8)))
	for _, undated := range []bool{false, true} {
		web := &site{files: map[string]string{"/a.warc.gz": string(crawl), "/list.txt": "a.warc.gz\n"}}
		asked, parts := 0, 0
		web.say = func(w http.ResponseWriter, r *http.Request) bool {
			asked++
			tag := fmt.Sprintf(`"%d"`, asked)
			if match := r.Header.Get("If-Match"); match != "" && match != tag {
				w.WriteHeader(http.StatusPreconditionFailed)
				return true
			}
			body, is := web.files[r.URL.Path]
			if !is {
				return false
			}
			if spec := r.Header.Get("Range"); spec != "" && spec != "bytes=0-0" {
				parts++
			}
			at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			if undated {
				at = at.Add(time.Duration(asked) * time.Second)
			}
			w.Header().Set("ETag", tag)
			http.ServeContent(w, r, "", at, strings.NewReader(body))
			return true
		}
		places := source.Places{Asker: asker(t, nil)}
		o := Options{Paths: []string{web.serve(t) + "/list.txt"}}
		all, bodies := from(t, places, o, Position{})
		require.Equal(t, s.pdf(8), bodies["http://a.example/8.pdf"])
		require.Equal(t, undated, parts == 0, "%d parts", parts)
		for _, r := range all {
			require.NotContains(t, []string{Changed, Damaged}, r.Skip, r.Detail)
		}
		rest, _ := from(t, places, o, all[len(all)-1].At)
		require.Equal(t, []string{"http://a.example/8.pdf"}, urlsOf(rest))
	}
}

// TestLongETag: what a server says of a file is kept of each file of a list, and in each
// position: an ETag that is a text is not.
func TestLongETag(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	web := &site{files: map[string]string{"/a.warc.gz": string(s.crawl())}, tags: map[string]string{"/a.warc.gz": `"` + strings.Repeat("x", 100<<10) + `"`}}
	all, _ := from(t, source.Places{Asker: asker(t, nil)}, Options{Paths: []string{web.serve(t) + "/a.warc.gz"}}, Position{})
	require.Len(t, all, 13)
	require.Less(t, len(all[0].At.Version), 100)
}

// TestAListCannotFloodAHost: nothing more is asked of a host of others that a list names once ten of its
// archives in a row are not there, and what cannot be opened does not fill the record.
func TestAListCannotFloodAHost(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Places = source.Places{Asker: asker(t, nil)}
	victim := &site{}
	list, other := "", victim.serve(t)
	for i := range freeResources + 10 {
		list += fmt.Sprintf("%d.warc.gz\n%s/%d.warc.gz\n", i, other, i)
	}
	web := &site{files: map[string]string{"/list.txt": list + "a.warc.gz\n", "/a.warc.gz": string(dns("a.example"))}}
	c, by := s.imported(Options{Paths: []string{web.serve(t) + "/list.txt"}})
	require.Len(t, victim.asked, mostInVain)
	require.Equal(t, map[string]int64{"dns": 1, Damaged: freeResources}, c.Skipped)
	require.Contains(t, by, "dns:a.example")
}

// TestListsThatAreTooLong: a list of archives that is cut would be an import of a part, of
// which nobody knows.
func TestListsThatAreTooLong(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	require.NoError(t, err)
	_, _ = z.Write([]byte("a.warc.gz\n"))
	filler := bytes.Repeat([]byte("#"+strings.Repeat("-", 1022)+"\n"), 1<<10)
	for range 256 {
		_, _ = z.Write(filler)
	}
	require.NoError(t, z.Close())
	var links strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&links, `<a href="%d.warc.gz">a</a>`, i)
	}
	web := &site{files: map[string]string{"/list.gz": packed.String(), "/page.html": `<html><a href="a.warc.gz">a</a>` + strings.Repeat("<p>text</p>", 500_000), "/links.html": "<html>" + links.String()}}
	at := web.serve(t)
	for path, says := range map[string]string{"/list.gz": "256 MiB, and 1 archives are named", "/page.html": "4 MiB", "/links.html": "20000 of which are of archives"} {
		refused(t, source.Places{Asker: asker(t, nil)}, Options{Paths: []string{at + path}}, ErrInput, says)
	}
}

// TestLocalList: a list of archives on this machine is read as one of a web server is.
func TestLocalList(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.write("b.warc.gz", answer("http://a.example/1.pdf", "", s.pdf(1)))
	c, _ := s.imported(Options{Paths: []string{s.write("warc.paths.gz", packtest.Gzip("b.warc.gz\n\n# none\n"))}})
	require.Equal(t, 1, c.SavedNew)
	require.EqualValues(t, 1, c.Archives)
	for _, wrong := range []string{"notes\n", "none.warc.gz\n", "https://a.example/x.warc.gz\n"} {
		refused(t, source.Places{}, Options{Paths: []string{s.write("list.txt", []byte(wrong))}}, ErrInput, "")
	}
}

// TestListOfLists: a list names no list, an archive that it names twice is one, and whoever
// is told to stop reads none.
func TestListOfLists(t *testing.T) {
	t.Parallel()
	dir := lay(t, t.TempDir(), map[string]string{"a.warc": "", "b.warc.txt": "a.warc\n", "lists.txt": "b.warc.txt\n", "twice.txt": "a.warc\n./a.warc\n"})
	a := &archives{}
	files, err := a.at(t.Context(), filepath.Join(dir, "twice.txt"))
	assert.NoError(t, err)
	assert.Len(t, files, 1)
	_, err = a.at(t.Context(), filepath.Join(dir, "lists.txt"))
	assert.ErrorIs(t, err, ErrInput)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err = a.at(ctx, filepath.Join(dir, "twice.txt"))
	assert.ErrorIs(t, err, context.Canceled)
}
