package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

// TestYearsWithGaps: a harvest of a list of years keeps it, papers of the years
// between are not among them, and it covers those years alone.
func TestYearsWithGaps(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := storetest.Open(t, 4)
	var papers []gleaner.Paper
	for y, key := range map[int]string{2001: "v/a", 2002: "v/b", 2004: "v/c"} {
		papers = append(papers, gleaner.Paper{Key: key, Venue: "v", Year: y, Title: "A Paper of " + key})
	}
	require.NoError(t, db.SaveListing(ctx, "dblp", "v", "all", papers))
	require.NoError(t, db.SaveRecords(ctx, papers, make([]gleaner.Origin, 3)))
	for name, n := range map[string]int{"2001,2004": 2, "2001-2004": 3, "2002": 1} {
		years, err := gleaner.ParseYears(name)
		require.NoError(t, err)
		id := gleaner.Goal{Venue: "v"}.Harvest(years)
		require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: id, Venue: "v", Years: years, Options: json.RawMessage("{}"), Stage: gleaner.StagePapers}))
		h, err := db.FindHarvest(ctx, id)
		require.NoError(t, err)
		require.Equal(t, years, h.Years)
		require.Equal(t, "starter harvest v --years "+name, h.Command())
		now, err := db.HarvestNow(ctx, id, time.Second, 1)
		require.NoError(t, err)
		require.Equal(t, n, now.Listed, name)
		had, err := db.Papers(ctx, "v", years)
		require.NoError(t, err)
		require.Len(t, had, n, name)
		had, err = db.Listing(ctx, "dblp", "v", years)
		require.NoError(t, err)
		require.Len(t, had, n, name)
	}
	had, err := db.Papers(ctx, "v", gleaner.Years{})
	require.NoError(t, err)
	require.Len(t, had, 3, "all years")

	prunes := func(id string) int {
		require.NoError(t, db.SetStage(ctx, id, gleaner.StageComplete, ""))
		storetest.Exec(t, db.Pool, `UPDATE harvests SET completed_at = now() - (CASE WHEN id=$1 THEN 1 ELSE 2 END) * interval '1 day', stage='complete'`, id)
		done, err := db.Prune(ctx, store.Retention{Harvests: time.Minute}, nil, store.PruneOptions{DryRun: true})
		require.NoError(t, err)
		for _, p := range done {
			if p.What == "harvests" {
				return p.Rows
			}
		}
		return 0
	}
	require.Equal(t, 0, prunes("v/2001,2004"), "it covers neither 2002 nor 2001-2004")
	require.Equal(t, 2, prunes("v/2001-2004"))
	require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: "v", Venue: "v", Options: json.RawMessage("{}"), Stage: gleaner.StagePapers}))
	require.Equal(t, 3, prunes("v"), "all years cover every one")
}
