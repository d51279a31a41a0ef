package workflows

import (
	"cmp"
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/ingest"
)

// ImportID is the workflow id of a job that imports.
func ImportID(job int64) string { return fmt.Sprintf("import/%d", job) }

// ImportCrawl imports what another crawler left, slice by slice, compares what it
// saved with the record, and ends its job. It returns what the import came to.
func ImportCrawl(ctx workflow.Context, run ingest.Run) (ingest.Counters, error) {
	r := &importRun{run: run}
	err := query(ctx, QueryStatus, func() (ingest.Progress, error) { return r.at, nil })
	if err == nil {
		err = workflow.UpsertTypedSearchAttributes(ctx, attrStage.ValueSet("importing"))
	}
	if err == nil {
		err = r.slices(ctx)
	}
	if workflow.IsContinueAsNewError(err) {
		return r.at.Counters, err
	}
	if err == nil {
		err = r.verify(ctx)
	}
	return r.at.Counters, endJob(ctx, r.run, err, r.details)
}

type importRun struct {
	run ingest.Run
	at  ingest.Progress
}

func (r *importRun) slices(ctx workflow.Context) error {
	for !r.at.Ended {
		if runIsFull(ctx) {
			return workflow.NewContinueAsNewError(ctx, ImportCrawl, r.run)
		}
		summary := fmt.Sprintf("import %d from record %d on", r.run.Job, r.at.Done+1)
		if err := workflow.ExecuteActivity(unlimited(ctx, activities.QueueJobs, summary), imports.ImportSlice, r.run).Get(ctx, &r.at); err != nil {
			return err
		}
		workflow.SetCurrentDetails(ctx, r.details(""))
	}
	return nil
}

func (r *importRun) verify(ctx workflow.Context) error {
	if err := workflow.UpsertTypedSearchAttributes(ctx, attrStage.ValueSet("verifying")); err != nil {
		return err
	}
	for after, more := int64(0), true; more; {
		var v ingest.Verified
		o := long(ctx, activities.QueueJobs, "what is on record of it")
		if err := workflow.ExecuteActivity(o, imports.VerifyImport, r.run, after).Get(ctx, &v); err != nil {
			return err
		}
		r.at.Counters, after, more = v.Counters, v.After, v.More
	}
	return nil
}

// endJob ends a job as its workflow ended, with err or cancelled, too, and returns err.
func endJob(ctx workflow.Context, run ingest.Run, err error, details func(end string) string) error {
	end := activities.ImportEnd{Run: run, State: activities.JobEnded}
	switch {
	case ctx.Err() != nil:
		end.State = activities.JobCancelled
	case err != nil:
		end.State, end.Note = activities.JobFailed, rootCause(err)
	}
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	workflow.SetCurrentDetails(ctx, details(end.State))
	o := on(ctx, activities.QueueHarvest, "its end", activities.ImportTime)
	if ended := workflow.ExecuteActivity(o, imports.EndImport, end).Get(ctx, nil); ended != nil {
		return cmp.Or(err, ended)
	}
	return cmp.Or(err, workflow.UpsertTypedSearchAttributes(ctx, attrStage.ValueSet(end.State), attrOutcome.ValueSet(end.State)))
}

func (r *importRun) details(end string) string {
	c := r.at.Counters
	var b strings.Builder
	fmt.Fprintf(&b, "### import %d\n\n", r.run.Job)
	if end != "" {
		fmt.Fprintf(&b, "**%s**, %d differences\n\n", end, c.Differences)
	}
	fmt.Fprintf(&b, "| | |\n|--|--:|\n| all | %d |\n| saved_New | %d |\n| saved_Duplicate | %d |\n| filtered_MTF | %d |\n| filtered_DCF | %d |\n| failed_TextExtract | %d |\n| failed_FileNotFound | %d |\n| failed_PDFFilenotFound | %d |\n| skipped | %d |\n| MB read | %.1f of %.1f |\n",
		c.All, c.SavedNew, c.SavedDuplicate, c.FilteredMTF, c.FilteredDCF, c.FailedTextExtract, c.FailedFileNotFound, c.FailedPDFNotFound, c.SkippedAll, float64(c.Read)/1e6, float64(c.Total)/1e6)
	return b.String()
}
