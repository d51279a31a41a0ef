package workflows

import (
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"gleaner/internal/synthesis"
)

// collects runs the workflow with a crawl of one round; while is called over the
// activity that writes its end.
func collects(t *testing.T, begin, while func(*testsuite.TestWorkflowEnvironment)) error {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.OnActivity(topical.PrepareCollection, mock.Anything, "some").Return(synthesis.Prepared{Centroids: 1}, nil)
	env.OnActivity(topical.CollectSlice, mock.Anything, "some").Return(synthesis.Result{Ending: synthesis.Full}, nil)
	env.OnActivity(topical.EndCollection, mock.Anything, mock.Anything).Return(nil).Run(func(mock.Arguments) { while(env) })
	env.RegisterDelayedCallback(func() { begin(env) }, 0)
	env.ExecuteWorkflow(SynthesizeCollections, CollectParams{Name: "some"})
	require.True(t, env.IsWorkflowCompleted())
	return env.GetWorkflowError()
}

// TestCollectionsAskedForAtTheirEnd, after it was written and before the run is over, are
// gone on with under what was asked for then; the signal with which a run begins, and one
// that comes meanwhile, are no such thing.
func TestCollectionsAskedForAtTheirEnd(t *testing.T) {
	t.Parallel()
	nothing := func(*testsuite.TestWorkflowEnvironment) {}
	ask := func(env *testsuite.TestWorkflowEnvironment) {
		env.SignalWorkflow(SignalAskedAgain, CollectParams{Name: "some", Parallel: 7})
	}
	require.NoError(t, collects(t, ask, nothing))
	var again *workflow.ContinueAsNewError
	require.ErrorAs(t, collects(t, nothing, ask), &again)
	var p CollectParams
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &p))
	require.Equal(t, CollectParams{Name: "some", Parallel: 7}, p)
}
