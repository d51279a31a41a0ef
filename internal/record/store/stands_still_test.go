package store_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
)

// TestATransactionThatStandsStillHoldsNobodyUp: a worker that is frozen, or whose
// machine is cut off, in the middle of a transaction does not keep what it locked
// for as long as its connection looks alive.
func TestATransactionThatStandsStillHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	frozen, other := two(t)
	_, err := store.EnsureSite(t.Context(), other.Pool, "ada.test")
	require.NoError(t, err)
	held, ended := make(chan struct{}), make(chan error, 1)
	thawed := make(chan struct{})
	thaw := sync.OnceFunc(func() { close(thawed) })
	defer thaw()
	go func() {
		ended <- frozen.Tx(context.Background(), func(tx pgx.Tx) error {
			_, err := store.HoldSite(context.Background(), tx, "ada.test")
			close(held)
			<-thawed
			return err
		})
	}()
	<-held
	patience, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	require.NoError(t, other.FinishCrawl(patience, "ada.test", store.CrawlEnd{State: "done"}, recrawl.Defaults()))
	thaw()
	require.Error(t, <-ended, "it is too late for what the other one did")
}

// TestTheEndOfAProgramWaitsForNoStatement that does not end.
func TestTheEndOfAProgramWaitsForNoStatement(t *testing.T) {
	t.Parallel()
	silent, _ := two(t)
	c, err := silent.Pool.Acquire(t.Context())
	require.NoError(t, err)
	closed := make(chan struct{})
	go func() {
		silent.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Error("closing a pool waits for its connection")
	}
	c.Release()
}
