package repository_test

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/library/repository"
)

// objects answers as much of S3's REST interface as one bucket's driver asks
// for: put, head, get, list and delete, addressed by path.
type objects struct {
	mu   sync.Mutex
	data map[string][]byte
}

func (o *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/papers"), "/")
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case r.Method == http.MethodPut:
		body, err := s3Body(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		o.data[key] = body
	case r.Method == http.MethodDelete:
		delete(o.data, key)
		w.WriteHeader(http.StatusNoContent)
	case key == "":
		o.list(w, r.URL.Query().Get("prefix"))
	default:
		body, ok := o.data[key]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "<Error><Code>NoSuchKey</Code></Error>")
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Header().Set("Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT")
		if r.Method == http.MethodGet {
			_, _ = w.Write(body)
		}
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
	for key, body := range o.data {
		if strings.HasPrefix(key, prefix) {
			out.Contents = append(out.Contents, object{key, "2026-01-02T03:04:05.000Z", len(body)})
		}
	}
	slices.SortFunc(out.Contents, func(a, b object) int { return strings.Compare(a.Key, b.Key) })
	_ = xml.NewEncoder(w).Encode(out)
}

// s3Body undoes the chunked signing that clients use over plain HTTP.
func s3Body(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	in := bufio.NewReader(r.Body)
	var out []byte
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(size, 16, 64)
		if err != nil || n == 0 {
			return out, err
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(in, chunk); err != nil {
			return nil, err
		}
		out = append(out, chunk[:n]...)
	}
}

func TestS3(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	store := &objects{data: map[string][]byte{}}
	srv := httptest.NewServer(store)
	t.Cleanup(srv.Close)
	r := open(t, fmt.Sprintf("s3://papers?region=us-east-1&use_path_style=true&endpoint=%s&prefix=lib/", srv.URL))
	ctx := t.Context()

	d := devtest.Must(r.Put(ctx, []byte("%PDF-1.4 a document")))(t)
	assert.Equal(t, d, devtest.Must(r.Put(ctx, []byte("%PDF-1.4 a document")))(t))
	assert.Contains(t, store.data, "lib/"+repository.Path(d.SHA256))
	require.NoError(t, r.Check(ctx, d.SHA256))
	require.NoError(t, r.PutText(ctx, d.SHA256, "text"))
	text := devtest.Must(r.GetText(ctx, d.SHA256))(t)
	assert.Equal(t, "text", text)
	n := 0
	require.NoError(t, r.Walk(ctx, func(e repository.Entry) error {
		n++
		assert.Equal(t, d.SHA256, e.SHA256)
		assert.Equal(t, d.Size, e.Size)
		return nil
	}))
	assert.Equal(t, 1, n)
	require.NoError(t, r.Delete(ctx, d.SHA256))
	assert.Empty(t, store.data)
	_, err := r.Get(ctx, d.SHA256)
	require.ErrorIs(t, err, repository.ErrNotFound)
}

// TestACrawlFileIsPutAwayOnce: a crawl of another host that begins meanwhile does not take
// it for that of a dead one.
func TestACrawlFileIsPutAwayOnce(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	store := &objects{data: map[string][]byte{}}
	var r *repository.Repository
	var put atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPut && strings.Contains(req.URL.Path, "/warc/a.example/") && put.Add(1) == 1 {
			_, err := r.CrawlFile(t.Context(), "b.example", "a test")
			assert.NoError(t, err)
		}
		store.ServeHTTP(w, req)
	}))
	t.Cleanup(srv.Close)
	r = open(t, fmt.Sprintf("s3://papers?region=us-east-1&use_path_style=true&endpoint=%s", srv.URL))
	c := devtest.Must(r.CrawlFile(t.Context(), "a.example", "a test"))(t)
	require.NoError(t, c.Close(t.Context()))
	require.EqualValues(t, 1, put.Load())
}

// The secret key to a store is in no error and no log where the store refuses or
// answers nonsense; its id and the session's token are not either, unless the store
// repeats them as its message.
func TestS3KeysStaySecret(t *testing.T) {
	const id, secret, session = "mark-of-the-id", "mark-of-the-secret", "mark-of-the-session"
	t.Setenv("AWS_ACCESS_KEY_ID", id)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	t.Setenv("AWS_SESSION_TOKEN", session)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	var log bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))) // it takes what package log writes as well
	t.Cleanup(func() { slog.SetDefault(old) })
	asked := func(r *http.Request) string {
		return r.Header.Get("Authorization") + " " + r.Header.Get("X-Amz-Security-Token")
	}
	for name, answer := range map[string]http.HandlerFunc{
		"refuses": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>")
		},
		"repeats": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprintf(w, "<Error><Code>InvalidAccessKeyId</Code><Message>no such key %s</Message><AWSAccessKeyId>%s</AWSAccessKeyId></Error>", asked(r), id)
		},
		"broken": func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "<"+asked(r)) },
	} {
		t.Run(name, func(t *testing.T) {
			var met atomic.Value
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { met.Store(asked(r)); answer(w, r) }))
			srv.Config.ErrorLog = nil
			srv.Start()
			t.Cleanup(srv.Close)
			r := open(t, fmt.Sprintf("s3://papers?region=us-east-1&use_path_style=true&endpoint=%s", srv.URL))
			_, err1 := r.Put(t.Context(), []byte("%PDF-1.4 a document"))
			rd, err2 := r.Get(t.Context(), strings.Repeat("0", 64))
			if err2 == nil {
				require.NoError(t, rd.Close())
			}
			err3 := r.Walk(t.Context(), func(repository.Entry) error { return nil })
			require.Contains(t, met.Load(), session, "there was nothing to hide")
			require.Error(t, errors.Join(err1, err2, err3))
			said := fmt.Sprintf("%v %+v %v %+v %v %+v", err1, err1, err2, err2, err3, err3) + log.String()
			for _, err := range []error{err1, err2, err3} { // whoever tells them tells each of the chain
				for err != nil {
					said += err.Error()
					err = errors.Unwrap(err)
				}
			}
			for _, word := range []string{id, secret, session} {
				assert.NotContains(t, said, word)
			}
		})
	}
}

// TestS3RedirectsAreRefused: a store that sends its clients elsewhere sends nothing
// of them there, neither documents nor credentials.
func TestS3RedirectsAreRefused(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "session")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { elsewhere.Add(1); w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(other.Close)
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+r.URL.Path, status) }))
		t.Cleanup(srv.Close)
		r := open(t, fmt.Sprintf("s3://papers?region=us-east-1&use_path_style=true&endpoint=%s", srv.URL))
		_, err := r.Put(t.Context(), []byte("%PDF-1.4 a document"))
		require.Error(t, err, status)
		_, err = r.Get(t.Context(), strings.Repeat("0", 64))
		require.Error(t, err, status)
		require.Error(t, r.Walk(t.Context(), func(repository.Entry) error { return nil }), status)
	}
	require.Zero(t, elsewhere.Load())
}
