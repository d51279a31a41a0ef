package workflows

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"gleaner/activities"
	"gleaner/internal/ingest"
)

// TestAnImportHasTheTimeItNeeds to come back to where it was: a limit of hours would begin
// what takes longer anew for ever. What it saved is compared in slices, which yield.
func TestAnImportHasTheTimeItNeeds(t *testing.T) {
	t.Parallel()
	env := bareEnv(t)
	limits := map[string]time.Duration{}
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		limits[info.ActivityType.Name] = time.Until(info.Deadline)
	})
	env.OnActivity(imports.ImportSlice, mock.Anything, mock.Anything).Return(ingest.Progress{Ended: true}, nil)
	var compared []int64
	env.OnActivity(imports.VerifyImport, mock.Anything, mock.Anything, mock.Anything).
		Return(func(_ context.Context, _ ingest.Run, after int64) (ingest.Verified, error) {
			compared = append(compared, after)
			return ingest.Verified{After: after + 500, More: after < 1000}, nil
		})
	env.OnActivity(imports.EndImport, mock.Anything, mock.Anything).Return(nil)
	env.ExecuteWorkflow(ImportCrawl, ingest.Run{Job: 1, Run: 1})
	require.NoError(t, env.GetWorkflowError())
	require.Greater(t, limits["ImportSlice"], 100*activities.Still)
	require.Equal(t, []int64{0, 500, 1000}, compared)
}
