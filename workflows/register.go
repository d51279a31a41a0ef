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

// runIsFull reports whether a run is to be continued as new. One that was cancelled is not:
// the next run would not know of that.
func runIsFull(ctx workflow.Context) bool {
	return workflow.GetInfo(ctx).GetContinueAsNewSuggested() && ctx.Err() == nil
}

// TaskTime is how long a worker may take for one step of a workflow, which takes
// milliseconds: so long everything of that workflow waits for one that died over it.
const TaskTime = activities.Silence

// HarvestID is the workflow id of a harvest.
func HarvestID(harvest string) string { return "harvest/" + harvest }

// SiteID is the workflow id of a site's crawl: one a host, whoever wants it.
func SiteID(host string) string { return "site/" + host }

// Only method references of these are used, to name activities.
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

// again is how what fails is tried again.
var again = temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute}

// on gives the options of an activity. Errors that trying again does not help
// are typed so by the activity; all others are tried again for as long as it
// takes, since what they wait for (a database, an API, room on a disk) comes
// back, and a person can see what is waited for.
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

// long is on for activities that take as long as there is work: they beat, and go
// on where the attempt before was cut off.
func long(ctx workflow.Context, queue, what string) workflow.Context {
	return on(ctx, queue, what, 6*time.Hour)
}

// unlimited is long for activities that may need days to come back to where the attempt
// before was cut off: they end by themselves where they stand still.
func unlimited(ctx workflow.Context, queue, what string) workflow.Context {
	return on(ctx, queue, what, 365*24*time.Hour)
}

// quick is on for activities that ask the database for little.
func quick(ctx workflow.Context, what string) workflow.Context {
	return on(ctx, activities.QueueHarvest, what, 5*time.Minute)
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

// TellNews tells whoever runs Gleaner what happened; no harvest waits for it. Where a
// webhook or a mail server does not take it, it is tried again for about an hour, and
// then with the next news. It returns how many channels it notified.
func TellNews(ctx workflow.Context) (int, error) {
	ctx = workflow.WithRetryPolicy(quick(ctx, "notices"), temporal.RetryPolicy{InitialInterval: 5 * time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Minute, MaximumAttempts: 12})
	var n int
	err := workflow.ExecuteActivity(ctx, notices.TellNews).Get(ctx, &n)
	return n, err
}

// ScheduledParams is what a schedule starts: one of the two.
type ScheduledParams struct {
	Harvest *HarvestParams `json:"harvest,omitempty"`
	Recrawl *RecrawlParams `json:"recrawl,omitempty"`
}

// OnSchedule starts what a schedule is for, under the workflow id that everybody
// knows it by, and ends when that does. A schedule gives each run an id of its
// own, with the time in it; sites and people would not find the harvest by that.
// Where it runs already, started by hand, there is nothing to do.
func OnSchedule(ctx workflow.Context, p ScheduledParams) (string, error) {
	o := workflow.ChildWorkflowOptions{
		TaskQueue:             activities.QueueHarvest,
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WaitForCancellation:   true,
		WorkflowTaskTimeout:   TaskTime,
	}
	var f workflow.ChildWorkflowFuture
	var about Description
	switch {
	case p.Harvest != nil:
		about = DescribeHarvest(p.Harvest.Harvest)
		o.WorkflowID, o.StaticSummary, o.StaticDetails = HarvestID(p.Harvest.Harvest.ID), about.Summary, about.Details
		f = workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, o), HarvestVenue, *p.Harvest)
	case p.Recrawl != nil:
		about = DescribeRecrawl(*p.Recrawl)
		o.WorkflowID, o.StaticSummary, o.StaticDetails = RecrawlID(p.Recrawl.Due.Of.Venue), about.Summary, about.Details
		f = workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, o), RecrawlDue, *p.Recrawl)
	default:
		return "", temporal.NewNonRetryableApplicationError("a schedule of nothing", activities.ErrTypeInput, errors.New("neither harvest nor recrawl"))
	}
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

// JudgeLeft has the documents examined that were stored and that no crawl comes
// back to. It returns how many its last run examined.
func JudgeLeft(ctx workflow.Context) (int, error) {
	ctx = long(ctx, activities.QueueDocuments, "documents left behind")
	n, more, err := judge(ctx, runIsFull, documents.FilterDocuments, "")
	if more {
		err = workflow.NewContinueAsNewError(ctx, JudgeLeft)
	}
	return n, err
}

// never is the end of a judge that leaves nothing.
func never(workflow.Context) bool { return false }

// judge runs an activity that judges documents until it leaves none, or until end. It goes in
// slices: others wait on the queue. It returns how many were judged, and whether more are left.
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
