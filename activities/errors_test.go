package activities

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"gleaner/internal/crawl"
	"gleaner/internal/library/repository"
	"gleaner/internal/metadata"
	"gleaner/internal/politeness"
	"gleaner/internal/rank"
	"gleaner/internal/record/store"
)

// TestEveryErrorIsTyped: the type decides whether work is tried again, and when.
func TestEveryErrorIsTyped(t *testing.T) {
	t.Parallel()
	_, strategy := rank.New("dfs", rank.Options{})
	_, away := pgconn.Connect(t.Context(), "postgres://127.0.0.1:1/nobody")
	for name, c := range map[string]struct {
		err   error
		kind  string
		after time.Duration
	}{
		"unknown venue":       {metadata.ErrUnknownVenue{Name: "conf/nix"}, ErrTypeInput, 0},
		"ambiguous venue":     {metadata.ErrAmbiguousVenue{Name: "DB"}, ErrTypeInput, 0},
		"no volume":           {metadata.ErrNoVolume{Venue: "conf/webdb"}, ErrTypeInput, 0},
		"service refuses":     {metadata.ErrRefused{Service: "Crossref"}, ErrTypeInput, 0},
		"no such harvest":     {store.ErrNoHarvest, ErrTypeInput, 0},
		"no such strategy":    {strategy, ErrTypeInput, 0},
		"service is out":      {metadata.ErrUnavailable{Service: "DBLP"}, ErrTypeUnavailable, 10 * time.Second},
		"service says when":   {metadata.ErrUnavailable{Service: "DBLP", RetryAfter: 7 * time.Minute}, ErrTypeUnavailable, 7 * time.Minute},
		"lease lost":          {politeness.ErrLost, ErrTypeLeaseLost, time.Second},
		"disk of blobs full":  {repository.ErrFull, ErrTypeDiskFull, OutageLook},
		"blob store away":     {repository.ErrAway, ErrTypeStoreAway, OutageLook},
		"of another record":   {repository.ErrForeign, ErrTypeStoreAway, OutageLook},
		"disk of record full": {&pgconn.PgError{Code: "53100"}, ErrTypeDiskFull, OutageLook},
		"server shuts down":   {&pgconn.PgError{Code: "57P01"}, ErrTypeDatabase, 2 * time.Second},
		"connection broke":    {&pgconn.PgError{Code: "08006"}, ErrTypeDatabase, 2 * time.Second},
		"no connection left":  {&pgconn.PgError{Code: "53300"}, ErrTypeDatabase, 2 * time.Second},
		"no connection":       {away, ErrTypeDatabase, 2 * time.Second},
		"harvest paused":      {errPaused, ErrTypePaused, 0},
		"a bad query":         {&pgconn.PgError{Code: "42601"}, ErrTypeOther, 0},
		"anything":            {errors.New("index out of range"), ErrTypeOther, 0},
	} {
		for _, err := range []error{c.err, fmt.Errorf("crawl ada.example: %w", c.err), errors.Join(c.err, errors.New("and another"))} {
			var app *temporal.ApplicationError
			require.ErrorAs(t, safely(t, err), &app, name)
			require.Equal(t, c.kind, app.Type(), name)
			require.Equal(t, c.after, app.NextRetryDelay(), name)
			require.Equal(t, c.kind == ErrTypeInput, app.NonRetryable(), name)
			require.Equal(t, 1, strings.Count(app.Error(), err.Error()), name)
		}
		require.Equal(t, c.kind != ErrTypeInput && c.kind != ErrTypeOther, Outage(c.kind), name)
	}
}

// safely is typed, with what a slice did before.
func safely(t *testing.T, err error) error {
	t.Helper()
	typed := typed(err, crawl.Progress{Requests: 3})
	var app *temporal.ApplicationError
	require.ErrorAs(t, typed, &app)
	var did crawl.Progress
	require.NoError(t, app.Details(&did))
	require.Equal(t, 3, did.Requests)
	return typed
}

func TestErrorsThatAreTypedAlreadyStay(t *testing.T) {
	t.Parallel()
	require.NoError(t, typed(nil))
	own := temporal.NewNonRetryableApplicationError("as it was", "Own", nil)
	require.Same(t, own, typed(own))
	wrapped := fmt.Errorf("slice: %w", own)
	require.Equal(t, wrapped, typed(wrapped))
	// A cancelled activity ends as cancelled, not as failed.
	cancelled := fmt.Errorf("query: %w", context.Canceled)
	require.Equal(t, cancelled, typed(cancelled))
	require.NotErrorIs(t, typed(context.DeadlineExceeded), context.Canceled)
}

// TestUntilBack: what is done of few attempts waits for what is away, for the blob store no longer than
// it is to, and fails for anything else.
func TestUntilBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries, began := 0, time.Now()
		err := untilBack(t.Context(), 0, func() error {
			if tries++; time.Since(began) < time.Hour {
				return fmt.Errorf("begin: %w", &net.OpError{Op: "dial", Err: errors.New("refused")})
			}
			return errors.New("a model that cannot be learnt")
		})
		require.ErrorContains(t, err, "learnt")
		require.Equal(t, int(time.Hour/OutageLook)+1, tries)
		for patience, want := range map[time.Duration]int{0: 1, time.Minute: int(time.Minute/OutageLook) + 1} {
			tries = 0
			err = untilBack(t.Context(), patience, func() error {
				if tries++; tries > 100 {
					return errors.New("too many tries")
				}
				return repository.ErrFull
			})
			require.ErrorIs(t, err, repository.ErrFull)
			require.Equal(t, want, tries)
		}
		env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment() // it gives ten minutes
		env.RegisterActivityWithOptions(func(ctx context.Context) error {
			began = time.Now()
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Hour)
			defer cancel()
			return typed(untilBack(ctx, 0, func() error { return &net.OpError{Op: "dial", Err: errors.New("refused")} }))
		}, activity.RegisterOptions{Name: "waits"})
		_, err = env.ExecuteActivity("waits")
		var app *temporal.ApplicationError
		require.ErrorAs(t, err, &app)
		require.Equal(t, ErrTypeDatabase, app.Type())
		require.InDelta(t, 9, time.Since(began).Minutes(), 0.2)
	})
}
