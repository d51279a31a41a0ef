package app_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
)

// TestAnEngineNamedTwiceIsAskedOnce: else each search would be paid for twice.
func TestAnEngineNamedTwiceIsAskedOnce(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(map[string]string{"data-dir": t.TempDir(), "database-url": devtest.Postgres(t), "contact": "test@example.org", "search": "brave,serper,brave", "brave-key": "k", "serper-key": "k"}, os.DevNull, nil)
	require.NoError(t, err)
	a, err := app.Open(t.Context(), cfg, app.Options{})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	require.Len(t, a.Search, 2)
}
