package app

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/config"
	"gleaner/internal/fetch"
)

// TestAFailingHostRests: whatever is set of retries, a host is left alone for ten
// seconds after a failure; for servers of one's own the floor of all pauses says less.
func TestAFailingHostRests(t *testing.T) {
	t.Parallel()
	after := func(set map[string]string) time.Duration {
		cfg, err := config.Load(set, os.DevNull, func(string) string { return "" })
		require.NoError(t, err)
		wait, _, _ := pacing(cfg).After(fetch.Visit{Failed: true}, 0, 0)
		return wait
	}
	for _, base := range []string{"1ms", "30s"} {
		require.Equal(t, 10*time.Second, after(map[string]string{"retry-base": base}), base)
	}
	require.Equal(t, 10*time.Second, after(map[string]string{"retry-base": "1ms", "min-delay": "1m"}))
	require.Less(t, after(map[string]string{"retry-base": "1ms", "min-delay": "0s", "delay": "0s"}), time.Second)
}
