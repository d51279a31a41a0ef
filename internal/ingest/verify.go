package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gleaner/internal/gleaner"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
)

// Differences of what an import says it saved.
const (
	noRow      = "saved, and not on record"
	notSaved   = "saved, and on record as "
	noPlace    = "saved, and its URL does not lead to it"
	noFile     = "saved, and its file is not in the repository"
	changed    = "saved, and its file has other bytes"
	verifyStep = 500
)

// Verify compares what an import says it saved with what is on record and in the
// repository (save_verification of Algorithm 1), notes each difference, and counts
// all that the import has. Done again it comes to the same, also from behind a resource
// that it told of before.
func (im *Importer) Verify(ctx context.Context, run Run, after int64, report func(n int64)) (Counters, error) {
	var c Counters
	job, err := im.DB.Job(ctx, run.Job)
	if err != nil {
		return c, err
	}
	if job.Run != run.Run || job.State != store.JobRunning {
		return c, store.ErrJobOver
	}
	var o Options
	if err := errors.Join(json.Unmarshal(job.Options, &o), json.Unmarshal(job.Counters, &c)); err != nil {
		return c, fmt.Errorf("%w: %w", ErrInput, err)
	}
	if !o.Unrecorded {
		if err := im.verifySaved(ctx, run.Job, after, report); err != nil {
			return c, err
		}
	}
	records, differ, err := im.DB.Differences(ctx, run.Job)
	if err != nil {
		return c, err
	}
	if c.Differences = differ; records != job.Done {
		c.Differences++
		im.Log.ErrorContext(ctx, "the log's resources are not all on record", "job", run.Job, "done", job.Done, "on record", records)
	}
	err = im.DB.SaveImport(ctx, store.ImportStep{Job: run.Job, Run: run.Run, From: job.Done, Done: job.Done, Position: place{End: true}, Counters: c})
	return c, err
}

func (im *Importer) verifySaved(ctx context.Context, job, after int64, report func(int64)) error {
	for {
		saved, err := im.DB.SavedBy(ctx, job, after, verifyStep)
		if err != nil || len(saved) == 0 {
			return err
		}
		found := map[int64]string{}
		for _, s := range saved {
			what, err := im.difference(ctx, s)
			if err != nil {
				return err
			}
			if what != "" {
				found[s.N] = what
			}
			after = s.N
		}
		if err := im.DB.Differ(ctx, job, found); err != nil {
			return err
		}
		report(after)
	}
}

// difference is what the record or the repository lacks of a saved document.
func (im *Importer) difference(ctx context.Context, s store.Saved) (string, error) {
	switch {
	case s.State == "":
		return noRow, nil
	case s.State != string(gleaner.DocumentAccepted):
		return notSaved + s.State, nil
	case !s.Placed:
		return noPlace, nil
	case s.Pruned:
		return "", nil
	}
	err := im.Repo.Check(ctx, s.SHA256)
	switch {
	case errors.Is(err, repository.ErrNotFound):
		return noFile, nil
	case errors.Is(err, repository.ErrCorrupt):
		return changed, nil
	}
	return "", err
}
