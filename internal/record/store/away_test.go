package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/record/store"
)

// TestAServerThatDiesIsAway: whatever was asked of it, and whether it said that it
// goes or its connections just ended, nobody is told that his question was wrong.
func TestAServerThatDiesIsAway(t *testing.T) {
	t.Parallel()
	dsn := devtest.Postgres(t)
	other := storetest.At(t, dsn, 2)
	waits := func(t *testing.T) {
		blocked(t, other, 1)
	}
	for name, end := range map[string]func(*testing.T, func()){
		"it says that it stops": func(t *testing.T, _ func()) {
			storetest.Exec(t, other.Pool, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname=current_database() AND wait_event_type='Lock'`)
		},
		"it is killed": func(_ *testing.T, cut func()) { cut() },
	} {
		t.Run(name, func(t *testing.T) {
			through, line := devtest.Lay(t, dsn)
			db := storetest.At(t, through, 2)
			held, err := other.Pool.Begin(t.Context())
			require.NoError(t, err)
			defer func() { _ = held.Rollback(context.Background()) }()
			_, err = held.Exec(t.Context(), `LOCK blacklist`)
			require.NoError(t, err)
			answer := make(chan error, 1)
			go func() { answer <- db.Block(context.Background(), []store.Blocked{{Host: "a.test"}}) }()
			waits(t)
			end(t, line.Cut)
			err = <-answer
			require.True(t, store.Away(err), "%v", err)
			require.False(t, store.Unfit(err) || store.Crossed(err) || store.Full(err), "%v", err)
			line.Cut()
			_, err = db.Blacklist(t.Context(), "", 0)
			require.True(t, store.Away(err), "then nothing answers: %v", err)
		})
	}
	t.Run("it says nothing to who comes", func(t *testing.T) {
		through, line := devtest.Lay(t, dsn)
		db := storetest.At(t, through, 2)
		line.Hush()
		defer line.Mend()
		db.Pool.Reset()
		_, err := db.Blacklist(t.Context(), "", 0)
		require.True(t, store.Away(err), "%v", err)
	})
	require.False(t, store.Away(nil))
	require.False(t, store.Away(errors.New("anything else")))
	_, err := other.Pool.Exec(t.Context(), `SELECT wrong`)
	require.False(t, store.Away(err), "%v", err)
}
