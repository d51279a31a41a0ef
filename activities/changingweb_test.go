package activities_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-pdf/fpdf"
	"github.com/stretchr/testify/require"
)

// changingWeb stands before a web and changes single addresses of it: another
// body, or nothing there. It counts the bytes that it answers with.
type changingWeb struct {
	inner http.Handler

	mu       sync.Mutex
	bodies   map[string][]byte // nil: not there
	kinds    map[string]string
	modified map[string]time.Time
	bytes    int64
	requests int
}

func newChangingWeb(inner http.Handler) *changingWeb {
	return &changingWeb{inner: inner, bodies: map[string][]byte{}, kinds: map[string]string{}, modified: map[string]time.Time{}}
}

func (w *changingWeb) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	count := &counted{ResponseWriter: rw}
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.bytes += count.n
		w.requests++
	}()
	w.mu.Lock()
	body, ok := w.bodies[r.URL.String()]
	kind, at := w.kinds[r.URL.String()], w.modified[r.URL.String()]
	w.mu.Unlock()
	switch {
	case !ok:
		w.inner.ServeHTTP(count, r)
	case kind == movedKind:
		http.Redirect(count, r, string(body), http.StatusFound)
	case body == nil:
		http.NotFound(count, r)
	default:
		count.Header().Set("Content-Type", kind)
		http.ServeContent(count, r, "", at, bytes.NewReader(body))
	}
}

// movedKind is the kind of a body that is where the address redirects to.
const movedKind = "moved"

// set puts a body at an address; nil takes away what was there.
func (w *changingWeb) set(url, kind string, body []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bodies[url], w.kinds[url] = body, kind
	w.modified[url] = time.Now().Add(time.Duration(len(w.bodies))*time.Second - time.Hour)
}

// reset returns the bytes and requests since the last reset.
func (w *changingWeb) reset() (n int64, requests int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, requests = w.bytes, w.requests
	w.bytes, w.requests = 0, 0
	return n, requests
}

// get is what the web answers with now, uncounted.
func (w *changingWeb) get(t *testing.T, url string) []byte {
	t.Helper()
	w.mu.Lock()
	body, ok := w.bodies[url]
	w.mu.Unlock()
	if ok {
		return body
	}
	rec := httptest.NewRecorder()
	w.inner.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, url, http.NoBody))
	require.Equal(t, http.StatusOK, rec.Code, url)
	return rec.Body.Bytes()
}

type counted struct {
	http.ResponseWriter
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n += int64(n)
	return n, err
}

// paperPDF typesets a short paper; two of different salt differ in their bytes
// and their text.
func paperPDF(t *testing.T, title string, authors []string, salt int) []byte {
	t.Helper()
	doc := fpdf.New("P", "mm", "A4", "")
	doc.AddPage()
	write := func(size float64, s string) {
		doc.SetFont("Times", "", size)
		doc.MultiCell(0, size/2, doc.UnicodeTranslatorFromDescriptor("")(s), "", "L", false)
		doc.Ln(2)
	}
	write(16, title)
	for _, a := range authors {
		write(11, a)
	}
	write(12, "Abstract")
	write(10, fmt.Sprintf("In this paper we study the problem of its title and present revision %d of an algorithm. Experiments show that it is correct.", salt))
	for i, section := range []string{"1 Introduction", "2 Related Work", "3 Method", "4 Experiments", "5 Conclusion"} {
		write(12, section)
		for j := range 4 {
			write(10, fmt.Sprintf("We show in step %d.%d of this paper that our approach improves on earlier work [%d]. Figure %d shows the results on a benchmark.", i, j, j+1, j))
		}
	}
	write(12, "References")
	for i := range 8 {
		write(9, fmt.Sprintf("[%d] A. Writer and B. Reader. On the theory of example %d. In Proceedings of the Conference on Examples, pages %d-%d, 1999.", i+1, i, 10*i, 10*i+9))
	}
	var out bytes.Buffer
	require.NoError(t, doc.Output(&out))
	return out.Bytes()
}
