package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
)

// JobID is the workflow id of a job.
func JobID(kind string, job int64) string {
	if kind == activities.JobImport {
		return ImportID(job)
	}
	return fmt.Sprintf("job/%s/%d", kind, job)
}

// TableJob does a job on what is on record, in slices of minutes: each goes on where the one
// before ended, behind what else waits on the queue. It returns what the job came to.
func TableJob(ctx workflow.Context, run tables.Run) (tables.Progress, error) {
	var at tables.Progress
	err := workflow.UpsertTypedSearchAttributes(ctx, attrStage.ValueSet(run.Kind))
	for at.More = true; err == nil && at.More; {
		if runIsFull(ctx) {
			return at, workflow.NewContinueAsNewError(ctx, TableJob, run)
		}
		what := fmt.Sprintf("job %d: %s, from %d on", run.Job, run.Kind, at.Done+1)
		at = tables.Progress{Done: at.Done}
		err = workflow.ExecuteActivity(long(ctx, activities.QueueJobs, what), tableJobs.DoTableJob, run).Get(ctx, &at)
	}
	job := ingest.Run{Job: run.Job, Run: run.Run}
	return at, endJob(ctx, job, err, func(end string) string { return tableDetails(run, end, at) })
}

func tableDetails(run tables.Run, end string, at tables.Progress) string {
	c := at.Counters
	var b strings.Builder
	fmt.Fprintf(&b, "### job %d, %s\n\n**%s**\n\n| | |\n|--|--:|\n", run.Job, run.Kind, end)
	fmt.Fprintf(&b, "| looked at | %d |\n| documents | %d |\n| places | %d |\n| parents | %d |\n| kept | %d |\n", c.Looked, c.Documents, c.Places, c.Parents, c.Kept)
	if w := c.Whitelist; w != nil {
		fmt.Fprintf(&b, "| domains listed | %d |\n| pages listed | %d |\n", w.Listed, w.URLs)
	}
	return b.String()
}
