package fetch

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowGate lets something happen while a turn is waited for.
type slowGate struct {
	while func()
	ended []Visit
}

func (g *slowGate) Turn(context.Context, string, time.Duration) (func(Visit), error) {
	g.while()
	return func(v Visit) { g.ended = append(g.ended, v) }, nil
}

// TestWhatAnotherFetchedMeanwhileIsNotAsked: while a host's turn is waited for,
// another process may have had it for the same URL.
func TestWhatAnotherFetchedMeanwhileIsNotAsked(t *testing.T) {
	t.Parallel()
	asked := 0
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte("a page"))
	})
	fetched, turns := false, 0
	g := &slowGate{while: func() { turns++; fetched = turns == 2 }} // the first is for robots.txt
	c := testClient(t, func(cfg *Config) { cfg.Gate = g })
	req := Request{URL: s.URL + "/", Meanwhile: func(string) bool { return fetched }}
	e := failure(t, c, req)
	require.Equal(t, RedirectKnown, e.Outcome)
	require.Equal(t, req.URL, e.Location)
	require.Zero(t, asked)
	require.Len(t, g.ended, 2)
	require.Equal(t, Visit{Void: true}, g.ended[1], "the turn counts for nothing")
	mustFetch(t, c, req)
	require.Equal(t, 1, asked)
}
