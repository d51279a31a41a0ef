package pool

import (
	"context"
	"fmt"
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
	"gleaner/internal/library/repository"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
)

// attempts runs a workflow of one activity, and returns how often that was tried, and after which time it ended.
func attempts(stop chan struct{}, try func(attempt int) error) (n int, took time.Duration, err error) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerStopChannel(stop)
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
		began := workflow.Now(ctx)
		err := workflow.ExecuteActivity(ctx, "Ask").Get(ctx, nil)
		took = workflow.Now(ctx).Sub(began)
		return err
	})
	return n, took, env.GetWorkflowError()
}

// TestAnActivityPanicsAFewTimes and then fails for good, so that its workflow says why.
func TestAnActivityPanicsAFewTimes(t *testing.T) {
	t.Parallel()
	n, _, err := attempts(nil, func(int) error { panic("an answer of which nobody thought") })
	var app *sdk.ApplicationError
	require.ErrorAs(t, err, &app)
	require.True(t, app.NonRetryable())
	require.Equal(t, string(frontier.Panicked), app.Type())
	require.Equal(t, frontier.MaxDeaths, n)
}

// TestAPanicAfterManyAttempts is the first nevertheless: its harvest was paused before.
func TestAPanicAfterManyAttempts(t *testing.T) {
	t.Parallel()
	n, _, err := attempts(nil, func(attempt int) error {
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

// TestAWorkerThatStopsHandsOver what it was at, which begins again at once and did not fail.
func TestAWorkerThatStopsHandsOver(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	close(stop)
	n, took, err := attempts(stop, func(attempt int) error {
		if attempt == 1 {
			return fmt.Errorf("ask: %w", context.Canceled)
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Less(t, took, time.Second)
}

// TestReadyNeedsRoom for a document before one was refused.
func TestReadyNeedsRoom(t *testing.T) {
	t.Parallel()
	repo, err := repository.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	p := &pool{cfg: &config.Config{}, app: &app.App{DB: &store.DB{}, Repo: repo}}
	ready := p.checks()["blobs"]
	require.NoError(t, ready(t.Context()))
	p.cfg.Policy.Fetch.DocumentBytes = 1 << 60
	require.ErrorIs(t, ready(t.Context()), repository.ErrFull)
}
