package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// TestFailedImports end with the reason that is on record, in one sentence.
func TestFailedImports(t *testing.T) {
	t.Parallel()
	input := temporal.NewNonRetryableApplicationError("import: x: import: x", activities.ErrTypeInput, nil)
	err := importFailed(store.Job{ID: 3, State: store.JobFailed, Note: "import: x holds nothing"}, input)
	require.ErrorIs(t, err, program.ErrUsage)
	require.Equal(t, 1, strings.Count(err.Error(), "holds nothing"))
	require.NotContains(t, err.Error(), "activity")
	err = importFailed(store.Job{ID: 3, State: store.JobCancelled}, input)
	require.NotErrorIs(t, err, program.ErrUsage)
	require.ErrorContains(t, err, "cancelled")
}

// TestHowFarAJobIs: what is printed while somebody waits says how far the job is.
func TestHowFarAJobIs(t *testing.T) {
	t.Parallel()
	job := store.Job{ID: 3, Kind: store.JobImport, Done: 40, Counters: json.RawMessage(`{"read_bytes": 50, "total_bytes": 200, "archives": 2, "archive": 1}`)}
	require.Equal(t, "job 3: 40 · archive 1 of 2 · 25 %", aheadOf(job))

	job.Options = json.RawMessage(`{"unrecorded": true}`)
	var said strings.Builder
	require.NoError(t, writeJob(&said, shownJob{Job: job}))
	require.Contains(t, said.String(), "would be saved_New 0\n", "a dry run saves nothing")
	saved := store.ImportRecord{N: 1, Outcome: ingest.SavedNew}
	require.Contains(t, lineOf(saved, ingest.Counters{}, true), "new  would be saved_New")
}
