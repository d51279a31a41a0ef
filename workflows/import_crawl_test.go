package workflows

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"gleaner/activities"
	"gleaner/internal/ingest"
)

// TestAnImportHasTheTimeItNeeds to come back to where it was, and to compare all that it
// saved: a limit of hours would begin what takes longer anew for ever.
func TestAnImportHasTheTimeItNeeds(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	limits := map[string]time.Duration{}
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		limits[info.ActivityType.Name] = time.Until(info.Deadline)
	})
	env.OnActivity(imports.ImportSlice, mock.Anything, mock.Anything).Return(ingest.Progress{Ended: true}, nil)
	env.OnActivity(imports.VerifyImport, mock.Anything, mock.Anything).Return(ingest.Counters{}, nil)
	env.OnActivity(imports.EndImport, mock.Anything, mock.Anything).Return(nil)
	env.ExecuteWorkflow(ImportCrawl, ingest.Run{Job: 1, Run: 1})
	require.NoError(t, env.GetWorkflowError())
	for _, name := range []string{"ImportSlice", "VerifyImport"} {
		require.Greater(t, limits[name], 100*activities.Still, name)
	}
}
