package pool

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/record/frontier"
)

// attempts runs a workflow of one activity, and returns how often that was tried.
func attempts(try func(attempt int) error) (n int, err error) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	logs := &logActivities{log: slog.New(slog.DiscardHandler)}
	env.SetWorkerOptions(worker.Options{
		Interceptors:             []interceptor.WorkerInterceptor{logs},
		DeadlockDetectionTimeout: time.Minute,
	})
	env.RegisterActivityWithOptions(func(context.Context) error { n++; return try(n) }, activity.RegisterOptions{Name: "Ask"})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Hour,
			RetryPolicy:         &sdk.RetryPolicy{InitialInterval: time.Second},
		})
		return workflow.ExecuteActivity(ctx, "Ask").Get(ctx, nil)
	})
	return n, env.GetWorkflowError()
}

// TestAnActivityPanicsAFewTimes and then fails for good, so that its workflow says why.
func TestAnActivityPanicsAFewTimes(t *testing.T) {
	t.Parallel()
	n, err := attempts(func(int) error { panic("an answer of which nobody thought") })
	var app *sdk.ApplicationError
	require.ErrorAs(t, err, &app)
	require.True(t, app.NonRetryable())
	require.Equal(t, string(frontier.Panicked), app.Type())
	require.Equal(t, frontier.MaxDeaths, n)
}

// TestAPanicAfterManyAttempts is the first nevertheless: its harvest was paused before.
func TestAPanicAfterManyAttempts(t *testing.T) {
	t.Parallel()
	n, err := attempts(func(attempt int) error {
		switch {
		case attempt <= frontier.MaxDeaths:
			return sdk.NewApplicationError("the harvest is paused", activities.ErrTypePaused)
		case attempt == frontier.MaxDeaths+1:
			panic("once")
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, frontier.MaxDeaths+2, n)
}
