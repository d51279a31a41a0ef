package metadata

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
)

// reply is one canned answer.
type reply struct {
	status int // 0 is 200
	body   string
	header map[string]string
	err    error // no answer at all
}

// stub answers by the longest key that the URL contains; a list is used up from
// its begin, its last one stays.
type stub struct {
	t       testing.TB
	mu      sync.Mutex
	replies map[string][]reply
	asked   []string
	bodies  []string
	headers []http.Header
}

func (s *stub) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	addr := r.URL.String()
	s.asked = append(s.asked, addr)
	s.headers = append(s.headers, r.Header)
	body := ""
	if r.Body != nil {
		b, _ := io.ReadAll(r.Body)
		body = string(b)
	}
	s.bodies = append(s.bodies, body)
	best := ""
	for key := range s.replies {
		if strings.Contains(addr, key) && len(key) > len(best) {
			best = key
		}
	}
	if best == "" {
		return response(r, reply{status: 404, body: "<html>not found</html>"}), nil
	}
	list := s.replies[best]
	if len(list) > 1 {
		s.replies[best] = list[1:]
	}
	if list[0].err != nil {
		return nil, list[0].err
	}
	return response(r, list[0]), nil
}

func response(r *http.Request, a reply) *http.Response {
	if a.status == 0 {
		a.status = 200
	}
	h := http.Header{}
	for k, v := range a.header {
		h.Set(k, v)
	}
	return &http.Response{StatusCode: a.status, Header: h, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}
}

func (s *stub) count(part string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return each.Count(s.asked, func(a string) bool { return strings.Contains(a, part) })
}

// one is a list of a single answer.
func one(body string) []reply { return []reply{{body: body}} }

// as is an error of a type, which is required.
func as[E error](t testing.TB, err error) E {
	t.Helper()
	e, is := errors.AsType[E](err)
	require.True(t, is, "%T: %v", err, err)
	return e
}

// personPage is the page of a person in DBLP.
func personPage(pid, name string) string {
	return `<dblpperson name="` + name + `" pid="` + pid + `"><person key="homepages/` + pid + `"><author pid="` + pid + `">` + name + `</author></person></dblpperson>`
}

// stubConfig asks the stub, with next to no delays.
func stubConfig(t testing.TB, replies map[string][]reply) (Config, *stub) {
	t.Helper()
	s := &stub{t: t, replies: replies}
	ns := time.Nanosecond
	return Config{
		HTTPClient: &http.Client{Transport: s}, Backoff: ns, Contact: "librarian@library.example.org",
		Delays: Delays{ns, ns, ns, ns, ns, ns, ns, ns, ns},
	}, s
}
