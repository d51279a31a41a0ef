package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
)

// TestAnswersOfServicesWaitForMemory: a large answer is held in the memory that the
// clients of a process share until it is released, or cannot be used.
func TestAnswersOfServicesWaitForMemory(t *testing.T) {
	t.Parallel()
	const size = 2 << 20
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/endless" {
			_, _ = w.Write(make([]byte, 3*size))
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = w.Write(make([]byte, size))
	}))
	t.Cleanup(s.Close)
	memory := NewMemory(3 * size * inUse)
	a := NewAPI(&http.Transport{}, nil, memory, time.Minute, 2*size)
	ask := func(ctx context.Context, path string, use func(*Answer) error) (*Answer, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
		require.NoError(t, err)
		return a.Do(Call{Request: r, Use: use})
	}
	free := func(n int64) bool {
		got := memory.bodies.all.TryAcquire(n)
		if got {
			memory.bodies.all.Release(n)
		}
		return got
	}
	unusable := errors.New("no use")
	for range 3 {
		got, err := ask(t.Context(), "/", func(*Answer) error { require.False(t, free(size*inUse+1)); return unusable })
		require.ErrorIs(t, err, unusable)
		got.Release()
		_, err = ask(t.Context(), "/endless", nil)
		require.Equal(t, TooLarge, fetchError(t, err).Outcome)
	}
	got, err := ask(t.Context(), "/", nil)
	require.NoError(t, err)
	require.False(t, free(size*inUse+1), "nothing is held for an answer")
	others, err := memory.Hold(t.Context(), "", size*inUse)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = ask(ctx, "/", nil)
	require.Equal(t, Canceled, fetchError(t, err).Outcome, "it did not wait")
	others()
	got.Release()
	got.Release()
	requireFree(t, memory)
}

// TestAPIAsksByTheChain: an outside service is asked in turns and within limits,
// gets no request for robots.txt, and is read whatever its status.
func TestAPIAsksByTheChain(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	requests := func(what ...string) (before []string) {
		mu.Lock()
		defer mu.Unlock()
		before, asked = asked, append(asked[:len(asked):len(asked)], what...)
		return before
	}
	bomb := pack(t, "gzip", make([]byte, 4<<20))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests(r.Method + " " + r.URL.Path + " " + string(body))
		switch r.URL.Path {
		case "/busy":
			w.Header().Set("Retry-After", "17")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "down until noon")
		case "/moved":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		case "/large":
			_, _ = w.Write(make([]byte, 2<<20))
		case "/dropped":
			panic(http.ErrAbortHandler)
		default:
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(pack(t, "gzip", []byte(`{"a":1}`)))
		}
	}))
	t.Cleanup(s.Close)
	unusable, notYet := errors.New("no use"), errors.New("not paid for")
	for name, c := range map[string]struct {
		method, path, body string
		ready              error
		use                error
		status             int
		want               string
		outcome            gleaner.Outcome
		visit              Visit
	}{
		"answer":     {path: "/a", status: 200, want: `{"a":1}`, visit: Visit{Status: 200}},
		"post":       {method: http.MethodPost, path: "/a", body: "{}", status: 200, want: `{"a":1}`, visit: Visit{Status: 200}},
		"busy":       {path: "/busy", status: 503, want: "down until noon", visit: Visit{Status: 503, Failed: true, RetryAfter: 17 * time.Second}},
		"moved":      {path: "/moved", status: 302, want: "<a href=\"/elsewhere\">Found</a>.\n\n", visit: Visit{Status: 302}},
		"bomb":       {path: "/bomb", outcome: Inflated, visit: Visit{Status: 200, Failed: true}},
		"too large":  {path: "/large", outcome: TooLarge, visit: Visit{Status: 200, Failed: true}},
		"dropped":    {path: "/dropped", outcome: ConnectFailure, visit: Visit{Failed: true}},
		"no use":     {path: "/a", use: unusable, visit: Visit{Status: 200, Failed: true}},
		"not so far": {path: "/never", ready: notYet, visit: Visit{Void: true}},
	} {
		before := len(requests())
		g := &recordingGate{}
		a := NewAPI(&http.Transport{}, g, nil, time.Minute, 1<<20)
		r, err := http.NewRequestWithContext(context.Background(), c.method, s.URL+c.path+"?key=secret", strings.NewReader(c.body))
		require.NoError(t, err)
		got, err := a.Do(Call{Request: r, Delay: time.Second, Ready: func() error { return c.ready }, Use: func(*Answer) error { return c.use }})
		switch {
		case c.ready != nil:
			require.ErrorIs(t, err, notYet, name)
			require.Empty(t, requests()[before:], name)
		case c.use != nil:
			require.ErrorIs(t, err, unusable, name)
		case c.outcome != "":
			require.Equal(t, c.outcome, fetchError(t, err).Outcome, "%s: %v", name, err)
			require.NotContains(t, err.Error(), "secret", name)
		default:
			require.NoError(t, err, name)
			require.Equal(t, c.status, got.Status, name)
			require.Equal(t, c.want, string(got.Body), name)
			require.Equal(t, []string{r.Method + " " + c.path + " " + c.body}, requests()[before:], name)
		}
		require.Equal(t, []string{s.Listener.Addr().String()}, g.turns, name)
		require.Equal(t, []time.Duration{time.Second}, g.delays, name)
		require.Len(t, g.visits, 1, name)
		g.visits[0].Elapsed = 0
		require.Equal(t, c.visit, g.visits[0], name)
	}
}
