package workflows

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
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

// learns runs a crawl of five rounds of one slice, each of four pages and two documents,
// and says at how many of them its classifiers learnt anew, which fails as told.
func learns(t *testing.T, every int, fails error) (at []int, s CollectState) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	rounds := 0
	env.OnActivity(topical.PrepareCollection, mock.Anything, "some").Return(synthesis.Prepared{Centroids: 1, Retrain: every}, nil)
	env.OnActivity(topical.CollectSlice, mock.Anything, "some").Return(func(context.Context, string) (synthesis.Result, error) {
		rounds++
		r := synthesis.Result{Progress: synthesis.Progress{Pages: 4, Documents: 2}, Ending: synthesis.SliceFull}
		if rounds == 5 {
			r.Ending = synthesis.Full
		}
		return r, nil
	})
	env.OnActivity(topical.RetrainCollection, mock.Anything, mock.Anything).Maybe().Return(func(_ context.Context, r synthesis.Relearning) (synthesis.Relearnt, error) {
		assert.Equal(t, synthesis.Relearning{Name: "some", Run: 3, Pages: r.Pages}, r)
		at = append(at, r.Pages)
		return synthesis.Relearnt{Topics: 1, Failed: []string{"verses: nothing to learn from"}}, fails
	})
	env.OnActivity(topical.EndCollection, mock.Anything, mock.Anything).Return(nil)
	env.ExecuteWorkflow(SynthesizeCollections, CollectParams{Name: "some", Run: 3, Parallel: 1})
	require.NoError(t, env.GetWorkflowError())
	require.NoError(t, env.GetWorkflowResult(&s))
	require.Equal(t, 5, rounds)
	require.Equal(t, synthesis.Full, s.End)
	return at, s
}

// TestCollectionsLearnAnew each time that enough was brought in, between slices; where that
// fails the crawl goes on, tells of it, and tries again after as much.
func TestCollectionsLearnAnew(t *testing.T) {
	t.Parallel()
	at, s := learns(t, 10, nil)
	require.Equal(t, []int{12, 24}, at)
	require.Equal(t, "at 24 pages and documents 1 classifiers learnt anew; those of before stay for verses: nothing to learn from", s.Learning)
	at, s = learns(t, 20, errors.New("no memory"))
	require.Equal(t, []int{24, 24, 24, 24, 24}, at, "tried some times")
	require.Equal(t, "at 24 pages and documents no classifier learnt anew: no memory", s.Learning)
	at, s = learns(t, 0, nil)
	require.Empty(t, at)
	require.Empty(t, s.Learning)
}

// TestCollectionsCancelledOverLearning end as cancelled.
func TestCollectionsCancelledOverLearning(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.OnActivity(topical.PrepareCollection, mock.Anything, "some").Return(synthesis.Prepared{Centroids: 1, Retrain: 1}, nil)
	env.OnActivity(topical.CollectSlice, mock.Anything, "some").Return(synthesis.Result{Progress: synthesis.Progress{Pages: 1}, Ending: synthesis.SliceFull}, nil)
	env.OnActivity(topical.RetrainCollection, mock.Anything, mock.Anything).Return(func(ctx context.Context, _ synthesis.Relearning) (synthesis.Relearnt, error) {
		env.CancelWorkflow()
		<-ctx.Done()
		return synthesis.Relearnt{}, ctx.Err()
	})
	var ended activities.CollectionEnd
	env.OnActivity(topical.EndCollection, mock.Anything, mock.Anything).Return(func(_ context.Context, e activities.CollectionEnd) error { ended = e; return nil })
	env.ExecuteWorkflow(SynthesizeCollections, CollectParams{Name: "some", Parallel: 1})
	require.True(t, temporal.IsCanceledError(env.GetWorkflowError()), "%v", env.GetWorkflowError())
	require.Equal(t, activities.CollectionEnd{Name: "some", State: activities.JobCancelled}, ended)
}
