package workflows

import (
	"context"
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/harvest/report"
)

// A harvest asks once more, before it reports, for what had not answered, and
// begins with the first stage that left anything open.
func TestHarvestAsksAgainBeforeItReports(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		open  activities.Questions
		again gleaner.Stage
		order []string
	}{
		{"all answered", activities.Questions{}, "", []string{"list", "copies", "homepages"}},
		{"authors", activities.Questions{Authors: 2}, gleaner.StageHomepages, []string{"list", "copies", "homepages", "homepages"}},
		{"copies", activities.Questions{Copies: 1, Authors: 2}, gleaner.StageCopies, []string{"list", "copies", "homepages", "copies again", "homepages"}},
		{"papers", activities.Questions{Papers: 1}, gleaner.StagePapers, []string{"list", "copies", "homepages", "list", "copies", "homepages"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			var order []string
			note := func(what string) { order = append(order, what) }
			env.OnActivity(stages.ListPapers, mock.Anything, mock.Anything).Return(func(context.Context, activities.Harvest) (activities.Listed, error) {
				note("list")
				return activities.Listed{}, nil
			})
			env.OnActivity(stages.LocateCopies, mock.Anything, mock.Anything).Return(func(context.Context, activities.Harvest) (harvest.Seeded, error) {
				note("copies")
				return harvest.Seeded{URLs: 1}, nil
			})
			env.OnActivity(stages.LocateAgain, mock.Anything, mock.Anything).Return(func(context.Context, activities.Harvest) (harvest.Seeded, error) {
				note("copies again")
				return harvest.Seeded{URLs: 1}, nil
			}).Maybe()
			env.OnActivity(stages.SeedHomepages, mock.Anything, mock.Anything).Return(func(context.Context, activities.Harvest) (harvest.Seeded, error) {
				note("homepages")
				return harvest.Seeded{}, nil
			})
			env.OnActivity(stages.AskAgain, mock.Anything, webdb.ID).Return(tc.open, nil).Once() // a host that stays out is not waited for
			easyStages(env)
			onWaves(env)
			env.ExecuteWorkflow(HarvestVenue, HarvestParams{Harvest: webdb})
			require.NoError(t, env.GetWorkflowError())
			require.Equal(t, tc.order, order)
			env.AssertNumberOfCalls(t, "AskAgain", 1)
			var r HarvestResult
			require.NoError(t, env.GetWorkflowResult(&r))
			require.Equal(t, tc.again, r.State.Again)
		})
	}
}

// A person's retry begins where something was left open, and nowhere before.
func TestARetryBeginsWhereSomethingIsOpen(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		what  activities.Retry
		open  activities.Questions
		begin gleaner.Stage
	}{
		{"nothing open", activities.Retry{}, activities.Questions{}, gleaner.StageCrawl},
		{"authors", activities.Retry{}, activities.Questions{Authors: 1}, gleaner.StageHomepages},
		{"catalogue", activities.Retry{}, activities.Questions{Copies: 1, Authors: 1}, gleaner.StageCopies},
		{"of one site", activities.Retry{Host: "ada.example"}, activities.Questions{Papers: 1, Copies: 1}, gleaner.StageCrawl},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			var entered []gleaner.Stage
			env.OnActivity(stages.SetStage, mock.Anything, mock.Anything).Return(func(_ context.Context, s activities.Stage) error {
				entered = append(entered, s.Stage)
				return nil
			})
			env.OnActivity(stages.StillOpen, mock.Anything, webdb.ID).Return(tc.open, nil)
			env.OnActivity(stages.LocateAgain, mock.Anything, mock.Anything).Return(harvest.Seeded{}, nil).Maybe()
			easyStages(env)
			onWaves(env)
			env.ExecuteWorkflow(HarvestVenue, HarvestParams{Harvest: webdb, Stage: gleaner.StageCrawl, Retry: &tc.what})
			require.NoError(t, env.GetWorkflowError())
			require.Equal(t, tc.begin, entered[0])
			env.AssertNotCalled(t, "AskAgain", mock.Anything, mock.Anything)
		})
	}
}

// Documents that a retry takes up are judged before the harvest reports, though
// nothing else is to be crawled; where there are none nobody looks for them.
func TestWhatStalledIsJudgedBeforeTheReport(t *testing.T) {
	t.Parallel()
	for _, stalled := range []int{2, 0} {
		env := newEnv(t)
		var order []string
		env.OnActivity(stages.Requeue, mock.Anything, mock.Anything).Return(activities.Requeued{Stalled: stalled}, nil).Once()
		env.OnActivity(documents.JudgeStalled, mock.Anything, webdb.ID).Return(func(context.Context, string) (activities.Judged, error) {
			order = append(order, "judge")
			return activities.Judged{Documents: 1, More: len(order) < stalled}, nil
		}).Maybe()
		env.OnActivity(stages.Report, mock.Anything, mock.Anything).Return(func(context.Context, activities.Harvest) (report.Summary, error) {
			order = append(order, "report")
			return report.Summary{}, nil
		})
		easyStages(env)
		onWaves(env)
		env.ExecuteWorkflow(HarvestVenue, HarvestParams{Harvest: webdb, Stage: gleaner.StageCrawl, Retry: &activities.Retry{}})
		require.NoError(t, env.GetWorkflowError())
		want := []string{"judge", "judge", "report"}
		require.Equal(t, want[2-stalled:], order, "in slices")
	}
}
