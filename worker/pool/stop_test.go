package pool_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/record/store"
	"gleaner/internal/service/telemetry"
	"gleaner/worker/pool"
)

// log is what a worker logs.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// TestAWorkerSaysThatItStops, and calls nothing a failure that it hands over.
func TestAWorkerSaysThatItStops(t *testing.T) {
	devtest.Soak(t, "TestHarvest stops a worker")
	t.Parallel()
	w := newWorld(t)
	l := &log{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- pool.Run(ctx, w.cfg, pool.Options{Cores: 2, Log: telemetry.Logger(l, "info")}) }()
	h := w.harvest(t)
	w.until(t, h, func(c store.Counts) bool { return c.Pages >= 2 })
	stop()
	require.NoError(t, <-done)
	said := l.text.String()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(said)
		}
	})
	_, after, ok := strings.Cut(said, "msg=\"stopping: ")
	require.True(t, ok)
	require.Contains(t, after, "msg=stopped")
	require.NotContains(t, after, "level="+slog.LevelWarn.String())
	require.NotContains(t, after, "level="+slog.LevelError.String())
}
