package store_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/record/store"
)

// killable leads to the database of dsn over a line that a test can cut, as the
// death of the server cuts it: without a word.
func killable(t *testing.T, dsn string) (through string, cut func()) {
	t.Helper()
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	to := u.Host
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	lines := make(chan net.Conn, 100)
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			lines <- in
			go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
			go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
		}
	}()
	u.Host = l.Addr().String()
	return u.String(), func() {
		_ = l.Close()
		for {
			select {
			case c := <-lines:
				_ = c.Close()
			default:
				return
			}
		}
	}
}

// TestAServerThatDiesIsAway: whatever was asked of it, and whether it said that it
// goes or its connections just ended, nobody is told that his question was wrong.
func TestAServerThatDiesIsAway(t *testing.T) {
	t.Parallel()
	dsn := devtest.Postgres(t)
	other, err := store.Open(t.Context(), dsn, 2)
	require.NoError(t, err)
	t.Cleanup(other.Close)
	waits := func(t *testing.T) {
		t.Helper()
		blocked(t, other, 1)
	}
	for name, end := range map[string]func(*testing.T, func()){
		"it says that it stops": func(t *testing.T, _ func()) {
			_, err := other.Pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname=current_database() AND wait_event_type='Lock'`)
			require.NoError(t, err)
		},
		"it is killed": func(_ *testing.T, cut func()) { cut() },
	} {
		t.Run(name, func(t *testing.T) {
			through, cut := killable(t, dsn)
			db, err := store.Open(t.Context(), through, 2)
			require.NoError(t, err)
			t.Cleanup(db.Close)
			held, err := other.Pool.Begin(t.Context())
			require.NoError(t, err)
			defer func() { _ = held.Rollback(context.Background()) }()
			_, err = held.Exec(t.Context(), `LOCK blacklist`)
			require.NoError(t, err)
			answer := make(chan error, 1)
			go func() { answer <- db.Block(context.Background(), []store.Blocked{{Host: "a.test"}}) }()
			waits(t)
			end(t, cut)
			err = <-answer
			require.True(t, store.Away(err), "%v", err)
			require.False(t, store.Unfit(err) || store.Crossed(err) || store.Full(err), "%v", err)
			cut()
			_, err = db.Blacklist(t.Context())
			require.True(t, store.Away(err), "then nothing answers: %v", err)
		})
	}
	require.False(t, store.Away(nil))
	require.False(t, store.Away(errors.New("anything else")))
	_, err = other.Pool.Exec(t.Context(), `SELECT wrong`)
	require.False(t, store.Away(err), "%v", err)
}
