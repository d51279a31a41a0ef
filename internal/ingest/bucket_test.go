package ingest

import (
	"bytes"
	"encoding/xml"
	"fmt"
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
	code string // with which it refuses everything; "" for not
	loop string // how its listing goes on for ever: "again" or "empty"

	lists atomic.Int64      // how often it was asked for a listing
	after map[string]string // behind which keys listings were asked for, by prefix
}

func (o *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/crawls"), "/")
	body, is := o.data[key]
	switch {
	case o.away.Load():
		w.WriteHeader(http.StatusForbidden)
	case o.code != "":
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte("<Error><Code>" + o.code + "</Code><Message>no</Message></Error>"))
	case key == "":
		o.lists.Add(1)
		o.list(w, r.URL.Query().Get("prefix"), r.URL.Query().Get("start-after"))
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

func (o *objects) list(w http.ResponseWriter, prefix, after string) {
	type object struct {
		Key, LastModified string
		Size              int
	}
	var out struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []object
	}
	if o.loop != "" {
		out.IsTruncated, out.NextContinuationToken = true, "the same"
	}
	if o.after != nil {
		o.after[prefix] = after
	}
	for _, key := range slices.Sorted(maps.Keys(o.data)) {
		if strings.HasPrefix(key, prefix) && key > after && o.loop != "empty" {
			out.Contents = append(out.Contents, object{key, "2026-01-02T03:04:05.000Z", len(o.data[key])})
		}
	}
	_ = xml.NewEncoder(w).Encode(out)
}

func withKeys(t *testing.T) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "mark-of-the-id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "mark-of-the-secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

// at serves the objects, and says where they are.
func (o *objects) at(t *testing.T) func(prefix string) []string {
	t.Helper()
	srv := httptest.NewServer(o)
	t.Cleanup(srv.Close)
	return func(prefix string) []string {
		return []string{"s3://crawls/" + prefix + "?region=us-east-1&use_path_style=true&endpoint=" + srv.URL}
	}
}

// TestRefusedBucket: who is refused by a bucket, or has no credentials, is told so at
// once. An import that had begun waits until they are put right, and goes on then.
func TestRefusedBucket(t *testing.T) {
	withKeys(t)
	s := newShop(t)
	o := &objects{data: map[string]string{}}
	for i := range stepDocuments + 5 {
		o.data[fmt.Sprintf("tr/%02d.pdf", i)] = s.pdf(i % 3)
	}
	where := o.at(t)
	for _, options := range []Options{{Paths: where("tr/")}, {Paths: where("tr"), Format: Folder, URLs: "https://a.example/tr/{path}"}} {
		run := s.addImport(options)
		for _, o.code = range []string{"InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied", "NoSuchBucket"} {
			_, err := s.Import(t.Context(), run, time.Hour, func(Progress) {})
			require.ErrorIs(t, err, ErrInput, o.code)
			require.ErrorContains(t, err, o.code)
		}
		t.Run("no credentials", func(t *testing.T) {
			for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
				t.Setenv(name, "")
			}
			t.Setenv("AWS_CONFIG_FILE", "/dev/null")
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
			_, err := s.Import(t.Context(), run, time.Hour, func(Progress) {})
			require.ErrorIs(t, err, ErrInput)
			require.ErrorContains(t, err, "credentials")
		})
		o.code = ""
		if options.Format == "" {
			continue // there are no archives
		}
		p, _ := s.Import(t.Context(), run, 0, func(Progress) { o.code = "InvalidAccessKeyId" })
		require.Positive(t, p.Done)
		_, err := s.Import(t.Context(), run, time.Hour, func(Progress) {})
		require.Error(t, err)
		require.NotErrorIs(t, err, ErrInput, "it has begun: nothing of it is lost")
		o.code = ""
		p, err = s.Import(t.Context(), run, time.Hour, func(Progress) {})
		require.NoError(t, err)
		require.EqualValues(t, len(o.data), p.Counters.All)
		require.Zero(t, p.Counters.FailedFileNotFound)
	}
}

// TestListingWithoutEnd: a bucket whose listing comes again and again, or says nothing
// and promises more, is given up after a few questions.
func TestListingWithoutEnd(t *testing.T) {
	withKeys(t)
	for _, loop := range []string{"again", "empty"} {
		o := &objects{data: map[string]string{"tr/1.warc": "no archive", "tr/2.pdf": "no paper"}, loop: loop}
		where := o.at(t)
		refused(t, source.Places{}, Options{Paths: where("tr/")}, ErrInput, "")
		require.Less(t, o.lists.Load(), int64(200))
		log := mustOpen(t, Options{Paths: where("tr"), Format: Folder, URLs: "https://a.example/tr/{path}"})
		var err error
		for err == nil {
			_, err = log.Next(t.Context())
		}
		require.ErrorIs(t, err, ErrInput)
	}
}

// TestListingFromWhereItWas: who goes on in a bucket does not list what is done.
func TestListingFromWhereItWas(t *testing.T) {
	withKeys(t)
	o := &objects{data: map[string]string{"tr/1.pdf": "a", "tr/22.pdf": "b", "tr/3é": "c", "tr/3.pdf": "d"}, after: map[string]string{}}
	options := Options{Paths: o.at(t)("tr"), Format: Folder, URLs: "https://a.example/tr/{path}"}
	names := func(from Position) (all []Position) {
		for r := range rest(t, openAt(t, source.Places{}, options, from)) {
			all = append(all, r.At)
		}
		return all
	}
	all := names(Position{})
	require.Len(t, all, 4)
	for i, at := range all {
		require.Equal(t, all[i:], names(at))
	}
	require.Equal(t, "tr/3", o.after["tr/"], "which comes before the last one, 3é")
}

// TestBucket: archives and folders of a bucket are read as those of this machine are,
// from any of their resources on, also where an answer is cut off on its way; and what
// is away is not lost.
func TestBucket(t *testing.T) {
	withKeys(t)
	s := newShop(t)
	o := &objects{data: map[string]string{"2005/a.warc.gz": string(s.crawl()), "2005/notes.txt": "no archive", "2005/b.warc.gz": string(answer("http://b.example/7.pdf", "", s.pdf(7))),
		"tr/1.pdf": s.pdf(1), "tr/2003/a b.pdf": s.pdf(2), "tree/3.pdf": s.pdf(3)}}
	where := o.at(t)
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

	log := mustOpen(t, Options{Paths: where("tr"), Format: Folder, URLs: "https://a.example/tr/{path}"})
	r := next(t, log)
	o.away.Store(true)
	_, err := r.Open()
	require.ErrorIs(t, err, source.ErrAway)
	require.ErrorIs(t, (&item{}).lost(err), source.ErrAway, "it is asked for again, and not given up")
	_, err = Open(t.Context(), source.Places{}, Options{Paths: where("2005/")}, Position{})
	require.ErrorIs(t, err, source.ErrAway)
	for _, text := range []string{err.Error(), r.Source} {
		require.NotContains(t, text, "mark-of-the")
	}
	_, err = Open(t.Context(), source.Places{}, Options{Paths: []string{"s3://id:mark-of-the-secret@crawls/x"}}, Position{})
	require.ErrorIs(t, err, ErrInput)
	require.NotContains(t, err.Error(), "mark-of-the")
}
