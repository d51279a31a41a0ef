package app

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/fetch"
	"gleaner/internal/service/config"
)

// TestAFailingHostRests: whatever is set of retries, a host is left alone for ten
// seconds after a failure; for servers of one's own the floor of all pauses says less.
func TestAFailingHostRests(t *testing.T) {
	t.Parallel()
	after := func(retryBase time.Duration, change func(*config.Web)) time.Duration {
		cfg := config.Defaults()
		cfg.Policy.Crawl.RetryBase = retryBase
		change(&cfg.Web)
		wait, _, _ := pacing(cfg).After(fetch.Visit{Failed: true}, 0, 0)
		return wait
	}
	for _, base := range []time.Duration{time.Millisecond, 30 * time.Second} {
		require.Equal(t, 10*time.Second, after(base, func(*config.Web) {}), base)
	}
	require.Equal(t, 10*time.Second, after(time.Millisecond, func(w *config.Web) { w.MinDelay = time.Minute }))
	require.Less(t, after(time.Millisecond, func(w *config.Web) { w.MinDelay, w.Delay = 0, 0 }), time.Second)
}
