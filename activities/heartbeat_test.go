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
