package workflows

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
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
	env.OnActivity(topical.EndCollection, mock.Anything, mock.Anything).Return(nil).Run(func(a mock.Arguments) {
		end := activities.CollectionEnd{Name: "some", Run: 2, State: activities.JobEnded}
		if rounds <= 0 {
			end.Note = "exhausted: a.example is paused"
		}
		assert.Equal(t, end, a.Get(1))
		atEnd(env)
	})
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
	full := func(runs ...int) func(*testsuite.TestWorkflowEnvironment) {
		return func(env *testsuite.TestWorkflowEnvironment) {
			env.SetContinueAsNewSuggested(true)
			ask(runs...)(env)
		}
	}
	require.NoError(t, collects(t, 1, ask(2), ask(1)))
	for _, v := range []struct {
		rounds       int
		while, atEnd func(*testsuite.TestWorkflowEnvironment)
		run          int
		goesOn       bool
	}{
		{1, nothing, ask(3), 3, false},
		{1, nothing, ask(4, 3), 4, false},
		{1, ask(3), nothing, 3, false},
		{9, full(3), nothing, 3, false},
		{9, ask(3), nothing, 3, false},
		{9, full(), nothing, 2, true},
	} {
		p := continuation[CollectParams](t, collects(t, v.rounds, v.while, v.atEnd))
		require.Equal(t, v.run, p.Run)
		require.Equal(t, v.goesOn, p.State.Prepared != nil, "it goes on with what it has only where it is the same")
	}
}

// TestCollectionsPausedOnRecord rest from their beginning, in each stage, until they are resumed or
// asked for again: a run that the reconciler starts again knows no pause of the run before.
func TestCollectionsPausedOnRecord(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"searching", "collecting", "asked again"} {
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
				if stage == "asked again" {
					env.SignalWorkflow(SignalAskedAgain, CollectParams{Name: "some", Run: 2})
					return
				}
				env.UpdateWorkflow(UpdateResume, "1", callback(t))
			}, 90*24*time.Hour)
			env.OnActivity(topical.EndCollection, mock.Anything, mock.Anything).Return(nil)
			env.ExecuteWorkflow(SynthesizeCollections, CollectParams{Name: "some", Run: 1, Parallel: 1})
			if stage == "asked again" {
				require.True(t, workflow.IsContinueAsNewError(env.GetWorkflowError()), env.GetWorkflowError())
				return
			}
			require.NoError(t, env.GetWorkflowError())
			require.Equal(t, 3, prepared+slices)
		})
	}
}
