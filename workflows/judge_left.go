package workflows

import (
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
)

// JudgeLeftID is the workflow id of JudgeLeft: one at a time is enough.
const JudgeLeftID = "job/judge-left"

// JudgeLeft has the documents examined that were stored and that no crawl comes
// back to. It returns how many.
func JudgeLeft(ctx workflow.Context) (int, error) {
	var n int
	err := workflow.ExecuteActivity(long(ctx, activities.QueueDocuments, "documents left behind"), documents.FilterDocuments, "").Get(ctx, &n)
	return n, err
}
