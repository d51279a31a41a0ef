package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

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

// Verified is how far the verification of an import is.
type Verified struct {
	Counters
	After int64 `json:"after,omitempty"` // number of the last resource that was compared
	More  bool  `json:"more,omitempty"`  // it goes on behind that
}

// Verify compares what an import says it saved, behind a resource, with what is on record
// and in the repository (save_verification of Algorithm 1), and notes each difference. If
// within is over before the end, More is set; else it counts all that the import has. Done
// again it comes to the same.
func (im *Importer) Verify(ctx context.Context, run Run, after int64, within time.Duration, report func(n int64)) (Verified, error) {
	v := Verified{After: after}
	job, err := im.DB.Job(ctx, run.Job)
	if err != nil {
		return v, err
	}
	if job.Run != run.Run || job.State != store.JobRunning {
		return v, store.ErrJobOver
	}
	var o Options
	if err := errors.Join(json.Unmarshal(job.Options, &o), json.Unmarshal(job.Counters, &v.Counters)); err != nil {
		return v, fmt.Errorf("%w: %w", ErrInput, err)
	}
	for began := time.Now(); !o.Unrecorded; report(v.After) {
		if v.More = v.After > after && time.Since(began) >= within; v.More {
			return v, nil
		}
		some, err := im.verifySome(ctx, run.Job, &v.After)
		if err != nil {
			return v, err
		}
		if !some {
			break
		}
	}
	records, differ, err := im.DB.Differences(ctx, run.Job)
	if err != nil {
		return v, err
	}
	if v.Differences = differ; records != job.Done {
		v.Differences++
		im.Log.ErrorContext(ctx, "the log's resources are not all on record", "job", run.Job, "done", job.Done, "on record", records)
	}
	err = im.DB.SaveImport(ctx, store.ImportStep{Job: run.Job, Run: run.Run, From: job.Done, Done: job.Done, Position: place{End: true}, Counters: v.Counters})
	return v, err
}

// verifySome compares the next verifyStep resources. It reports whether there were any.
func (im *Importer) verifySome(ctx context.Context, job int64, after *int64) (bool, error) {
	saved, err := im.DB.SavedBy(ctx, job, *after, verifyStep)
	if err != nil || len(saved) == 0 {
		return false, err
	}
	found, checked := map[int64]string{}, map[string]string{}
	for _, s := range saved {
		what, err := im.difference(ctx, s, checked)
		if err != nil {
			return false, err
		}
		if what != "" {
			found[s.N] = what
		}
	}
	*after = saved[len(saved)-1].N
	return true, im.DB.Differ(ctx, job, found)
}

// difference is what the record or the repository lacks of a saved document. A file is read
// once: what it came to is in checked.
func (im *Importer) difference(ctx context.Context, s store.Saved, checked map[string]string) (what string, err error) {
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
	if what, is := checked[s.SHA256]; is {
		return what, nil
	}
	err = im.Repo.Check(ctx, s.SHA256)
	switch {
	case errors.Is(err, repository.ErrNotFound):
		what, err = noFile, nil
	case errors.Is(err, repository.ErrCorrupt):
		what, err = changed, nil
	}
	checked[s.SHA256] = what
	return what, err
}
