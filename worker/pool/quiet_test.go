package pool

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheSDKSaysAThingOnceAMinute(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	h := quiet(slog.New(slog.NewTextHandler(&out, nil))).Handler()
	began := time.Now()
	for i := range 100 {
		pollers := h.WithAttrs([]slog.Attr{slog.Int("worker", i%4)})
		require.NoError(t, pollers.Handle(context.Background(), slog.NewRecord(began.Add(time.Duration(i)*time.Second), slog.LevelWarn, "Failed to poll for task.", 0)))
	}
	require.NoError(t, h.Handle(context.Background(), slog.NewRecord(began, slog.LevelWarn, "another thing", 0)))
	require.Equal(t, 3, strings.Count(out.String(), "\n"), out.String())
	require.Contains(t, out.String(), "said_as_often_in_between=59")
}

// TestAFailureIsSaidOnce, at whatever level: what the SDK says of it, logActivities does.
func TestAFailureIsSaidOnce(t *testing.T) {
	t.Parallel()
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo} {
		var out strings.Builder
		sdk := quiet(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level})))
		sdk.Error("Activity error.", "error", "DBLP is out")
		require.Empty(t, out.String(), level)
		sdk.Error("another thing")
		require.NotEmpty(t, out.String(), level)
	}
}
