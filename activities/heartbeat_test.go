package activities

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStandingStillEnds an attempt, however long it has come on before; the error of one
// that ended otherwise is its own.
func TestStandingStillEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, moved, stop := moving(t.Context())
		defer stop()
		beat, _, over := heartbeats[int](ctx)
		defer over()
		for range 10 {
			time.Sleep(Still - time.Second)
			moved()
		}
		other := errors.New("another")
		require.NoError(t, beat.Err())
		require.ErrorIs(t, stood(ctx, other), other)
		<-beat.Done()
		require.ErrorIs(t, stood(ctx, context.Cause(beat)), errStill)
		require.NoError(t, stood(ctx, nil))
	})
}

// TestManySlicesHeartbeatSeldom: the Temporal server writes each heartbeat, so a process that
// crawls thousands of hosts sends no more than one of hundreds does, while each may be silent
// for so long.
func TestManySlicesHeartbeatSeldom(t *testing.T) {
	t.Parallel()
	for of, want := range map[int64]time.Duration{1: crawlBeat, 90: crawlBeat, 200: 40 * time.Second, 4000: 90 * time.Second} {
		require.Equal(t, want, beatEvery(CrawlSilence, of), of)
		require.Equal(t, Beat, beatEvery(Silence, of), of)
	}
}
