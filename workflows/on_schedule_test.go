package workflows

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest/temporaltest"
)

// On a real server: a schedule that fires while its run is under way leaves
// turns out, and what it starts has the id by which everybody knows it.
func TestScheduleDoesNotOverlap(t *testing.T) {
	t.Parallel()
	c, _, _ := temporaltest.Client(t)
	ctx := t.Context()
	started := make(chan string, 8)
	w := worker.New(c, activities.QueueHarvest, worker.Options{})
	w.RegisterWorkflow(OnSchedule)
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, _ RecrawlParams) (RecrawlResult, error) {
		started <- workflow.GetInfo(ctx).WorkflowExecution.ID
		workflow.GetSignalChannel(ctx, "end").Receive(ctx, nil)
		return RecrawlResult{}, nil
	}, workflow.RegisterOptions{Name: "RecrawlDue"})
	require.NoError(t, w.Start())
	defer w.Stop()

	o := client.ScheduleOptions{
		ID: "gleaner/due", Spec: client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Second}}},
		Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: time.Hour,
		Action: &client.ScheduleWorkflowAction{ID: "schedule/due", Workflow: OnSchedule, TaskQueue: activities.QueueHarvest, Args: []any{ScheduledParams{Recrawl: &RecrawlParams{}}}},
	}
	require.Eventually(t, func() bool { // the SDK gives a busy server ten seconds
		_, err := c.ScheduleClient().Create(ctx, o)
		return err == nil || errors.Is(err, temporal.ErrScheduleAlreadyRunning)
	}, 2*time.Minute, 100*time.Millisecond)
	h := c.ScheduleClient().GetHandle(ctx, o.ID)
	require.Equal(t, RecrawlID(""), <-started)
	require.Eventually(t, func() bool {
		d, err := h.Describe(ctx)
		return err == nil && d.Info.NumActionsSkippedOverlap > 0 && d.Info.NumActions == 1
	}, 2*time.Minute, 200*time.Millisecond)
	require.NoError(t, h.Pause(ctx, client.SchedulePauseOptions{}))
	require.NoError(t, c.SignalWorkflow(ctx, RecrawlID(""), "", "end", nil))
	require.NoError(t, c.GetWorkflow(ctx, RecrawlID(""), "").Get(ctx, nil))
	require.NoError(t, h.Delete(ctx))
}
