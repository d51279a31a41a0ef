package app

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/fetch"
	"gleaner/internal/service/config"
)

// TestClientsShareTheirMemory: while the crawl holds all that bodies may take, a
// large page for the search for homepages waits.
func TestClientsShareTheirMemory(t *testing.T) {
	sent := make(chan string, 2)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/paper.pdf":
			w.Header().Set("Content-Type", "application/pdf")
			_, _ = io.WriteString(w, "%PDF-1.4\n"+strings.Repeat("a", 12<<20))
		case "/page.html":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, strings.Repeat("a word ", 2<<20/7))
			sent <- r.URL.Path
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	cfg, err := config.Load(map[string]string{"data-dir": t.TempDir(), "database-url": devtest.Postgres(t), "contact": "test@example.org", "delay": "1ms", "min-delay": "0s",
		"search": "none", "proxy": "none", "allow-addresses": "127.0.0.1/32:" + s.URL[strings.LastIndexByte(s.URL, ':')+1:]}, os.DevNull, nil)
	require.NoError(t, err)
	had := debug.SetMemoryLimit(64 << 20)
	a, err := Open(t.Context(), cfg, Options{})
	debug.SetMemoryLimit(had)
	require.NoError(t, err)
	t.Cleanup(a.Close)
	held, err := a.Fetch.Fetch(t.Context(), fetch.Request{URL: s.URL + "/paper.pdf"})
	require.NoError(t, err)
	evidence, err := a.evidence()
	require.NoError(t, err)
	require.Same(t, a.memory, a.webConfig().Memory)
	got := make(chan error, 1)
	go func() {
		r, err := evidence.Fetch.Fetch(context.WithoutCancel(t.Context()), fetch.Request{URL: s.URL + "/page.html"})
		r.Release()
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(time.Second / 2): // it would have been there
	}
	held.Release()
	require.NoError(t, <-got)
	require.Equal(t, "/page.html", <-sent)
}
