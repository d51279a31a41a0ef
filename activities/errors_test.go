package activities

import (
	"context"
	"encoding/json"
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
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
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

// TestStandingStillEnds an attempt, however long it has come on before; the error of one
// that ended otherwise is its own.
func TestStandingStillEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, moved, stop := moving(t.Context())
		defer stop()
		beat, _, over := heartbeats[int](ctx)
		defer over()
		for range 10 {
			time.Sleep(Still - time.Second)
			moved()
		}
		other := errors.New("another")
		require.NoError(t, beat.Err())
		require.ErrorIs(t, orStill(ctx, other), other)
		<-beat.Done()
		require.ErrorIs(t, orStill(ctx, context.Cause(beat)), errStill)
		require.NoError(t, orStill(ctx, nil))
	})
}

// TestManySlicesHeartbeatSeldom: the Temporal server writes each heartbeat, so a process that
// crawls thousands of hosts sends no more than one of hundreds does, while each may be silent
// for so long.
func TestManySlicesHeartbeatSeldom(t *testing.T) {
	t.Parallel()
	for of, want := range map[int64]time.Duration{1: crawlBeat, 90: crawlBeat, 200: 40 * time.Second, 4000: 90 * time.Second} {
		require.Equal(t, want, beatEvery(CrawlSilence, of), of)
		require.Equal(t, Beat, beatEvery(Silence, of), of)
	}
}

func second[T any](_ T, err error) error { return err }

// TestPausedWorkStopsAndIsNotBegun: work for a harvest ends when the harvest is
// paused, and does nothing before it is resumed.
func TestPausedWorkStopsAndIsNotBegun(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := storetest.Open(t, 4)
	require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: "h", Venue: "conf/h", Options: json.RawMessage("{}"), Years: gleaner.Years{From: 2000, To: 2001}}))

	begun := make(chan struct{})
	ended := make(chan error)
	go func() {
		ended <- second(unlessPaused(ctx, db, "h", func(ctx context.Context) (int, error) {
			close(begun)
			<-ctx.Done()
			return 0, ctx.Err()
		}))
	}()
	<-begun
	require.NoError(t, db.SetPaused(ctx, "h", true))
	require.ErrorIs(t, <-ended, errPaused)

	// Nor does anything else that asks outside services for it.
	a := &Stages{db: db, stages: &harvest.Stages{DB: db}}
	for name, err := range map[string]error{
		"the list of papers": second(a.ListPapers(ctx, Harvest{ID: "h"})), "copies": second(a.LocateCopies(ctx, Harvest{ID: "h"})),
		"copies again": second(a.LocateAgain(ctx, Harvest{ID: "h"})), "homepages": second(a.FindHomepages(ctx, Batch{Harvest: Harvest{ID: "h"}})),
	} {
		var typed *temporal.ApplicationError
		require.ErrorAs(t, err, &typed, name)
		require.Equal(t, ErrTypePaused, typed.Type(), name)
	}

	a.stages.WebSearch = true
	before := db.Pool.Stat().AcquireCount()
	found, err := a.SitesFound(ctx, Batch{Harvest: Harvest{ID: "h"}})
	require.NoError(t, err)
	require.Equal(t, Sites{Paused: true, More: true}, found)
	require.Equal(t, int64(1), db.Pool.Stat().AcquireCount()-before, "one statement, however many sites were found")

	hurried := 0
	a.Hurry = func(context.Context) { hurried++ }
	for _, paused := range []bool{true, false, true} {
		require.NoError(t, a.Pause(ctx, "h", paused))
	}
	require.Equal(t, 1, hurried, "what waits begins when it is resumed")

	did := 0
	work := func(context.Context) (int, error) { did++; return did, nil }
	require.ErrorIs(t, second(unlessPaused(ctx, db, "h", work)), errPaused)
	require.Zero(t, did)
	require.NoError(t, db.SetPaused(ctx, "h", false))
	require.NoError(t, second(unlessPaused(ctx, db, "h", work)))
	require.NoError(t, second(unlessPaused(ctx, db, "not begun", work)))
	require.Equal(t, 2, did)

	// Another's end is not a pause.
	over, end := context.WithCancel(ctx)
	end()
	_, err = unlessPaused(over, db, "h", func(ctx context.Context) (int, error) { return 0, ctx.Err() })
	require.ErrorIs(t, err, context.Canceled)
}

// TestACrawlShowsWhoJoinsAndMakesRoom: an activity ends with its slice where a harvest has
// joined, where others wait for its place, and after an hour.
func TestACrawlShowsWhoJoinsAndMakesRoom(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 4)
	storetest.Exec(t, db.Pool, `INSERT INTO sites (host) VALUES ('a.example')`)
	join := func(id string) {
		require.NoError(t, db.SaveHarvest(t.Context(), store.Harvest{ID: id, Venue: "conf/" + id, Options: json.RawMessage("{}"), Years: gleaner.Years{From: 2000, To: 2001}}))
		storetest.Exec(t, db.Pool,
			`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'test' FROM sites`, id)
	}
	join("first")
	a := &Crawl{db: db}
	of, err := db.SiteVenues(t.Context(), "a.example")
	require.NoError(t, err)
	goesOn := func(began time.Time) bool { return a.goesOn(t.Context(), "a.example", began, of) }
	require.True(t, goesOn(time.Now()))
	require.False(t, goesOn(time.Now().Add(-severalSlices)))
	a.running.Store(manyCrawls + 1)
	require.False(t, goesOn(time.Now()))
	a.running.Store(manyCrawls)
	require.True(t, goesOn(time.Now()))
	join("second")
	require.False(t, goesOn(time.Now()))
}
