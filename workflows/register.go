package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/gleaner"
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
