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
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/harvest/report"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
)

type (
	inbound  = interceptor.WorkflowInboundInterceptor
	outbound = interceptor.WorkflowOutboundInterceptor
)

// between stands between workflows of a type, or all, and what they ask for.
type between struct {
	interceptor.WorkerInterceptorBase
	of   string // "" for all
	wrap func(next outbound) outbound
}

type betweenIn struct {
	interceptor.WorkflowInboundInterceptorBase
	wrap func(next outbound) outbound
}

func (b *between) InterceptWorkflow(ctx workflow.Context, next inbound) inbound {
	if b.of != "" && workflow.GetInfo(ctx).WorkflowType.Name != b.of {
		return next
	}
	in := &betweenIn{wrap: b.wrap}
	in.Next = next
	return in
}

func (in *betweenIn) Init(next outbound) error { return in.Next.Init(in.wrap(next)) }

// finishing has an activity that is under way when its workflow is cancelled come to its end,
// as on a server: the test environment takes it for cancelled at once. Nor does a child start
// at once on a server: start is called before it does.
func finishing(start func(workflow.Context)) *between {
	return &between{wrap: func(next outbound) outbound {
		return &finishingOut{interceptor.WorkflowOutboundInterceptorBase{Next: next}, start}
	}}
}

type finishingOut struct {
	interceptor.WorkflowOutboundInterceptorBase
	start func(workflow.Context)
}

func (out *finishingOut) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	if ctx.Err() == nil {
		ctx, _ = workflow.NewDisconnectedContext(ctx)
	}
	return out.Next.ExecuteActivity(ctx, name, args...)
}

func (out *finishingOut) ExecuteChildWorkflow(ctx workflow.Context, name string, args ...any) workflow.ChildWorkflowFuture {
	if out.start != nil {
		out.start(ctx)
	}
	return out.Next.ExecuteChildWorkflow(ctx, name, args...)
}

// TestARunThatIsFullAndCancelledEnds: the next run would not know that it was cancelled.
func TestARunThatIsFullAndCancelledEnds(t *testing.T) {
	t.Parallel()
	type env = *testsuite.TestWorkflowEnvironment
	for name, run := range map[string]func(env, func(mock.Arguments)){
		"harvest": func(env env, cancel func(mock.Arguments)) {
			some := activities.Sites{}
			env.OnActivity(stages.SitesToCrawl, mock.Anything, mock.Anything).Return(some, nil).Run(cancel)
			easyStages(env)
			env.ExecuteWorkflow(HarvestVenue, HarvestParams{Harvest: webdb, Stage: gleaner.StageCrawl})
		},
		"homepages": func(env env, cancel func(mock.Arguments)) {
			batches := activities.AuthorBatches{Last: []string{"a", "b", "c", "d", "e"}, More: true}
			env.OnActivity(stages.AuthorBatches, mock.Anything, mock.Anything, mock.Anything).Return(batches, nil)
			looked := activities.Authors{}
			env.OnActivity(stages.FindHomepages, mock.Anything, mock.Anything).Return(looked, nil).Run(cancel)
			easyStages(env)
			env.ExecuteWorkflow(FindHomepages, HomepagesParams{Harvest: webdb})
		},
		"site": func(env env, cancel func(mock.Arguments)) {
			slice := activities.Slice{Result: crawl.Result{Ending: crawl.SliceFull}}
			end := activities.SiteEnd{Host: "a.example", State: gleaner.SiteStopped, Reason: "cancelled"}
			env.OnActivity(crawler.CrawlSlice, mock.Anything, mock.Anything, mock.Anything).Return(slice, nil).Run(cancel)
			env.OnActivity(documents.FilterDocuments, mock.Anything, mock.Anything).Return(activities.Judged{}, nil)
			env.OnActivity(stages.EndSite, mock.Anything, end).Return(nil, temporal.NewCanceledError()).Once()
			env.ExecuteWorkflow(CrawlSite, SiteParams{Host: "a.example"})
		},
		"recrawl": func(env env, cancel func(mock.Arguments)) {
			some := activities.Sites{More: true}
			env.OnActivity(recrawls.ListDue, mock.Anything, mock.Anything).Return(some, nil).Run(cancel)
			env.OnActivity(recrawls.Leave, mock.Anything, mock.Anything).Return(nil)
			env.ExecuteWorkflow(RecrawlDue, RecrawlParams{})
		},
		"import": func(env env, cancel func(mock.Arguments)) {
			env.OnActivity(imports.ImportSlice, mock.Anything, mock.Anything).Return(ingest.Progress{}, nil).Run(cancel)
			end := activities.ImportEnd{Run: ingest.Run{Job: 1}, State: activities.JobCancelled}
			env.OnActivity(imports.EndImport, mock.Anything, end).Return(nil)
			env.ExecuteWorkflow(ImportCrawl, ingest.Run{Job: 1})
		},
		"job": func(env env, cancel func(mock.Arguments)) {
			more := tables.Progress{More: true}
			env.OnActivity(tableJobs.DoTableJob, mock.Anything, mock.Anything).Return(more, nil).Run(cancel)
			end := activities.ImportEnd{Run: ingest.Run{Job: 1}, State: activities.JobCancelled}
			env.OnActivity(imports.EndImport, mock.Anything, end).Return(nil)
			env.ExecuteWorkflow(TableJob, tables.Run{Job: 1})
		},
		"collections": func(env env, cancel func(mock.Arguments)) {
			full := crawl.Result{Ending: crawl.SliceFull}
			prepared := synthesis.Prepared{Centroids: 1}
			env.OnActivity(topical.PrepareCollection, mock.Anything, "some").Return(prepared, nil)
			env.OnActivity(topical.CollectSlice, mock.Anything, "some").Return(full, nil).Run(cancel)
			end := activities.CollectionEnd{Name: "some", State: activities.JobCancelled}
			env.OnActivity(topical.EndCollection, mock.Anything, end).Return(nil)
			env.ExecuteWorkflow(SynthesizeCollections, CollectParams{Name: "some", Parallel: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			o := patient
			o.Interceptors = []interceptor.WorkerInterceptor{finishing(nil)}
			env.SetWorkerOptions(o)
			run(env, func(mock.Arguments) {
				env.SetContinueAsNewSuggested(true)
				env.CancelWorkflow()
			})
			require.True(t, temporal.IsCanceledError(env.GetWorkflowError()), "%v", env.GetWorkflowError())
		})
	}
}

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
	completes(t, env, HarvestVenue, HarvestParams{Harvest: webdb, State: HarvestState{Paused: true}})
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
			completes(t, env, HarvestVenue, HarvestParams{Harvest: webdb})
			require.True(t, last || env.Now().Sub(began) >= days*24*time.Hour, "a report that is begun ends")
			require.NotEmpty(t, slices[host])
			require.Less(t, given, 3*(days+10), "activities while it was paused")
			require.Less(t, slices[host], days+10)
			require.Less(t, slices[early], days+10)
		})
	}
}
