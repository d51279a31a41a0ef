package ingest

import (
	"bytes"
	"encoding/xml"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/ingest/source"
)

// objects answers as much of S3 as reading asks for. It cuts the first answer with a
// body off in the middle, and answers nothing while it is away.
type objects struct {
	data map[string]string
	cut  atomic.Bool
	away atomic.Bool
}

func (o *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/crawls"), "/")
	body, is := o.data[key]
	switch {
	case o.away.Load():
		w.WriteHeader(http.StatusForbidden)
	case key == "":
		o.list(w, r.URL.Query().Get("prefix"))
	case !is:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet && len(body) > 1000 && o.cut.CompareAndSwap(false, true):
		w.Header().Set("Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT")
		w.Header().Set("Content-Length", "1000000")
		_, _ = w.Write([]byte(body[:len(body)/2]))
		panic(http.ErrAbortHandler)
	default:
		http.ServeContent(w, r, "", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), strings.NewReader(body))
	}
}

func (o *objects) list(w http.ResponseWriter, prefix string) {
	type object struct {
		Key, LastModified string
		Size              int
	}
	var out struct {
		XMLName     xml.Name `xml:"ListBucketResult"`
		IsTruncated bool
		Contents    []object
	}
	for _, key := range slices.Sorted(maps.Keys(o.data)) {
		if strings.HasPrefix(key, prefix) {
			out.Contents = append(out.Contents, object{key, "2026-01-02T03:04:05.000Z", len(o.data[key])})
		}
	}
	_ = xml.NewEncoder(w).Encode(out)
}

// TestBucket: archives and folders of a bucket are read as those of this machine are,
// from any of their resources on, also where an answer is cut off on its way; and what
// is away is not lost.
func TestBucket(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "mark-of-the-id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "mark-of-the-secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	s := newShop(t)
	o := &objects{data: map[string]string{"2005/a.warc.gz": string(s.crawl()), "2005/notes.txt": "no archive", "2005/b.warc.gz": string(answer("http://b.example/7.pdf", "", s.pdf(7))),
		"tr/1.pdf": s.pdf(1), "tr/2003/a b.pdf": s.pdf(2), "tree/3.pdf": s.pdf(3)}}
	srv := httptest.NewServer(o)
	t.Cleanup(srv.Close)
	where := func(prefix string) []string {
		return []string{"s3://crawls/" + prefix + "?region=us-east-1&use_path_style=true&endpoint=" + srv.URL}
	}
	local := s.lay("2005", map[string]string{"a.warc.gz": o.data["2005/a.warc.gz"], "b.warc.gz": o.data["2005/b.warc.gz"]})
	want, wantBodies := read(t, Options{Paths: []string{local}}, Position{})
	got, bodies := read(t, Options{Paths: where("2005/")}, Position{})
	require.True(t, o.cut.Load())
	require.Len(t, got, len(want))
	for url, body := range wantBodies {
		require.True(t, bytes.Equal([]byte(body), []byte(bodies[url])), url)
	}
	for i, r := range got {
		require.Equal(t, want[i].At.Position, r.At.Position)
		rest, _ := read(t, Options{Paths: where("2005/")}, r.At)
		require.Len(t, rest, len(got)-i)
	}
	one, _ := read(t, Options{Paths: where("2005/b.warc.gz")}, Position{})
	require.Len(t, one, 1)

	o.cut.Store(false)
	c, by := s.imported(Options{Paths: where("tr"), Format: Folder, URLs: "https://a.example/tr/{path}"})
	require.True(t, o.cut.Load())
	require.Equal(t, 2, c.SavedNew, "%v", by)
	require.Equal(t, SavedNew, by["https://a.example/tr/2003/a%20b.pdf"].Outcome)
	require.NotContains(t, by["https://a.example/tr/1.pdf"].Source, "endpoint")

	log, err := Open(t.Context(), Options{Paths: where("tr"), Format: Folder, URLs: "https://a.example/tr/{path}"}, Position{})
	require.NoError(t, err)
	defer log.Close()
	r, err := log.Next(t.Context())
	require.NoError(t, err)
	o.away.Store(true)
	_, err = r.Open()
	require.ErrorIs(t, err, source.ErrAway)
	require.ErrorIs(t, (&item{}).lost(err), source.ErrAway, "it is asked for again, and not given up")
	_, err = Open(t.Context(), Options{Paths: where("2005/")}, Position{})
	require.ErrorIs(t, err, source.ErrAway)
	for _, text := range []string{err.Error(), r.Source} {
		require.NotContains(t, text, "mark-of-the")
	}
	_, err = Open(t.Context(), Options{Paths: []string{"s3://id:mark-of-the-secret@crawls/x"}}, Position{})
	require.ErrorIs(t, err, ErrInput)
	require.NotContains(t, err.Error(), "mark-of-the")
}
