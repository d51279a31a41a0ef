package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest/temporaltest"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
)

// TestASearchAmongManyDocumentsGoesInSlices: other harvests wait on its queue.
func TestASearchAmongManyDocumentsGoesInSlices(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	var from []activities.HeldPosition
	env.OnActivity(documents.MatchHeld, mock.Anything, mock.Anything).
		Return(func(_ context.Context, s activities.HeldSearch) (activities.HeldPosition, error) {
			at := s.From
			from = append(from, at)
			at.After, at.More = at.After+5, len(from) < 3
			return at, nil
		})
	easyStages(env)
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		return (&harvestRun{p: HarvestParams{Harvest: webdb}}).matchHeld(ctx)
	})
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []activities.HeldPosition{{More: true}, {After: 5, More: true}, {After: 10, More: true}}, from)
}

// TestCollectionsArePausedAndEndedAtOnce: on no queue where slices take minutes.
func TestCollectionsArePausedAndEndedAtOnce(t *testing.T) {
	t.Parallel()
	queues := map[string]string{}
	env := bareEnv(t)
	env.OnActivity(topical.PrepareCollection, mock.Anything, "some").Return(synthesis.Prepared{Centroids: 1}, nil)
	env.OnActivity(topical.PauseCollection, mock.Anything, "some", false).Return(nil)
	env.OnActivity(topical.CollectSlice, mock.Anything, "some").Return(crawl.Result{Ending: synthesis.Full}, nil).
		Run(func(mock.Arguments) { env.UpdateWorkflow(UpdateResume, "1", callback(t)) })
	env.OnActivity(topical.EndCollection, mock.Anything, mock.Anything).Return(nil)
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		queues[info.ActivityType.Name] = info.TaskQueue
	})
	completes(t, env, SynthesizeCollections, CollectParams{Name: "some", Run: 2, Parallel: 1})
	require.Equal(t, activities.QueueHarvest, queues["PauseCollection"])
	require.Equal(t, activities.QueueHarvest, queues["EndCollection"])
	require.Equal(t, activities.QueueCrawl, queues["CollectSlice"])
}

// TestJobsHaveTheirOwnQueue: what takes hours takes no slot of a queue on which crawls and
// harvests wait.
func TestJobsHaveTheirOwnQueue(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(env *testsuite.TestWorkflowEnvironment){
		"job": func(env *testsuite.TestWorkflowEnvironment) {
			env.OnActivity(tableJobs.DoTableJob, mock.Anything, mock.Anything).Return(tables.Progress{More: true}, nil).Once()
			env.OnActivity(tableJobs.DoTableJob, mock.Anything, mock.Anything).Return(tables.Progress{}, nil).Once()
			env.ExecuteWorkflow(TableJob, tables.Run{Job: 1})
		},
		"import": func(env *testsuite.TestWorkflowEnvironment) {
			env.OnActivity(imports.ImportSlice, mock.Anything, mock.Anything).Return(ingest.Progress{Ended: true}, nil)
			env.OnActivity(imports.VerifyImport, mock.Anything, mock.Anything, mock.Anything).
				Return(ingest.Verified{}, nil)
			env.ExecuteWorkflow(ImportCrawl, ingest.Run{Job: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := bareEnv(t)
			env.RegisterActivity(imports)
			env.RegisterActivity(tableJobs)
			env.OnActivity(imports.EndImport, mock.Anything, mock.Anything).Return(nil)
			queues := map[string]bool{}
			env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
				if info.ActivityType.Name == "EndImport" {
					require.Equal(t, activities.QueueHarvest, info.TaskQueue, "a cancelled job ends while others work")
				} else {
					queues[info.TaskQueue] = true
				}
			})
			run(env)
			require.NoError(t, env.GetWorkflowError())
			require.Equal(t, map[string]bool{activities.QueueJobs: true}, queues)
		})
	}
}

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

// What a workflow tells of itself fits Temporal's limits (400 bytes of a summary, 2 KiB
// of an attribute), whatever the goals are called.
func TestWhatIsToldFits(t *testing.T) {
	t.Parallel()
	long := gleaner.Goal{Site: "https://www.example.edu/?" + strings.Repeat("é&", 250)}
	h := activities.NewHarvest(long, gleaner.Years{}, activities.HarvestOptions{})
	for _, about := range []Description{DescribeHarvest(h), DescribeHomepages(h), DescribeSchedule(ScheduledParams{Harvest: &HarvestParams{Harvest: h}})} {
		require.LessOrEqual(t, len(about.Summary), 398)
		require.LessOrEqual(t, len(about.Details), 20_000)
	}
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("site:https://www%d.example.edu/?%s", i, strings.Repeat("&", 60)))
	}
	for _, odd := range []string{"", "conf/a", "<&>\"\\\x00\x1f\n", "é\u2028\u2029\u202e", strings.Repeat("\u2028", 85)} {
		b, err := json.Marshal(odd)
		require.NoError(t, err)
		require.LessOrEqual(t, len(b)+1, jsonSize(odd), "%q", odd)
	}
	for _, list := range [][]string{names, {long.String()}} {
		some := venuesOf(list...)
		require.NotEmpty(t, some)
		b, err := json.Marshal(some)
		require.NoError(t, err)
		require.LessOrEqual(t, len(b), 2048)
	}
	require.Equal(t, []string{"conf/a", "conf/b"}, venuesOf("conf/a", "", "conf/b"))
}
