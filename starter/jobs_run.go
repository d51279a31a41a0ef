package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"go.temporal.io/sdk/client"

	"gleaner/internal/fetch"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/jobfile"
	"gleaner/internal/service/program"
	"gleaner/workflows"
)

// startJob starts a job that is ready, or joins its run that is under way. It waits for the
// workflow of an earlier run to end, which would not do what this one is to do, for 40 seconds.
func startJob(ctx context.Context, t client.Client, job store.Job) error {
	ctx, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	start := func(about workflows.Description, workflow, run any) error {
		for id := workflows.JobID(job.Kind, job.ID); ; {
			joined, err := startOnce(ctx, t, id, about, workflow, run)
			if err != nil || !joined {
				return err
			}
			var runs tables.Run // or ingest.Run
			if _, err = startedWith(ctx, t, id, &runs); err != nil || runs.Run >= job.Run {
				return err
			}
			if err := fetch.Wait(ctx, time.Second); err != nil {
				return fmt.Errorf("run %d of job %d has not ended yet; run it again in a minute: %w", runs.Run, job.ID, err)
			}
		}
	}
	o, err := jobfile.Of(job)
	if err != nil {
		return err
	}
	if job.Kind == store.JobImport {
		run := ingest.Run{Job: job.ID, Run: job.Run}
		return start(workflows.DescribeImport(run, o.Import), workflows.ImportCrawl, run)
	}
	run := tables.Run{Kind: job.Kind, Job: job.ID, Run: job.Run}
	return start(workflows.DescribeTable(run, o.Table), workflows.TableJob, run)
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
	hintNoWorker(ctx, c, t)
	if wait {
		return c.followJob(ctx, t, db, job)
	}
	name := "job"
	if job.Kind == store.JobImport {
		name = "import"
	}
	return c.Say(map[string]any{"job": id, "workflow": workflows.JobID(job.Kind, id)}, "%s %d started; `starter jobs show %d` shows how far it is\n", name, id, id)
}

// renewJob makes a job that does not run ready for another run.
func renewJob(ctx context.Context, db store.JobRecords, id int64) error {
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
	if err := t.CancelWorkflow(ctx, workflows.JobID(job.Kind, id), ""); err != nil && !aboutWorkflow(err) {
		return err
	}
	return db.EndJob(ctx, id, job.Run, store.JobCancelled, "")
}

// writeRecords writes all lines of a job to a file as CSV.
func writeRecords(ctx context.Context, db store.JobRecords, id int64, file string) error {
	return program.WriteFile(file, func(w io.Writer) error { return program.WriteCSV(w, store.RecordHeads(), db.RecordRows(ctx, id)) })
}

// jobNumber reads the number of a job.
func jobNumber(s string) (int64, error) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: want %s, not %q", program.ErrUsage, jobArg, s)
	}
	return id, nil
}

// newJob sets up a job on what is on record, starts it and waits for it.
func newJob(ctx context.Context, c *cli, kind string, o tables.Options, file string) error {
	return c.withBoth(ctx, func(a *app.App, t client.Client) error {
		id, err := a.DB.AddJob(ctx, kind, o)
		if err == nil {
			err = c.runJob(ctx, t, a.DB, id, true)
		}
		if err == nil && file != "" {
			err = writeRecords(ctx, a.DB.JobRecords, id, file)
		}
		return err
	})
}
