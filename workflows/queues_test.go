package workflows

import (
	"context"
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"gleaner/activities"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
)

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
			env.OnActivity(imports.VerifyImport, mock.Anything, mock.Anything).Return(ingest.Counters{}, nil)
			env.ExecuteWorkflow(ImportCrawl, ingest.Run{Job: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestWorkflowEnvironment()
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
