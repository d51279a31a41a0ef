package repository_test

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

	d, err := r.Put(ctx, []byte("%PDF-1.4 a document"))
	require.NoError(t, err)
	again, err := r.PutReader(ctx, strings.NewReader("%PDF-1.4 a document"))
	require.NoError(t, err)
	assert.Equal(t, d, again)
	assert.Contains(t, store.data, "lib/"+repository.Path(d.SHA256))
	require.NoError(t, r.Check(ctx, d.SHA256))
	require.NoError(t, r.PutText(ctx, d.SHA256, "text"))
	text, err := r.GetText(ctx, d.SHA256)
	require.NoError(t, err)
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
	_, err = r.Get(ctx, d.SHA256)
	require.ErrorIs(t, err, repository.ErrNotFound)
}
