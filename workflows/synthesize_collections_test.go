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
	"gleaner/internal/crawl"
	"gleaner/internal/crawl/synthesis"
)

// collects runs the workflow of asking 2 with a crawl of some rounds; while is called over
// each slice, and atEnd over the activity that writes its end.
func collects(t *testing.T, rounds int, while, atEnd func(*testsuite.TestWorkflowEnvironment)) error {
	env := bareEnv(t)
	env.OnActivity(topical.PrepareCollection, mock.Anything, "some").Return(synthesis.Prepared{Centroids: 1}, nil)
	env.OnActivity(topical.CollectSlice, mock.Anything, "some").Return(func(context.Context, string) (crawl.Result, error) {
		if rounds--; rounds > 0 {
			return crawl.Result{}, nil
		}
		return crawl.Result{Ending: synthesis.Exhausted, Reason: "a.example is paused"}, nil
	}).Run(func(mock.Arguments) { while(env) })
	end := activities.CollectionEnd{Name: "some", Run: 2, State: activities.JobEnded}
	end.Note = "exhausted: a.example is paused"
	env.OnActivity(topical.EndCollection, mock.Anything, end).Return(nil).Run(func(mock.Arguments) { atEnd(env) })
	env.ExecuteWorkflow(SynthesizeCollections, CollectParams{Name: "some", Run: 2, Parallel: 1})
	require.True(t, env.IsWorkflowCompleted())
	return env.GetWorkflowError()
}

// TestCollectionsAskedForAtTheirEnd, or before, with a signal that comes late or early, are
// gone on with under what was asked for last, once; the signal with which a run begins, and
// one of an earlier asking, are no such thing.
func TestCollectionsAskedForAtTheirEnd(t *testing.T) {
	t.Parallel()
	nothing := func(*testsuite.TestWorkflowEnvironment) {}
	ask := func(runs ...int) func(*testsuite.TestWorkflowEnvironment) {
		return func(env *testsuite.TestWorkflowEnvironment) {
			for _, run := range runs {
				env.SignalWorkflow(SignalAskedAgain, CollectParams{Name: "some", Run: run, Parallel: 1})
			}
		}
	}
	require.NoError(t, collects(t, 1, ask(2), ask(1)))
	for _, v := range []struct {
		rounds         int
		while, atEnd   func(*testsuite.TestWorkflowEnvironment)
		run, fromRound int
	}{
		{1, nothing, ask(3), 3, 0},
		{1, nothing, ask(4, 3), 4, 0},
		{1, ask(3), nothing, 3, 0},
		{roundsPerRun + 1, ask(3), nothing, 3, roundsPerRun},
		{roundsPerRun + 1, nothing, nothing, 2, roundsPerRun},
	} {
		var again *workflow.ContinueAsNewError
		require.ErrorAs(t, collects(t, v.rounds, v.while, v.atEnd), &again)
		var p CollectParams
		require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &p))
		require.Equal(t, v.run, p.Run)
		require.Equal(t, v.fromRound > 0, p.State.Prepared != nil, "it goes on with what it has only where it is the same")
	}
}

// TestCollectionsPausedOnRecord rest from their beginning, in each stage: a run that the
// reconciler starts again knows no pause of the run before.
func TestCollectionsPausedOnRecord(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"searching", "collecting"} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			env := bareEnv(t)
			paused, prepared, slices := true, 0, 0
			env.OnActivity(topical.PauseCollection, mock.Anything, "some", false).Return(func(context.Context, string, bool) error { paused = false; return nil })
			env.OnActivity(topical.PrepareCollection, mock.Anything, "some").Return(func(context.Context, string) (synthesis.Prepared, error) {
				prepared++
				return synthesis.Prepared{Centroids: 1, Paused: paused && stage == "searching"}, nil
			})
			env.OnActivity(topical.CollectSlice, mock.Anything, "some").Return(func(context.Context, string) (crawl.Result, error) {
				if slices++; paused {
					return crawl.Result{Ending: crawl.Paused}, nil
				}
				return crawl.Result{Ending: synthesis.Full}, nil
			})
			env.RegisterDelayedCallback(func() {
				assert.LessOrEqual(t, prepared+slices, 2, "it looks again and again")
				env.UpdateWorkflow(UpdateResume, "1", &testsuite.TestUpdateCallback{OnAccept: func() {}, OnReject: func(error) {}, OnComplete: func(any, error) {}})
			}, 90*24*time.Hour)
			env.OnActivity(topical.EndCollection, mock.Anything, mock.Anything).Return(nil)
			env.ExecuteWorkflow(SynthesizeCollections, CollectParams{Name: "some", Run: 1, Parallel: 1})
			require.NoError(t, env.GetWorkflowError())
			require.Equal(t, 3, prepared+slices)
		})
	}
}

// learns runs a crawl of five rounds of one slice, each of four pages and two documents,
// and says at how many of them its classifiers learnt anew, which fails as told.
func learns(t *testing.T, every int, fails error) (at []int, s CollectState) {
	env := bareEnv(t)
	rounds := 0
	env.OnActivity(topical.PrepareCollection, mock.Anything, "some").Return(synthesis.Prepared{Centroids: 1, Retrain: every}, nil)
	env.OnActivity(topical.CollectSlice, mock.Anything, "some").Return(func(context.Context, string) (crawl.Result, error) {
		rounds++
		r := crawl.Result{Progress: crawl.Progress{Pages: 4, Documents: 2}, Ending: crawl.SliceFull}
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
	env := bareEnv(t)
	env.OnActivity(topical.PrepareCollection, mock.Anything, "some").Return(synthesis.Prepared{Centroids: 1, Retrain: 1}, nil)
	env.OnActivity(topical.CollectSlice, mock.Anything, "some").Return(crawl.Result{Progress: crawl.Progress{Pages: 1}, Ending: crawl.SliceFull}, nil)
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
