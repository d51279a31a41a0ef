package fetch

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
)

// A worker that is told to stop finishes the request that it sent; one whose
// lease was lost, or whose patience ends, does not.
func TestRequestUnderWayIsFinished(t *testing.T) {
	t.Parallel()
	lost := errors.New("another asks this host now")
	for name, c := range map[string]struct {
		grace time.Duration
		cause error
		done  bool
	}{
		"told to stop":           {time.Minute, nil, true},
		"told to stop, too slow": {time.Millisecond, nil, false},
		"no grace":               {0, nil, false},
		"lost the lease":         {time.Minute, lost, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			half := make(chan struct{})
			s := site(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = w.Write([]byte("one half, "))
				_ = http.NewResponseController(w).Flush()
				cancel(c.cause)
				if !c.done {
					<-r.Context().Done() // the client goes away
					return
				}
				close(half)
				_, _ = w.Write([]byte("and the other"))
			})
			client := testClient(t, func(cfg *Config) { cfg.Linger = c.grace })
			resp, err := client.Fetch(ctx, Request{URL: s.URL + "/"})
			if !c.done {
				require.Equal(t, Canceled, OutcomeOf(err), "%v", err)
				return
			}
			require.NoError(t, err)
			<-half
			require.Equal(t, "one half, and the other", string(resp.Body))
			_, err = client.Fetch(ctx, Request{URL: s.URL + "/again"})
			require.Equal(t, Canceled, OutcomeOf(err), "nothing new is sent")
		})
	}
}

// keeper is a RobotsCache that, as a database, takes nothing of who was told to stop.
type keeper struct{ *memoryRobots }

func (k keeper) SaveRobots(ctx context.Context, host string, rec RobotsRecord) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return k.memoryRobots.SaveRobots(ctx, host, rec)
}

// What a host says in robots.txt to a worker that is told to stop meanwhile is kept: the
// next one does not ask again.
func TestRobotsOfWhoStopsAreKept(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s, asked := robotsSite(t, func(http.ResponseWriter, *http.Request) { cancel() })
	cache := keeper{newMemoryRobots(10)}
	fetch := func(ctx context.Context) error {
		client := testClient(t, func(cfg *Config) { cfg.Linger, cfg.Robots = time.Minute, cache })
		_, err := client.Fetch(ctx, Request{URL: s.URL + "/"})
		return err
	}
	require.Equal(t, Canceled, OutcomeOf(fetch(ctx)))
	require.NoError(t, fetch(t.Context()))
	require.EqualValues(t, 1, asked.Load())
}

// A chain of redirects in which the caller is told to stop is left where it leads to; one
// whose lease was lost is not.
func TestARedirectOfWhoStopsIsForLater(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]gleaner.Outcome{nil: RedirectKnown, errors.New("another asks this host now"): Canceled} {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := site(t, func(w http.ResponseWriter, r *http.Request) {
			cancel(cause)
			http.Redirect(w, r, "/to", http.StatusFound)
		})
		c := testClient(t, func(cfg *Config) { cfg.Linger = time.Minute })
		_, err := c.Fetch(ctx, Request{URL: s.URL + "/from", Known: func(string) bool { return false }})
		e := fetchError(t, err)
		require.Equal(t, want, e.Outcome)
		if cause == nil {
			require.Equal(t, s.URL+"/to", e.Location)
		}
	}
}

// TestALingeringRequestIsRevoked: a lease may run out while a worker that stops finishes
// a request.
func TestALingeringRequestIsRevoked(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancel(t.Context())
	turn, over := Revocable(stopped)
	defer over(nil)
	sending, end := Linger(turn, time.Minute)
	defer end()
	stop()
	require.NoError(t, sending.Err())
	lost := errors.New("another asks this host now")
	Revoke(turn, lost)
	require.ErrorIs(t, context.Cause(sending), lost)
}
