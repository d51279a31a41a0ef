package workflows

import (
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
)

var (
	attrVenue   = temporal.NewSearchAttributeKeyKeyword(gleaner.VenueAttribute)
	attrVenues  = temporal.NewSearchAttributeKeyKeywordList(gleaner.VenuesAttribute)
	attrHost    = temporal.NewSearchAttributeKeyKeyword(gleaner.HostAttribute)
	attrStage   = temporal.NewSearchAttributeKeyKeyword(gleaner.StageAttribute)
	attrOutcome = temporal.NewSearchAttributeKeyKeyword(gleaner.OutcomeAttribute)
)

// Register makes a worker of the harvest queue run the workflows.
func Register(w worker.WorkflowRegistry) {
	w.RegisterWorkflow(HarvestVenue)
	w.RegisterWorkflow(FindHomepages)
	w.RegisterWorkflow(CrawlSite)
	w.RegisterWorkflow(RecrawlDue)
	w.RegisterWorkflow(OnSchedule)
	w.RegisterWorkflow(JudgeLeft)
	w.RegisterWorkflow(TellNews)
	w.RegisterWorkflow(ImportCrawl)
	w.RegisterWorkflow(TableJob)
	w.RegisterWorkflow(SynthesizeCollections)
}

// runIsFull reports whether a run must continue as new. A cancelled run does not, since the
// next run would not know of the cancellation.
func runIsFull(ctx workflow.Context) bool {
	return workflow.GetInfo(ctx).GetContinueAsNewSuggested() && ctx.Err() == nil
}

// TaskTime is the timeout of a workflow task, which takes milliseconds. The workflow waits so
// long if its worker dies.
const TaskTime = activities.Silence

// HarvestID is the workflow id of a harvest.
func HarvestID(harvest string) string { return "harvest/" + harvest }

// SiteID is the workflow id of a site's crawl, one for each host.
func SiteID(host string) string { return "site/" + host }

// Their methods name activities.
var (
	stages    *activities.Stages
	crawler   *activities.Crawl
	documents *activities.Documents
	recrawls  *activities.Recrawls
	notices   *activities.Notices
	imports   *activities.Imports
	tableJobs *activities.Tables
	topical   *activities.Collections
)

// again is the retry policy of activities.
var again = temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute}

// on sets the options of an activity. The activity marks permanent errors as such. All others
// are retried without limit, since they are outages (of the database, an API, room on a
// disk) that end, and people can see the error meanwhile.
func on(ctx workflow.Context, queue, what string, timeout time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           queue,
		StartToCloseTimeout: timeout,
		HeartbeatTimeout:    activities.Silence,
		WaitForCancellation: true,
		Summary:             summary(what),
		RetryPolicy:         &again,
	})
}

// long is on for activities that take as long as there is work: they heartbeat, and continue
// where the attempt before was interrupted.
func long(ctx workflow.Context, queue, what string) workflow.Context {
	return on(ctx, queue, what, 6*time.Hour)
}

// unlimited is long for activities that may need days to reach the point where the attempt
// before was interrupted. They end by themselves if they make no progress.
func unlimited(ctx workflow.Context, queue, what string) workflow.Context {
	return on(ctx, queue, what, 365*24*time.Hour)
}

// quick is on for activities with a few short statements.
func quick(ctx workflow.Context, what string) workflow.Context {
	return on(ctx, activities.QueueHarvest, what, 5*time.Minute)
}

// childOf returns the options of a child workflow. Another of its id may have ended before.
func childOf(id string, about Description) workflow.ChildWorkflowOptions {
	return workflow.ChildWorkflowOptions{
		WorkflowID:            id,
		TaskQueue:             activities.QueueHarvest,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WaitForCancellation:   true,
		StaticSummary:         about.Summary,
		StaticDetails:         about.Details,
		WorkflowTaskTimeout:   TaskTime,
	}
}

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

// TellNewsID is the workflow id of TellNews: one at a time is enough.
const TellNewsID = "job/tell-news"

// TellNews sends notices to the operators; no harvest waits for it. If a webhook or a mail
// server fails, it retries for about an hour, and then with the next news. It returns how
// many channels it notified.
func TellNews(ctx workflow.Context) (int, error) {
	ctx = workflow.WithRetryPolicy(quick(ctx, "notices"), temporal.RetryPolicy{InitialInterval: 5 * time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Minute, MaximumAttempts: 12})
	var n int
	err := workflow.ExecuteActivity(ctx, notices.TellNews).Get(ctx, &n)
	return n, err
}

// ScheduledParams is the workflow that a schedule starts: one of the two.
type ScheduledParams struct {
	Harvest *HarvestParams `json:"harvest,omitempty"`
	Recrawl *RecrawlParams `json:"recrawl,omitempty"`
}

// OnSchedule starts the workflow of a schedule under its usual workflow id, and ends when that
// ends. A schedule gives each run an id with the time, under which neither sites nor people
// would find the harvest. If the workflow is running already, OnSchedule does nothing.
func OnSchedule(ctx workflow.Context, p ScheduledParams) (string, error) {
	var o workflow.ChildWorkflowOptions
	var of, params any
	switch {
	case p.Harvest != nil:
		o = childOf(HarvestID(p.Harvest.Harvest.ID), DescribeHarvest(p.Harvest.Harvest))
		of, params = HarvestVenue, *p.Harvest
	case p.Recrawl != nil:
		o = childOf(RecrawlID(p.Recrawl.Due.Of.Venue), DescribeRecrawl(*p.Recrawl))
		of, params = RecrawlDue, *p.Recrawl
	default:
		return "", temporal.NewNonRetryableApplicationError("a schedule of nothing", activities.ErrTypeInput, errors.New("neither harvest nor recrawl"))
	}
	o.ParentClosePolicy = enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL
	f := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, o), of, params)
	err := f.GetChildWorkflowExecution().Get(ctx, nil)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return o.WorkflowID + " runs already", nil
	}
	if err != nil {
		return "", err
	}
	return o.WorkflowID, f.Get(ctx, nil)
}

// JudgeLeftID is the workflow id of JudgeLeft: one at a time is enough.
const JudgeLeftID = "job/judge-left"

// JudgeLeft judges stored documents to which no crawl returns. It returns how many its last
// run judged.
func JudgeLeft(ctx workflow.Context) (int, error) {
	ctx = long(ctx, activities.QueueDocuments, "documents left behind")
	n, more, err := judge(ctx, runIsFull, documents.FilterDocuments, "")
	if more {
		err = workflow.NewContinueAsNewError(ctx, JudgeLeft)
	}
	return n, err
}

// never is an end for judge that lets it judge all documents.
func never(workflow.Context) bool { return false }

// judge runs an activity that judges documents, until none is left or end reports true. It
// works in slices, since other work waits in the queue. It returns how many were judged, and
// whether more are left.
func judge(ctx workflow.Context, end func(workflow.Context) bool, activity any, of string) (n int, more bool, err error) {
	for more = true; more && !end(ctx); {
		var j activities.Judged
		if err := workflow.ExecuteActivity(ctx, activity, of).Get(ctx, &j); err != nil {
			return n, false, err
		}
		n, more = n+j.Documents, j.More
	}
	return n, more, nil
}
