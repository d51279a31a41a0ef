package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// TellNewsID is the workflow id of TellNews: one at a time is enough.
const TellNewsID = "job/tell-news"

// TellNews tells whoever runs Gleaner what happened; no harvest waits for it. Where a
// webhook or a mail server does not take it, it is tried again for about an hour, and
// then with the next news. It returns how many channels were told something.
func TellNews(ctx workflow.Context) (int, error) {
	ctx = workflow.WithRetryPolicy(quick(ctx, "notices"), temporal.RetryPolicy{InitialInterval: 5 * time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Minute, MaximumAttempts: 12})
	var n int
	err := workflow.ExecuteActivity(ctx, notices.TellNews).Get(ctx, &n)
	return n, err
}
