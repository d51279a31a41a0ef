package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNewsToldAgainAreTheSame: what was not heard to arrive ends, told again, where it
// ended; what came since is the next news.
func TestNewsToldAgainAreTheSame(t *testing.T) {
	t.Parallel()
	db, _ := two(t)
	ctx := t.Context()
	first, err := db.News(ctx, "webhook", 0)
	require.NoError(t, err)
	require.NoError(t, db.Noticed(ctx, "webhook", first))
	sent, err := db.News(ctx, "webhook", 0)
	require.NoError(t, err)
	require.Equal(t, first.Until, sent.Since)
	again, err := db.News(ctx, "webhook", 0)
	require.NoError(t, err)
	require.Equal(t, sent.Until, again.Until)
	require.NoError(t, db.Noticed(ctx, "webhook", again))
	next, err := db.News(ctx, "webhook", 0)
	require.NoError(t, err)
	require.Equal(t, sent.Until, next.Since)
	require.True(t, next.Until.After(next.Since))
}
