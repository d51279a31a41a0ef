package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
)

// TestAPIAsksByTheChain: an outside service is asked in turns and within limits,
// hears no question for robots.txt, and is read whatever its status.
func TestAPIAsksByTheChain(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	heard := func(what ...string) (before []string) {
		mu.Lock()
		defer mu.Unlock()
		before, asked = asked, append(asked[:len(asked):len(asked)], what...)
		return before
	}
	bomb := pack(t, "gzip", make([]byte, 4<<20))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		heard(r.Method + " " + r.URL.Path + " " + string(body))
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
		"bomb":       {path: "/bomb", outcome: Inflated, visit: Visit{Status: 200}},
		"dropped":    {path: "/dropped", outcome: ConnectFailure, visit: Visit{Failed: true}},
		"no use":     {path: "/a", use: unusable, visit: Visit{Status: 200, Failed: true}},
		"not so far": {path: "/never", ready: notYet, visit: Visit{Void: true}},
	} {
		before := len(heard())
		g := &recordingGate{}
		a := NewAPI(&http.Transport{}, g, time.Minute, 1<<20)
		r, err := http.NewRequestWithContext(context.Background(), c.method, s.URL+c.path+"?key=secret", strings.NewReader(c.body))
		require.NoError(t, err)
		got, err := a.Do(Call{Request: r, Delay: time.Second, Ready: func() error { return c.ready }, Use: func(*Answer) error { return c.use }})
		switch {
		case c.ready != nil:
			require.ErrorIs(t, err, notYet, name)
			require.Empty(t, heard()[before:], name)
		case c.use != nil:
			require.ErrorIs(t, err, unusable, name)
		case c.outcome != "":
			require.Equal(t, c.outcome, fetchError(t, err).Outcome, "%s: %v", name, err)
			require.NotContains(t, err.Error(), "secret", name)
		default:
			require.NoError(t, err, name)
			require.Equal(t, c.status, got.Status, name)
			require.Equal(t, c.want, string(got.Body), name)
			require.Equal(t, []string{r.Method + " " + c.path + " " + c.body}, heard()[before:], name)
		}
		require.Equal(t, []string{s.Listener.Addr().String()}, g.turns, name)
		require.Equal(t, []time.Duration{time.Second}, g.delays, name)
		require.Len(t, g.visits, 1, name)
		g.visits[0].Elapsed = 0
		require.Equal(t, c.visit, g.visits[0], name)
	}
}
