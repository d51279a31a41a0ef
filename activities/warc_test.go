package activities_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/internetarchive/gowarc/cmd/warc/verify"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
	"gleaner/workflows"
)

// verdict is what was found of a document.
type verdict struct{ SHA256, State, Outcome, Class string }

// verdicts are those of all documents on record.
func (l *library) verdicts(t *testing.T) []verdict {
	t.Helper()
	rows, err := l.DB.Pool.Query(t.Context(), `SELECT sha256, state, outcome, class FROM documents ORDER BY sha256`)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[verdict])
	require.NoError(t, err)
	return all
}

// parents are all pages that lead to documents, with the days between which each was
// crawled and how many documents it leads to.
func (l *library) parents(t *testing.T) (all []string) {
	t.Helper()
	found, err := l.DB.Parents(t.Context(), "", store.ParentAt{}, 100_000)
	require.NoError(t, err)
	for _, p := range found {
		all = append(all, fmt.Sprint(p.URL, " ", p.First.Format(time.DateOnly), " ", p.Last.Format(time.DateOnly), " ", p.Read, " ", p.Documents))
	}
	return all
}

// TestImportOfOwnWARC harvests the sample venue with WARC files and imports them into
// an empty record, which has the same documents then, with the same verdicts, and the
// same pages that lead to them.
func TestImportOfOwnWARC(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 12, nil)
	h := l.harvest
	h.Options.WARC = true
	l.run(t, workflows.HarvestID(h.ID), workflows.HarvestVenue, workflows.HarvestParams{Harvest: h})
	want := l.verdicts(t)
	require.NotEmpty(t, want)
	folder := filepath.Join(l.Config.Servers.DataDir, "blobs", "warc")
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.warc.gz"))
	require.NoError(t, err)
	for _, f := range files {
		v, err := verify.ValidateWARCFile(f)
		require.NoError(t, err)
		require.True(t, v.Valid && v.AllRecordsRead, "%s: %+v", f, v)
	}

	empty := openLibrary(t, h.Venue, h.Years, map[string]string{"search": "none"})
	job, err := empty.DB.AddJob(t.Context(), store.JobImport, ingest.Options{Paths: []string{folder}})
	require.NoError(t, err)
	p, err := empty.Importer.Import(context.WithoutCancel(t.Context()), ingest.Run{Job: job, Run: 1}, time.Hour, func(ingest.Progress) {})
	require.NoError(t, err)
	require.True(t, p.Ended)
	t.Logf("%d files, %d documents; %+v", len(files), len(want), p.Counters)
	require.Equal(t, want, empty.verdicts(t))
	parents := l.parents(t)
	require.NotEmpty(t, parents)
	require.Equal(t, parents, empty.parents(t))
	require.Zero(t, p.Counters.Differences)
}
