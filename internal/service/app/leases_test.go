package app_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/fetch"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

// TestLeasesDoNotWaitBehindQueries: while every connection for queries is taken,
// leases are had, renewed and given back, and turns are taken.
func TestLeasesDoNotWaitBehindQueries(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(map[string]string{"data-dir": t.TempDir(), "database-url": devtest.Postgres(t), "contact": "test@example.org", "delay": "1ms", "min-delay": "0s", "search": "none"},
		os.DevNull, nil)
	require.NoError(t, err)
	a, err := app.Open(t.Context(), cfg, app.Options{})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	for range a.DB.Pool.Config().MaxConns {
		busy, err := a.DB.Pool.Acquire(t.Context())
		require.NoError(t, err)
		defer busy.Release()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l, err := a.Keeper.Acquire(ctx, "host.test")
	require.NoError(t, err)
	for range 3 {
		done, err := a.Keeper.Under(l).Turn(ctx, "host.test", 0)
		require.NoError(t, err)
		done(fetch.Visit{Status: 200})
		require.NoError(t, l.Renew(ctx))
	}
	require.NoError(t, l.Release(ctx))
	done, err := a.Keeper.Turn(ctx, "other.test", 0)
	require.NoError(t, err)
	done(fetch.Visit{Status: 200})
}
