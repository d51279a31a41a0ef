package workflows

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/harvest/report"
)

// TestAPausedHarvestIsBegunAgainPaused, where its workflow was lost.
func TestAPausedHarvestIsBegunAgainPaused(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	var listed time.Time
	list := func(context.Context, activities.Harvest) (activities.Listed, error) {
		listed = env.Now()
		return activities.Listed{}, nil
	}
	env.OnActivity(stages.ListPapers, mock.Anything, mock.Anything).Return(list)
	onWaves(env, nil, nil)
	easyStages(env)
	env.RegisterDelayedCallback(func() { env.UpdateWorkflow(UpdateResume, "resume", callback(t)) }, time.Hour)
	began := env.Now()
	env.ExecuteWorkflow(HarvestVenue, HarvestParams{Harvest: webdb, State: HarvestState{Paused: true}})
	require.NoError(t, env.GetWorkflowError())
	require.GreaterOrEqual(t, listed.Sub(began), time.Hour)
	env.AssertActivityCalled(t, "Pause", mock.Anything, webdb.ID, true)
}

// TestAHarvestPausedForMonths: a harvest that is paused for 90 days in whatever stage is
// resumed and ends, and meanwhile each of its workflows looks once a day.
func TestAHarvestPausedForMonths(t *testing.T) {
	t.Parallel()
	const days, host, early = 90, "ada.example", "eve.example"
	for _, stage := range []gleaner.Stage{
		gleaner.StagePapers, gleaner.StageHeld, gleaner.StageCopies,
		gleaner.StageHomepages, gleaner.StageCrawl, gleaner.StageReport,
	} {
		t.Run(string(stage), func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: HarvestID(webdb.ID)})
			var paused atomic.Bool
			pause := func(at gleaner.Stage) {
				if at != stage || !paused.CompareAndSwap(false, true) {
					return
				}
				env.RegisterDelayedCallback(func() { env.UpdateWorkflow(UpdatePause, "pause", callback(t)) }, 0)
				env.RegisterDelayedCallback(func() {
					paused.Store(false)
					stage = "" // once
					env.UpdateWorkflow(UpdateResume, "resume", callback(t))
				}, days*24*time.Hour)
			}
			// On a server attempts leave no events; the test environment makes ten at most.
			unlessPaused := func(at gleaner.Stage) error {
				if pause(at); paused.Load() {
					return temporal.NewApplicationErrorWithOptions("paused", activities.ErrTypePaused,
						temporal.ApplicationErrorOptions{NextRetryDelay: days / 5 * 24 * time.Hour})
				}
				return nil
			}
			answer := func(name any, how any) { env.OnActivity(name, mock.Anything, mock.Anything).Return(how) }
			answer(stages.ListPapers, func(context.Context, activities.Harvest) (activities.Listed, error) {
				return activities.Listed{}, unlessPaused(gleaner.StagePapers)
			})
			answer(documents.MatchHeld, func(context.Context, activities.HeldSearch) (activities.HeldPosition, error) {
				pause(gleaner.StageHeld)
				return nowhere, nil
			})
			answer(stages.LocateCopies, func(context.Context, activities.Harvest) (harvest.Seeded, error) {
				return harvest.Seeded{}, unlessPaused(gleaner.StageCopies)
			})
			answer(stages.FindHomepages, func(context.Context, activities.Batch) (activities.Authors, error) {
				return activities.Authors{}, unlessPaused(gleaner.StageHomepages)
			})
			answer(stages.SitesFound, func(_ context.Context, b activities.Batch) (activities.Sites, error) {
				found := activities.Sites{More: true, Paused: paused.Load()}
				if len(b.Without) == 0 {
					found.Hosts = []string{early}
				}
				return found, nil
			})
			slices := map[string]int{}
			env.OnActivity(crawler.CrawlSlice, mock.Anything, mock.Anything, mock.Anything).Return(func(_ context.Context, of string, _ bool) (activities.Slice, error) {
				if of == host {
					pause(gleaner.StageCrawl)
				}
				slices[of]++
				if paused.Load() {
					return activities.Slice{Result: crawl.Result{Ending: crawl.Paused}}, nil
				}
				return activities.Slice{Result: crawl.Result{Ending: crawl.Exhausted}, Examined: true}, nil
			})
			env.OnActivity(stages.EndSite, mock.Anything, mock.Anything).Return([]string{webdb.ID}, nil)
			tell := func(_ context.Context, ids []string, end activities.SiteEnd) error {
				return env.SignalWorkflowByID(ids[0], SignalSiteEnded, end)
			}
			env.OnActivity(stages.TellEnd, mock.Anything, mock.Anything, mock.Anything).Return(tell)
			env.OnActivity(stages.Ended, mock.Anything, mock.Anything).Return(nil, nil).Maybe()
			answer(stages.Report, func(context.Context, activities.Harvest) (report.Summary, error) {
				pause(gleaner.StageReport)
				return report.Summary{}, nil
			})
			onWaves(env, nil, []string{host})
			easyStages(env)
			given := 0
			env.SetOnActivityStartedListener(func(i *activity.Info, _ context.Context, _ converter.EncodedValues) {
				if i.Attempt == 1 && paused.Load() {
					given++
				}
			})
			began, last := env.Now(), stage == gleaner.StageReport
			env.ExecuteWorkflow(HarvestVenue, HarvestParams{Harvest: webdb})
			require.NoError(t, env.GetWorkflowError())
			require.True(t, last || env.Now().Sub(began) >= days*24*time.Hour, "a report that is begun ends")
			require.NotEmpty(t, slices[host])
			require.Less(t, given, 3*(days+10), "activities while it was paused")
			require.Less(t, slices[host], days+10)
			require.Less(t, slices[early], days+10)
		})
	}
}
