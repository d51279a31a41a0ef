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

// TestAnActivityPanicsAFewTimes and then fails for good, so that its workflow says why.
func TestAnActivityPanicsAFewTimes(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	logs := &logActivities{log: slog.New(slog.DiscardHandler)}
	env.SetWorkerOptions(worker.Options{
		Interceptors:             []interceptor.WorkerInterceptor{logs},
		DeadlockDetectionTimeout: time.Minute,
	})
	attempts := 0
	env.RegisterActivityWithOptions(func(context.Context) error {
		attempts++
		panic("an answer of which nobody thought")
	}, activity.RegisterOptions{Name: "Ask"})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Hour,
			RetryPolicy: &sdk.RetryPolicy{InitialInterval: time.Second}})
		return workflow.ExecuteActivity(ctx, "Ask").Get(ctx, nil)
	})
	var app *sdk.ApplicationError
	require.ErrorAs(t, env.GetWorkflowError(), &app)
	require.True(t, app.NonRetryable())
	require.Equal(t, string(frontier.Panicked), app.Type())
	require.Equal(t, frontier.MaxDeaths, attempts)
}

// TestAPanicAfterManyAttempts is the first nevertheless: its harvest was paused before.
func TestAPanicAfterManyAttempts(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	logs := &logActivities{log: slog.New(slog.DiscardHandler)}
	env.SetWorkerOptions(worker.Options{
		Interceptors:             []interceptor.WorkerInterceptor{logs},
		DeadlockDetectionTimeout: time.Minute,
	})
	attempts := 0
	env.RegisterActivityWithOptions(func(context.Context) error {
		attempts++
		switch {
		case attempts <= frontier.MaxDeaths:
			return sdk.NewApplicationError("the harvest is paused", activities.ErrTypePaused)
		case attempts == frontier.MaxDeaths+1:
			panic("once")
		}
		return nil
	}, activity.RegisterOptions{Name: "Ask"})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Hour,
			RetryPolicy:         &sdk.RetryPolicy{InitialInterval: time.Second},
		})
		return workflow.ExecuteActivity(ctx, "Ask").Get(ctx, nil)
	})
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, frontier.MaxDeaths+2, attempts)
}
