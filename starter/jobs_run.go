package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"go.temporal.io/sdk/client"

	"gleaner/internal/fetch"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/workflows"
)

// startJob starts a job that is ready, or joins the run of it that is under way. It waits for
// one that was cancelled to end, which would not do what this one is to do.
func startJob(ctx context.Context, t client.Client, job store.Job) error {
	start := func(about workflows.Description, workflow, run any) error {
		for id := workflows.JobID(job.Kind, job.ID); ; {
			joined, err := startOnce(ctx, t, id, about, workflow, run)
			if err != nil || !joined {
				return err
			}
			d, err := t.DescribeWorkflowExecution(ctx, id, "")
			if err != nil || !d.GetWorkflowExtendedInfo().GetCancelRequested() {
				return err
			}
			if err := fetch.Wait(ctx, time.Second); err != nil {
				return fmt.Errorf("job %d was cancelled, and its run has not ended yet: %w", job.ID, err)
			}
		}
	}
	if job.Kind == store.JobImport {
		var options ingest.Options
		if err := json.Unmarshal(job.Options, &options); err != nil {
			return err
		}
		run := ingest.Run{Job: job.ID, Run: job.Run}
		return start(workflows.DescribeImport(run, options), workflows.ImportCrawl, run)
	}
	var options tables.Options
	if err := json.Unmarshal(job.Options, &options); err != nil {
		return err
	}
	run := tables.Run{Kind: job.Kind, Job: job.ID, Run: job.Run}
	return start(workflows.DescribeTable(run, options), workflows.TableJob, run)
}

// runJob starts a job that is ready, and follows it where that is wanted.
func (c *cli) runJob(ctx context.Context, t client.Client, db *store.DB, id int64, wait bool) error {
	job, err := db.Job(ctx, id)
	if err != nil {
		return err
	}
	if err := startJob(ctx, t, job); err != nil {
		return err
	}
	hintNoWorker(c, ctx, t)
	switch {
	case wait && job.Kind == store.JobImport:
		return c.followImport(ctx, t, db, id)
	case wait:
		return followTable(c, ctx, t, db, job)
	}
	name := "job"
	if job.Kind == store.JobImport {
		name = "import"
	}
	return c.Say(map[string]any{"job": id, "workflow": workflows.JobID(job.Kind, id)}, "%s %d started; `starter jobs show %d` shows how far it is\n", name, id, id)
}

// again makes a job that does not run ready for another run.
func again(ctx context.Context, db store.JobRecords, id int64) error {
	job, err := db.Job(ctx, id)
	if err == nil && job.State != store.JobNew && job.State != store.JobRunning {
		err = db.RenewJob(ctx, id)
	}
	return err
}

// cancelJob ends a job that runs: what it has done stays done.
func cancelJob(ctx context.Context, t client.Client, db store.JobRecords, id int64) error {
	job, err := db.Job(ctx, id)
	if err != nil {
		return err
	}
	if job.State != store.JobRunning && job.State != store.JobNew {
		return program.Unknown{Reason: fmt.Errorf("job %d does not run: it is %s", id, job.State)}
	}
	if err := t.CancelWorkflow(ctx, workflows.JobID(job.Kind, id), ""); err != nil && !ended(err) {
		return err
	}
	return db.EndJob(ctx, id, job.Run, store.JobCancelled, "")
}

// endOfTable is what a job on the record came to, as JSON.
type endOfTable struct {
	tables.Counters
	Job     int64   `json:"job"`
	Kind    string  `json:"kind"`
	State   string  `json:"state"`
	InPlace bool    `json:"in_place"`
	Seconds float64 `json:"seconds"`
}

// followTable prints a line for each document or page until the job ends, and then
// what it came to.
func followTable(c *cli, ctx context.Context, t client.Client, db *store.DB, job store.Job) error {
	var at tables.Progress
	err := c.followRecords(ctx, db, job, func() error { return c.await(ctx, t, workflows.JobID(job.Kind, job.ID), &at) })
	if ctx.Err() != nil {
		return err
	}
	job, jerr := db.Job(context.WithoutCancel(ctx), job.ID)
	if err = errors.Join(err, jerr); err != nil {
		return err
	}
	end, err := endOfTableJob(job)
	if err != nil {
		return err
	}
	return c.Print(end, func(w io.Writer) error { return writeTable(w, end) })
}

func endOfTableJob(job store.Job) (endOfTable, error) {
	var o tables.Options
	end := endOfTable{Job: job.ID, Kind: job.Kind, State: job.State, Seconds: job.Time(time.Now()).Seconds()}
	err := errors.Join(json.Unmarshal(job.Options, &o), json.Unmarshal(job.Counters, &end.Counters))
	end.InPlace = o.InPlace
	return end, err
}

// writeTable prints what a job on the record came to.
func writeTable(w io.Writer, e endOfTable) error {
	if g := e.Whitelist; g != nil {
		fmt.Fprintf(w, generatedList, g.Domains, g.Documents, g.Citations, g.Core, g.Listed, g.URLs)
	} else {
		fmt.Fprintf(w, "looked at %d\ndocuments %d, %d bytes\n", e.Looked, e.Documents, e.Bytes)
		for _, n := range []struct {
			name string
			n    int64
		}{{"places", e.Places}, {"parents", e.Parents}, {"asked", e.Asked}, {"rows with texts", e.Texts}, {"kept", e.Kept}, {"without a file", e.Failed}} {
			if n.n > 0 {
				fmt.Fprintf(w, "%s %d\n", n.name, n.n)
			}
		}
		for _, why := range slices.Sorted(maps.Keys(e.Why)) {
			fmt.Fprintf(w, "  %s %d\n", why, e.Why[why])
		}
	}
	if !e.InPlace && (e.Kind == store.JobCleanDocuments || e.Kind == store.JobCleanParents) {
		fmt.Fprintf(w, "a dry run: nothing was changed; `starter jobs run %d --confirm --wait` removes it\n", e.Job)
	}
	_, err := fmt.Fprintf(w, "execution time %s\n", rounded(time.Duration(e.Seconds*float64(time.Second))))
	return err
}

// writeRecords writes all lines of a job to a file as CSV.
func writeRecords(ctx context.Context, db store.JobRecords, id int64, file string) error {
	return program.WriteFile(file, func(w io.Writer) error { return recordsTo(ctx, db, id, w) })
}

// recordsTo writes all lines of a job as CSV.
func recordsTo(ctx context.Context, db store.JobRecords, id int64, w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(store.RecordHeads()); err != nil {
		return err
	}
	for after := int64(0); ; {
		batch, err := db.ImportRecords(ctx, id, after, false, linesAtOnce)
		if err != nil {
			return err
		}
		for _, r := range batch {
			if after = r.N; out.Write(r.Row()) != nil {
				break // Error says it
			}
		}
		if out.Flush(); len(batch) < linesAtOnce || out.Error() != nil {
			return out.Error()
		}
	}
}

// jobNumber reads the number of a job.
func jobNumber(s string) (int64, error) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: want %s, not %q", program.ErrUsage, aJob, s)
	}
	return id, nil
}
