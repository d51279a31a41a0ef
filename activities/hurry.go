package activities

import (
	"context"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
)

// hurry begins at once what of a harvest's work waits for its next attempt: a
// person said that what it waits for is back, or resumed the harvest. A server too old for that lets it
// wait; the attempts come by themselves.
func hurry(ctx context.Context) {
	in := activity.GetInfo(ctx)
	c := activity.GetClient(ctx)
	if c == nil {
		return
	}
	for _, id := range []string{in.WorkflowExecution.ID, HomepagesID(in.WorkflowExecution.ID)} {
		d, err := c.DescribeWorkflowExecution(ctx, id, "")
		if err != nil {
			continue
		}
		run := &commonpb.WorkflowExecution{WorkflowId: id, RunId: d.GetWorkflowExecutionInfo().GetExecution().GetRunId()}
		for _, a := range d.GetPendingActivities() {
			if a.GetState() != enumspb.PENDING_ACTIVITY_STATE_SCHEDULED || a.GetAttempt() < 2 {
				continue
			}
			_, err := c.WorkflowService().ResetActivity(ctx, &workflowservice.ResetActivityRequest{Namespace: in.Namespace, Execution: run,
				Identity: "retry", Activity: &workflowservice.ResetActivityRequest_Id{Id: a.GetActivityId()}})
			if err != nil {
				activity.GetLogger(ctx).Warn("what waits for its next attempt goes on waiting", "workflow", id, "activity", a.GetActivityType().GetName(), "error", err)
			}
		}
	}
}

// HomepagesID is the id of the workflow by which a harvest's workflow finds its
// homepages.
func HomepagesID(harvest string) string { return harvest + "/homepages" }
