package crawl

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/fetch"
	"gleaner/internal/politeness"
)

// TestHostsThatPointAtEachOtherDoNotHoldEachOtherUp: two hosts say that their
// robots.txt lies on the other one. Each is held by a crawl that wants the other.
func TestHostsThatPointAtEachOtherDoNotHoldEachOtherUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pacing := fetch.Pacing{Unpaced: true, BackoffBase: time.Millisecond, BackoffMax: time.Millisecond, MaxBlock: 400 * time.Millisecond}
	w.keeper = politeness.NewKeeper(w.db.Pool, pacing, "test")
	var err error
	w.client, err = fetch.New(fetch.Config{AllowLoopback: true, Proxy: "none", Gate: w.keeper, Robots: politeness.NewRobots(w.db.Pool), Pacing: pacing})
	require.NoError(t, err)
	t.Cleanup(w.client.Close)

	var sites [2]*site
	var met sync.WaitGroup // both crawls hold their host when the first is answered
	met.Add(2)
	for i := range sites {
		first := sync.OnceFunc(func() { met.Done(); met.Wait() })
		sites[i] = serve(t, map[string]any{"/": links(), "/robots.txt": func(rw http.ResponseWriter, r *http.Request) {
			first()
			redirect("http://"+sites[1-i].host+"/robots.txt")(rw, r)
		}})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 2)
	for _, s := range sites {
		w.seed(t, s.host, "/", "/")
		c := w.crawler(w.client)
		go func() {
			_, err := c.Slice(ctx, s.host, func(Progress) {})
			ended <- err
		}()
	}
	for range sites {
		require.NoError(t, <-ended)
	}
	for _, s := range sites {
		require.Equal(t, Refused, w.finish(t, w.crawler(w.client), s.host).Ending)
	}
}
