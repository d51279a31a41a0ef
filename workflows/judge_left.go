package workflows

import (
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
)

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
