package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// TestOfHowMany: JSON says of how many a resource is one, where they have been counted.
func TestOfHowMany(t *testing.T) {
	t.Parallel()
	for extent, want := range map[ingest.Extent]string{{Resources: 5}: `,"of":{"resources":5}}`, {}: `"known":false,"outcome":""}`} {
		text, err := json.Marshal(recordOf{store.ImportRecord{N: 1}, extent})
		require.NoError(t, err)
		require.Contains(t, string(text), want)
	}
}

// TestADryImportSaysThatNothingWasSaved, on the command line.
func TestADryImportSaysThatNothingWasSaved(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	require.NoError(t, writeJob(&said, shownJob{Job: store.Job{Kind: store.JobImport, Options: []byte(`{"unrecorded": true}`), Counters: []byte(`{"saved_New": 3}`)}}))
	require.Contains(t, said.String(), "would be saved_New 3\nwould be saved_Duplicate 0\n")
	require.Equal(t, "[1] http://a.example/x.pdf    new  would be saved_New", lineOf(store.ImportRecord{N: 1, URL: "http://a.example/x.pdf", Outcome: ingest.SavedNew}, ingest.Counters{}, true))
}

// TestTypesAreNamed: who asks for help, or names a kind that there is not, is told which
// there are.
func TestTypesAreNamed(t *testing.T) {
	t.Parallel()
	flag := (&cli{}).importCommand().Flags().Lookup("types")
	cmd := (&cli{}).importCommand()
	cmd.SetArgs([]string{"https://archive.example/x.warc.gz", "--types", "exe"})
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	err := cmd.Execute()
	for _, kind := range ingest.Kinds() {
		require.Contains(t, flag.Usage, kind)
		require.ErrorContains(t, err, kind)
	}
}

// TestWhatIsNoImport: what names nothing to be imported is said before anything starts.
func TestWhatIsNoImport(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "gopher://x/y", "/none/such", "s3://", "s3:///crawls"} {
		_, err := importPaths([]string{path})
		require.ErrorIs(t, err, program.ErrUsage, path)
	}
	err := (&cli{}).sayFolders(ingest.Options{Paths: []string{t.TempDir()}})
	require.ErrorIs(t, err, program.ErrUsage)
	require.ErrorContains(t, err, "--format")
}

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
}
