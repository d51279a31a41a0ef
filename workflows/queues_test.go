package workflows

import (
	"context"
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/crawl/synthesis"
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
	env.ExecuteWorkflow(SynthesizeCollections, CollectParams{Name: "some", Run: 2, Parallel: 1})
	require.NoError(t, env.GetWorkflowError())
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
