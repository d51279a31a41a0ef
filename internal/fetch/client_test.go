package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
)

// testClient is a client for servers of the test alone, with short limits and
// no pause between requests.
func testClient(t *testing.T, change func(*Config)) *Client {
	cfg := Config{
		AllowLoopback: true, Proxy: "none",
		Pacing: Pacing{Unpaced: true, BackoffBase: time.Millisecond, BackoffMax: time.Millisecond, ParkAfter: 1000},
		Limits: Limits{
			Dial: 5 * time.Second, TLS: 5 * time.Second, Header: 2 * time.Second, Total: 20 * time.Second,
			Idle: 2 * time.Second, Grace: 500 * time.Millisecond, MinRate: 1000,
			PageBytes: 64 << 10, DocumentBytes: 4 << 20, MediaBytes: 1 << 10,
		},
	}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// site serves pages without a robots.txt.
func site(t *testing.T, pages http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		pages(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func fetchError(t *testing.T, err error) *Error {
	var e *Error
	require.True(t, errors.As(err, &e), "not an *Error: %v", err)
	return e
}

// failure returns the error of a fetch that fails.
func failure(t *testing.T, c *Client, r Request) *Error {
	t.Helper()
	_, err := c.Fetch(t.Context(), r)
	return fetchError(t, err)
}

// outcome names how the fetch of a URL ends.
func outcome(c *Client, url string) gleaner.Outcome {
	_, err := c.Fetch(context.Background(), Request{URL: url})
	return OutcomeOf(err)
}

func mustFetch(t *testing.T, c *Client, r Request) *Response {
	resp, err := c.Fetch(t.Context(), r)
	require.NoError(t, err)
	return resp
}
