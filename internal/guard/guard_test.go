package guard_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/guard"
)

func TestAPanicIsAnError(t *testing.T) {
	t.Parallel()
	boom := func() error { panic("boom") }
	require.True(t, guard.Panicked(guard.Run(boom)))
	require.True(t, guard.Panicked(guard.Logged(t.Context(), slog.New(slog.DiscardHandler), "a.pdf", boom)))
	other := errors.New("other")
	require.Equal(t, other, guard.Run(func() error { return other }))
	require.False(t, guard.Panicked(other))
	<-guard.Go(func() { panic("boom") })
	g, ctx := guard.WithContext(context.Background())
	g.Go(boom)
	require.True(t, guard.Panicked(g.Wait()))
	require.Error(t, ctx.Err())
}
