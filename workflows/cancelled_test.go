package workflows

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest/temporaltest"
	"gleaner/internal/gleaner"
)

// TestAHarvestCancelledWhileItsWorkerDiesIsCancelled: what it was at is never heard
// of again. Were it called failed, its sites would be crawled on.
func TestAHarvestCancelledWhileItsWorkerDiesIsCancelled(t *testing.T) {
	t.Parallel()
	c, _, _ := temporaltest.Client(t)
	begun, dead := make(chan struct{}, 1), make(chan struct{})
	var last atomic.Value
	for _, queue := range []string{activities.QueueHarvest, activities.QueueMetadata} {
		w := worker.New(c, queue, worker.Options{})
		Register(w)
		for name, f := range map[string]any{
			"Begin":    func(context.Context, activities.Harvest) error { return nil },
			"SetStage": func(_ context.Context, s activities.Stage) error { last.Store(s.Stage); return nil },
			"Counts":   func(context.Context, string) (activities.Counts, error) { return activities.Counts{}, nil },
			"ListPapers": func(context.Context, activities.Harvest) (activities.Listed, error) {
				begun <- struct{}{}
				<-dead
				return activities.Listed{}, nil
			},
		} {
			w.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
		}
		require.NoError(t, w.Start())
		t.Cleanup(w.Stop)
	}
	t.Cleanup(func() { close(dead) })
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: HarvestID(webdb.ID), TaskQueue: activities.QueueHarvest}, HarvestVenue, HarvestParams{Harvest: webdb})
	require.NoError(t, err)
	<-begun
	require.NoError(t, c.CancelWorkflow(t.Context(), run.GetID(), ""))
	var canceled *temporal.CanceledError
	require.ErrorAs(t, run.Get(t.Context(), nil), &canceled)
	require.Equal(t, gleaner.StageCancelled, last.Load())
}
