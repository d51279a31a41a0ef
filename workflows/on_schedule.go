package workflows

import (
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
)

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
	var told Told
	switch {
	case p.Harvest != nil:
		told = TellHarvest(p.Harvest.Harvest)
		o.WorkflowID, o.StaticSummary, o.StaticDetails = HarvestID(p.Harvest.Harvest.ID), told.Summary, told.Details
		f = workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, o), HarvestVenue, *p.Harvest)
	case p.Recrawl != nil:
		told = TellRecrawl(*p.Recrawl)
		o.WorkflowID, o.StaticSummary, o.StaticDetails = RecrawlID(p.Recrawl.Due.Of.Venue), told.Summary, told.Details
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
