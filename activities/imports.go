package activities

import (
	"context"
	"time"

	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
)

// Imports take over what other crawlers left.
type Imports struct {
	db       *store.DB
	importer *ingest.Importer
}

// ImportTime is after how long an import's slice hands over to the next.
const ImportTime = 10 * time.Minute

// ImportSlice takes resources of an import for a while, from where the slice or the
// attempt before ended.
func (a *Imports) ImportSlice(ctx context.Context, run ingest.Run) (ingest.Progress, error) {
	ctx, moved, done := moving(ctx)
	defer done()
	beat, set, stop := heartbeats[ingest.Progress](ctx)
	defer stop()
	p, err := a.importer.Import(beat, run, ImportTime, func(p ingest.Progress) { moved(); set(p) })
	return p, typed(orStill(ctx, err))
}

// VerifyImport compares what an import saved with what is on record for a while, behind a
// resource or where the attempt before ended.
func (a *Imports) VerifyImport(ctx context.Context, run ingest.Run, after int64) (ingest.Verified, error) {
	beat, set, stop := heartbeats[int64](ctx)
	defer stop()
	before, _ := resumed[int64](ctx)
	return result(a.importer.Verify(beat, run, max(after, before), ImportTime, set))
}

// JobImport is the kind of job that imports.
const JobImport = store.JobImport

// How a job ends.
const (
	JobEnded     = store.JobEnded
	JobFailed    = store.JobFailed
	JobCancelled = store.JobCancelled
)

// ImportEnd says how a run of an import ended.
type ImportEnd struct {
	ingest.Run
	State string `json:"state"`
	Note  string `json:"note,omitempty"`
}

// EndImport writes the end of an import down, and what became meanwhile of what it left to be
// examined.
func (a *Imports) EndImport(ctx context.Context, end ImportEnd) error {
	defer alive(ctx)()
	err := a.db.EndJob(ctx, end.Job, end.Run.Run, end.State, end.Note)
	a.importer.Settle(ctx)
	return typed(err)
}
