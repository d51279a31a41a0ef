package pool_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/worker/pool"
	"gleaner/workflows"
)

// TestTroubleWithoutATime: the server knows no time of an attempt that was not begun.
func TestTroubleWithoutATime(t *testing.T) {
	t.Parallel()
	a := &workflowpb.PendingActivityInfo{ActivityType: &commonpb.ActivityType{Name: "ListPapers"}, Attempt: 2, LastFailure: &failurepb.Failure{Message: "DBLP is out"}}
	require.Equal(t, "harvest/x ListPapers fails and is tried again (attempt 2): DBLP is out", pool.Pending("harvest/x", a).String())
}

// TestTroubleIsSeen: what fails and is tried again can be seen from outside, a
// harvest's own work and the crawls that it waits for; a pause is no trouble, and neither is a worker that stops.
func TestTroubleIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var failed atomic.Bool
	run := func(queue string) worker.Worker {
		k := worker.New(w.client, queue, worker.Options{})
		k.RegisterActivityWithOptions(func(ctx context.Context, host string) (activities.Slice, error) {
			for host == "well.example" && failed.Swap(true) && ctx.Err() == nil { // it goes on after a failure
				activity.RecordHeartbeat(ctx, crawl.Progress{Requests: 1})
				time.Sleep(10 * time.Millisecond)
			}
			return activities.Slice{}, errors.New("the page kills its reader")
		}, activity.RegisterOptions{Name: "CrawlSlice"})
		for name, err := range map[string]error{"ListPapers": temporal.NewApplicationError("DBLP is out", activities.ErrTypeUnavailable),
			"LocateCopies": temporal.NewApplicationError("the harvest is paused", activities.ErrTypePaused), "FindLinks": temporal.NewApplicationError("its worker was told to stop", activities.ErrTypeHandedOver)} {
			k.RegisterActivityWithOptions(func(context.Context) error { return err }, activity.RegisterOptions{Name: name})
		}
		k.RegisterWorkflow(workflows.CrawlSite)
		k.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
			err := workflow.SetQueryHandler(ctx, workflows.QueryStatus, func() (workflows.HarvestState, error) {
				return workflows.HarvestState{Pending: []string{"ada.example", "well.example"}}, nil
			})
			ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
			workflow.ExecuteActivity(ctx, "LocateCopies")
			workflow.ExecuteActivity(ctx, "FindLinks")
			return errors.Join(err, workflow.ExecuteActivity(ctx, "ListPapers").Get(ctx, nil))
		}, workflow.RegisterOptions{Name: "HarvestVenue"})
		require.NoError(t, k.Start())
		t.Cleanup(k.Stop)
		return k
	}
	run(activities.QueueHarvest)
	run(activities.QueueCrawl)
	start := func(id string, of any, args ...any) {
		_, err := w.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: activities.QueueHarvest}, of, args...)
		require.NoError(t, err)
	}
	start(workflows.HarvestID("conf/x/2001"), "HarvestVenue")
	start(workflows.SiteID("ada.example"), workflows.CrawlSite, workflows.SiteParams{Host: "ada.example"})
	start(workflows.SiteID("well.example"), workflows.CrawlSite, workflows.SiteParams{Host: "well.example"})
	require.Eventually(t, failed.Load, time.Minute, 10*time.Millisecond)
	var seen []pool.Trouble
	require.Eventually(t, func() bool {
		var err error
		seen, err = pool.Troubles(t.Context(), w.client, "conf/x/2001")
		return err == nil && len(seen) == 2 && seen[0].Attempt > 1 && seen[1].Attempt > 1
	}, time.Minute, 100*time.Millisecond)
	require.Equal(t, "harvest/conf/x/2001 ListPapers", seen[0].What)
	require.Equal(t, "DBLP is out", seen[0].Error)
	require.False(t, seen[0].Last.IsZero())
	require.Equal(t, "site/ada.example", seen[1].What)
	require.False(t, seen[1].Since.IsZero())
	require.True(t, strings.HasSuffix(seen[1].String(), ": the page kills its reader"), seen[1].String())
	_, err := pool.Troubles(t.Context(), w.client, "conf/never/2001")
	require.NoError(t, err)
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), workflows.SiteID("ada.example"), "", ""))
	seen, err = pool.Troubles(t.Context(), w.client, "conf/x/2001")
	require.NoError(t, err)
	require.Len(t, seen, 1, "a crawl that has ended fails no more")
}
