package activities

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/record/store"
)

func second[T any](_ T, err error) error { return err }

// record opens a record of the test's own.
func record(t *testing.T) *store.DB { return storetest.Open(t, 4) }

// TestPausedWorkStopsAndIsNotBegun: work for a harvest ends when the harvest is
// paused, and does nothing before it is resumed.
func TestPausedWorkStopsAndIsNotBegun(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := record(t)
	require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: "h", Venue: "conf/h", Options: json.RawMessage("{}"), Years: gleaner.Years{From: 2000, To: 2001}}))

	begun := make(chan struct{})
	ended := make(chan error)
	go func() {
		ended <- unlessPaused(ctx, db, "h", func(ctx context.Context) error {
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		})
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
	work := func(context.Context) error { did++; return nil }
	require.ErrorIs(t, unlessPaused(ctx, db, "h", work), errPaused)
	require.Zero(t, did)
	require.NoError(t, db.SetPaused(ctx, "h", false))
	require.NoError(t, unlessPaused(ctx, db, "h", work))
	require.NoError(t, unlessPaused(ctx, db, "not begun", work))
	require.Equal(t, 2, did)

	// Another's end is not a pause.
	over, end := context.WithCancel(ctx)
	end()
	require.ErrorIs(t, unlessPaused(over, db, "h", func(ctx context.Context) error { return ctx.Err() }), context.Canceled)
}

// TestACrawlShowsWhoJoinsAndMakesRoom: an activity ends with its slice where a harvest has
// joined, where others wait for its place, and after an hour.
func TestACrawlShowsWhoJoinsAndMakesRoom(t *testing.T) {
	t.Parallel()
	db := record(t)
	storetest.Exec(t, db.Pool, `INSERT INTO sites (host) VALUES ('a.example')`)
	join := func(id string) {
		require.NoError(t, db.SaveHarvest(t.Context(), store.Harvest{ID: id, Venue: "conf/" + id, Options: json.RawMessage("{}"), Years: gleaner.Years{From: 2000, To: 2001}}))
		storetest.Exec(t, db.Pool, `INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'test' FROM sites`, id)
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
