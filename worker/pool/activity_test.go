package pool

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest/temporaltest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
	"gleaner/internal/service/telemetry"
	"gleaner/workflows"
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

// TestReadyNeedsRoom for a document before one was refused, and a worker that is not told to stop.
func TestReadyNeedsRoom(t *testing.T) {
	t.Parallel()
	repo, err := repository.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	p := &pool{cfg: &config.Config{}, app: &app.App{DB: &store.DB{}, Repo: repo}}
	working, stop := context.WithCancel(t.Context())
	checks := p.checks(working)
	ready := checks["blobs"]
	require.NoError(t, ready(t.Context()))
	p.cfg.Policy.Fetch.DocumentBytes = 1 << 60
	require.ErrorIs(t, ready(t.Context()), repository.ErrFull)
	require.NoError(t, checks["worker"](t.Context()))
	stop()
	require.ErrorContains(t, checks["worker"](t.Context()), "stopping")
}

// TestACollectionIsStartedAgainAsItWasAskedFor: with as many hosts at a time.
func TestACollectionIsStartedAgainAsItWasAskedFor(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := storetest.Open(t, 2)
	record := collections.In(db)
	_, _, err := record.Submit(ctx, "some", synthesis.Request{Parallel: 7}, []string{})
	require.NoError(t, err)
	open, err := collections.Open(ctx, record)
	require.NoError(t, err)
	require.Len(t, open, 1)
	c, _, _ := temporaltest.Client(t)
	require.NoError(t, temporal{c}.Collect(ctx, open[0]))
	first, err := c.GetWorkflowHistory(ctx, workflows.CollectionsID("some"), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
	require.NoError(t, err)
	var p workflows.CollectParams
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(first.GetWorkflowExecutionStartedEventAttributes().GetInput(), &p))
	require.Equal(t, workflows.CollectParams{Name: "some", Run: 1, Parallel: 7}, p)
}

func TestTheSDKSaysAThingOnceAMinute(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	h := quiet(slog.New(slog.NewTextHandler(&out, nil))).Handler()
	began := time.Now()
	for i := range 100 {
		pollers := h.WithAttrs([]slog.Attr{slog.Int("worker", i%4)})
		require.NoError(t, pollers.Handle(context.Background(), slog.NewRecord(began.Add(time.Duration(i)*time.Second), slog.LevelWarn, "Failed to poll for task.", 0)))
	}
	require.NoError(t, h.Handle(context.Background(), slog.NewRecord(began, slog.LevelWarn, "another thing", 0)))
	require.Equal(t, 3, strings.Count(out.String(), "\n"), out.String())
	require.Contains(t, out.String(), "said_as_often_in_between=59")
}

// TestAFailureIsSaidOnce, at whatever level: what the SDK says of it, logActivities does.
func TestAFailureIsSaidOnce(t *testing.T) {
	t.Parallel()
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo} {
		var out strings.Builder
		sdk := quiet(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level})))
		sdk.Error("Activity error.", "error", "DBLP is out")
		require.Empty(t, out.String(), level)
		sdk.Error("another thing")
		require.NotEmpty(t, out.String(), level)
	}
}

// TestTracesLeaveWhereAnEndpointIsNamed gives the process a collector.
func TestTracesLeaveWhereAnEndpointIsNamed(t *testing.T) {
	var sent atomic.Int32
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/traces" && r.ContentLength > 0 {
			sent.Add(1)
		}
	}))
	defer collector.Close()
	quiet := slog.New(slog.DiscardHandler)
	without, err := telemetry.New(t.Context(), "test", "1", func(string) string { return "" }, quiet)
	require.NoError(t, err)
	var o client.Options
	require.NoError(t, instrument(without, &o, quiet))
	require.Empty(t, o.Interceptors, "nobody wants traces")

	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	with, err := telemetry.New(t.Context(), "test", "1", os.Getenv, quiet)
	require.NoError(t, err)
	require.NoError(t, instrument(with, &o, quiet))
	require.Len(t, o.Interceptors, 1)
	_, span := with.Tracer("test").Start(t.Context(), "one")
	span.End()
	require.NoError(t, with.Close(t.Context()))
	require.Equal(t, int32(1), sent.Load())
}
