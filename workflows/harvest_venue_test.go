package workflows

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/devtest/temporaltest"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/harvest/report"
)

var webdb = activities.Harvest{ID: "conf/webdb/1998-2004", Venue: "conf/webdb", Years: gleaner.Years{From: 1998, To: 2004}}

// patient lets a busy machine take its time.
var patient = worker.Options{DeadlockDetectionTimeout: time.Minute}

// bareEnv is an environment in which no workflow is registered.
func bareEnv(t *testing.T) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var s testsuite.WorkflowTestSuite
	s.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := s.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.SetWorkerOptions(patient)
	return env
}

// newEnv is a test environment in which every stage answers with little and at
// once. A test overrides what it is about before.
func newEnv(t *testing.T) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	env := bareEnv(t)
	Register(env)
	env.RegisterActivity(stages)
	env.RegisterActivity(crawler)
	env.RegisterActivity(documents)
	return env
}

// completes runs a workflow, which ends without an error.
func completes(t *testing.T, env *testsuite.TestWorkflowEnvironment, workflow any, args ...any) {
	t.Helper()
	env.ExecuteWorkflow(workflow, args...)
	require.NoError(t, env.GetWorkflowError())
}

// resultOf runs a workflow, and returns its result.
func resultOf[R any](t *testing.T, env *testsuite.TestWorkflowEnvironment, workflow any, args ...any) (r R) {
	t.Helper()
	completes(t, env, workflow, args...)
	require.NoError(t, env.GetWorkflowResult(&r))
	return r
}

// queried returns the answer of a workflow to a query.
func queried[A any](t *testing.T, env *testsuite.TestWorkflowEnvironment, query string) (a A) {
	t.Helper()
	v, err := env.QueryWorkflow(query)
	require.NoError(t, err)
	require.NoError(t, v.Get(&a))
	return a
}

// continuation returns the parameters with which a workflow that ended so continues as new.
func continuation[P any](t *testing.T, err error) (p P) {
	t.Helper()
	if panicked, ok := errors.AsType[*temporal.PanicError](err); ok {
		t.Fatalf("%v\n%s", err, panicked.StackTrace())
	}
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &next)
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &p))
	return p
}

// nowhere is what a search among the documents found before comes to where there are none.
var nowhere activities.HeldPosition

func easyStages(env *testsuite.TestWorkflowEnvironment) {
	env.OnActivity(stages.Begin, mock.Anything, mock.Anything).Return(nil).Maybe()
	env.OnActivity(stages.SetStage, mock.Anything, mock.Anything).Return(nil).Maybe()
	env.OnActivity(stages.Counts, mock.Anything, mock.Anything).Return(activities.Counts{}, nil).Maybe()
	env.OnActivity(stages.ListPapers, mock.Anything, mock.Anything).Return(activities.Listed{Published: 3, Wanted: 3}, nil).Maybe()
	env.OnActivity(documents.MatchHeld, mock.Anything, mock.Anything).Return(nowhere, nil).Maybe()
	onRecord(env)
	env.OnActivity(stages.LocateCopies, mock.Anything, mock.Anything).Return(harvest.Seeded{}, nil).Maybe()
	env.OnActivity(stages.AuthorBatches, mock.Anything, mock.Anything, mock.Anything).Return(activities.AuthorBatches{Last: []string{"z"}}, nil).Maybe()
	env.OnActivity(stages.FindHomepages, mock.Anything, mock.Anything).Return(activities.Authors{Looked: 2, Found: 1}, nil).Maybe()
	env.OnActivity(stages.SitesFound, mock.Anything, mock.Anything).Return(activities.Sites{}, nil).Maybe()
	env.OnActivity(stages.SettleHomepages, mock.Anything, mock.Anything).Return(harvest.Settled{}, nil).Maybe()
	env.OnActivity(stages.SeedHomepages, mock.Anything, mock.Anything).Return(harvest.Seeded{Hosts: 1, URLs: 1}, nil).Maybe()
	env.OnActivity(stages.Report, mock.Anything, mock.Anything).Return(report.Summary{Wanted: 3, Found: 2}, nil).Maybe()
	env.OnActivity(stages.AskAgain, mock.Anything, mock.Anything).Return(activities.Questions{}, nil).Maybe()
	env.OnActivity(stages.StillOpen, mock.Anything, mock.Anything).Return(activities.Questions{}, nil).Maybe()
	env.OnActivity(stages.Pause, mock.Anything, mock.Anything, mock.Anything).Return(nil).Maybe()
	env.OnActivity(stages.Requeue, mock.Anything, mock.Anything).Return(activities.Requeued{URLs: 4}, nil).Maybe()
}

// onWaves answers SitesToCrawl with one list of hosts after the other.
func onWaves(env *testsuite.TestWorkflowEnvironment, waves ...[]string) {
	n := 0
	env.OnActivity(stages.SitesToCrawl, mock.Anything, mock.Anything).Return(func(context.Context, activities.Batch) (activities.Sites, error) {
		if n++; n > len(waves) {
			return activities.Sites{}, nil
		}
		return activities.Sites{Hosts: waves[n-1]}, nil
	})
}

// onSites makes each CrawlSite end at once and tell the harvest.
func onSites(env *testsuite.TestWorkflowEnvironment, crawled *[]string) {
	env.OnWorkflow(CrawlSite, mock.Anything, mock.Anything).Return(func(ctx workflow.Context, p SiteParams) (activities.SiteEnd, error) {
		*crawled = append(*crawled, p.Host)
		return tellsEnd(ctx, p.Host)
	})
}

// tellsEnd is the end of a CrawlSite, of which the harvest is told.
func tellsEnd(ctx workflow.Context, host string) (activities.SiteEnd, error) {
	end := activities.SiteEnd{Host: host, State: gleaner.SiteDone}
	return end, workflow.SignalExternalWorkflow(ctx, "default-test-workflow-id", "", SignalSiteEnded, end).Get(ctx, nil)
}

func TestHarvestGoesThroughItsStages(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	easyStages(env)
	// One host with an open copy; then one homepage; then a lead off it.
	onWaves(env, []string{"press.example"}, []string{"ada.example"}, []string{"lead.example"})
	var crawled []string
	onSites(env, &crawled)
	var steps []string
	env.SetOnActivityStartedListener(func(a *activity.Info, _ context.Context, args converter.EncodedValues) {
		switch step := a.ActivityType.Name; step {
		case "Counts", "SitesToCrawl", "SitesFound":
		case "SetStage":
			var s activities.Stage
			require.NoError(t, args.Get(&s))
			steps = append(steps, "— "+string(s.Stage))
		default:
			steps = append(steps, step)
		}
	})
	r := resultOf[HarvestResult](t, env, HarvestVenue, HarvestParams{Harvest: webdb})
	pass := []string{"AuthorBatches", "FindHomepages", "SettleHomepages"}
	require.Equal(t, slices.Concat([]string{"Begin", "— papers", "ListPapers", "— held", "MatchHeld", "FindLinks", "— copies", "LocateCopies", "— homepages"}, pass, pass,
		[]string{"SeedHomepages", "MatchHeld", "ReopenLinks",
			"— crawl", "FindLinks", "FindLinks", "AskAgain", "— report", "Report", "— complete"}), steps)
	require.Equal(t, []string{"press.example", "ada.example", "lead.example"}, crawled)
	require.Equal(t, gleaner.StageComplete, r.State.Stage)
	require.Equal(t, 3, r.State.Sites)
	require.Equal(t, 2, r.Summary.Found)
}

func TestHarvestWithoutVenueFailsAtOnce(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.OnActivity(stages.ListPapers, mock.Anything, mock.Anything).
		Return(activities.Listed{}, temporal.NewNonRetryableApplicationError("no venue is called conf/nix", activities.ErrTypeInput, nil)).Once()
	var last activities.Stage
	env.OnActivity(stages.SetStage, mock.Anything, mock.Anything).Return(func(_ context.Context, s activities.Stage) error { last = s; return nil })
	easyStages(env)
	env.ExecuteWorkflow(HarvestVenue, HarvestParams{Harvest: webdb})
	require.ErrorContains(t, env.GetWorkflowError(), "no venue is called conf/nix")
	require.Equal(t, gleaner.StageFailed, last.Stage)
	require.Equal(t, "in stage papers: no venue is called conf/nix", last.Note)
}

func TestHarvestTakesUpTheCrawlAtARetry(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.OnActivity(stages.Requeue, mock.Anything, activities.Retry{Harvest: webdb.ID, Host: "ada.example"}).Return(activities.Requeued{URLs: 4}, nil).Once()
	easyStages(env)
	onWaves(env, []string{"ada.example"})
	var crawled []string
	onSites(env, &crawled)
	completes(t, env, HarvestVenue, HarvestParams{Harvest: webdb, Stage: gleaner.StageCrawl,
		Retry: &activities.Retry{Harvest: webdb.ID, Host: "ada.example"}})
	require.Equal(t, []string{"ada.example"}, crawled)
	env.AssertActivityNotCalled(t, "ListPapers", mock.Anything, mock.Anything)
	env.AssertActivityNumberOfCalls(t, "Requeue", 1)
}

// TestCancelledHarvestLeavesItsSitesCrawling: another harvest may have joined them.
func TestCancelledHarvestLeavesItsSitesCrawling(t *testing.T) {
	t.Parallel()
	begun, cancelled := false, false
	env := envWithSites(t, func(ctx workflow.Context, p SiteParams) (activities.SiteEnd, error) {
		begun = true
		err := workflow.Sleep(ctx, 100*time.Hour)
		cancelled = temporal.IsCanceledError(err)
		return activities.SiteEnd{Host: p.Host, State: "done"}, err
	})
	easyStages(env)
	onWaves(env, []string{"shared.example"})
	env.OnActivity(stages.Ended, mock.Anything, mock.Anything).Return([]string{}, nil).Maybe()
	env.OnSignalExternalWorkflow(mock.Anything, SiteID("shared.example"), mock.Anything, SignalWake, mock.Anything).Return(nil).Maybe()
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	env.ExecuteWorkflow(HarvestVenue, HarvestParams{Harvest: webdb})
	require.True(t, temporal.IsCanceledError(env.GetWorkflowError()))
	require.True(t, begun)
	require.False(t, cancelled, "the crawl was cancelled with the harvest")
}

func callback(t *testing.T) *testsuite.TestUpdateCallback {
	return &testsuite.TestUpdateCallback{
		OnAccept: func() {}, OnReject: func(err error) { t.Error(err) },
		OnComplete: func(_ any, err error) {
			assert.NoError(t, err)
		},
	}
}

func TestAfterSlice(t *testing.T) {
	t.Parallel()
	const patience = 5 * time.Minute
	for _, c := range []struct {
		slice activities.Slice
		want  step
	}{
		{activities.Slice{Result: crawl.Result{Ending: crawl.SliceFull}}, step{}},
		{activities.Slice{Result: crawl.Result{Ending: crawl.Exhausted}}, step{state: "done"}},
		{activities.Slice{Result: crawl.Result{Ending: crawl.Waiting, Wait: time.Minute}}, step{wait: time.Minute}},
		{activities.Slice{Result: crawl.Result{Ending: crawl.Waiting}}, step{wait: time.Second}},
		{activities.Slice{Result: crawl.Result{Ending: crawl.Waiting, Wait: time.Hour}}, step{state: "stopped"}},
		{activities.Slice{Result: crawl.Result{Ending: crawl.Paused}}, step{wait: pausedLook}},
		{activities.Slice{Result: crawl.Result{Ending: crawl.Refused}}, step{state: "refused"}},
		{activities.Slice{Result: crawl.Result{Ending: crawl.Trap}}, step{state: "trap"}},
		{activities.Slice{Result: crawl.Result{Ending: crawl.PageLimit}}, step{state: "stopped"}},
		{activities.Slice{Result: crawl.Result{Ending: crawl.Cancelled}}, step{state: "stopped"}},
	} {
		require.Equal(t, c.want, afterSlice(c.slice, patience), c.slice.Ending)
	}
}

// TestHarvestOfASiteGoesThereAtOnce: there is no list of papers, and nobody to look for.
func TestHarvestOfASiteGoesThereAtOnce(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	easyStages(env)
	onWaves(env, []string{"www.example.edu"})
	var crawled, steps []string
	onSites(env, &crawled)
	env.SetOnActivityStartedListener(func(a *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if step := a.ActivityType.Name; !slices.Contains([]string{"Counts", "SitesToCrawl", "SetStage"}, step) {
			steps = append(steps, step)
		}
	})
	site := activities.NewHarvest(gleaner.ParseGoal("site:https://www.example.edu/~ada/"), gleaner.Years{}, activities.HarvestOptions{})
	completes(t, env, HarvestVenue, HarvestParams{Harvest: site})
	require.Equal(t, []string{"Begin", "SeedHomepages", "ReopenLinks", "AskAgain", "Report"}, steps)
	require.Equal(t, []string{"www.example.edu"}, crawled)
}

// TestHarvestAsksTheRecordWhenNoSiteSpeaks which crawls ended: a site's word can be lost.
func TestHarvestAsksTheRecordWhenNoSiteSpeaks(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	easyStages(env)
	onWaves(env, []string{"mute.example"})
	env.OnWorkflow(CrawlSite, mock.Anything, mock.Anything).Return(activities.SiteEnd{Host: "mute.example", State: "done"}, nil)
	begin, asked := env.Now(), 0
	ended := env.OnActivity(stages.Ended, mock.Anything, []string{"mute.example"})
	ended.Return(func(_ context.Context, hosts []string) ([]string, error) {
		asked++
		return hosts[:min(1, int(env.Now().Sub(begin)/time.Hour))], nil
	})
	const retried = 20 * time.Minute
	retry := func() { env.UpdateWorkflow(UpdateRetryWhat, "", callback(t), activities.Retry{}) }
	env.RegisterDelayedCallback(retry, retried)
	var listed []time.Duration
	env.SetOnActivityStartedListener(func(a *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if a.ActivityType.Name == "SitesToCrawl" {
			listed = append(listed, env.Now().Sub(begin))
		}
	})
	completes(t, env, HarvestVenue, HarvestParams{Harvest: webdb})
	require.Less(t, asked, 15, "in an hour")
	require.Contains(t, listed, retried, "a retry waits for no look")
}

// TestWhatEndedUnheardIsLookedForAtOnce: a harvest is not told while it is paused, nor while
// it searches for homepages.
func TestWhatEndedUnheardIsLookedForAtOnce(t *testing.T) {
	t.Parallel()
	const lookResumes = time.Hour - time.Second // it is resumed while the first look is under way
	const withinLook = 4 * time.Minute
	for _, paused := range []time.Duration{0, withinLook, 59 * time.Minute, lookResumes} {
		env, took := newEnv(t), time.Duration(0)
		easyStages(env)
		begin := env.Now()
		env.OnWorkflow(CrawlSite, mock.Anything, mock.Anything).Return(activities.SiteEnd{}, nil)
		env.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, mock.Anything, mock.Anything).Return(nil).Maybe()
		env.OnActivity(stages.Ended, mock.Anything, mock.Anything).Return(func(_ context.Context, hosts []string) ([]string, error) {
			if env.Now().Sub(begin) < took {
				if paused == lookResumes {
					took = env.Now().Sub(begin)
					resumed, done := callback(t), make(chan struct{})
					resumed.OnComplete = func(any, error) { close(done) }
					env.UpdateWorkflow(UpdateResume, "", resumed)
					<-done
				}
				return nil, nil
			}
			return hosts, nil
		})
		if paused > 0 {
			took = time.Hour
			onWaves(env, []string{"mute.example"})
			env.RegisterDelayedCallback(func() { env.UpdateWorkflow(UpdatePause, "", callback(t)) }, took-paused)
			env.RegisterDelayedCallback(func() { env.UpdateWorkflow(UpdateResume, "", callback(t)) }, took)
		} else {
			onWaves(env)
			env.OnWorkflow(FindHomepages, mock.Anything, mock.Anything).Return(Searched{Crawling: []string{"mute.example"}}, nil)
		}
		completes(t, env, HarvestVenue, HarvestParams{Harvest: webdb})
		require.Less(t, env.Now().Sub(begin), took+10*time.Second, "paused: %v", paused)
	}
}

// TestCountsAreShownOnceAMinute, however often sites begin and end: they cost a query of
// the whole record.
func TestCountsAreShownOnceAMinute(t *testing.T) {
	t.Parallel()
	env, counted := newEnv(t), 0
	env.OnActivity(stages.Counts, mock.Anything, mock.Anything).Return(func(context.Context, string) (activities.Counts, error) {
		counted++
		return activities.Counts{}, nil
	})
	run := func(ctx workflow.Context) error {
		var h harvestRun
		for range 60 {
			if err := errors.Join(h.refresh(ctx), workflow.Sleep(ctx, 10*time.Second)); err != nil {
				return err
			}
		}
		return nil
	}
	env.RegisterWorkflow(run)
	completes(t, env, run)
	require.Equal(t, 10, counted)
}

// onRecord has no link on record that a harvest could take.
func onRecord(env *testsuite.TestWorkflowEnvironment) {
	none := func(_ context.Context, s activities.LinkSearch) (activities.LinkCounts, error) { return s.Counted, nil }
	env.OnActivity(crawler.FindLinks, mock.Anything, mock.Anything).Return(none).Maybe()
	env.OnActivity(crawler.ReopenLinks, mock.Anything, mock.Anything).Return(none).Maybe()
}

// TestAHarvestCancelledWhileItsWorkerDiesIsCancelled: what it was at is never heard
// of again. Were it called failed, its sites would be crawled on.
func TestAHarvestCancelledWhileItsWorkerDiesIsCancelled(t *testing.T) {
	t.Parallel()
	c, _, _ := temporaltest.Client(t)
	begun, dead := make(chan struct{}, 1), make(chan struct{})
	var last atomic.Value
	for _, queue := range []string{activities.QueueHarvest, activities.QueueMetadata} {
		w := worker.New(c, queue, worker.Options{})
		Register(w)
		for name, f := range map[string]any{
			"Begin":    func(context.Context, activities.Harvest) error { return nil },
			"SetStage": func(_ context.Context, s activities.Stage) error { last.Store(s.Stage); return nil },
			"Counts":   func(context.Context, string) (activities.Counts, error) { return activities.Counts{}, nil },
			"ListPapers": func(context.Context, activities.Harvest) (activities.Listed, error) {
				begun <- struct{}{}
				<-dead
				return activities.Listed{}, nil
			},
		} {
			w.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
		}
		require.NoError(t, w.Start())
		t.Cleanup(w.Stop)
	}
	t.Cleanup(func() { close(dead) })
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: HarvestID(webdb.ID), TaskQueue: activities.QueueHarvest}, HarvestVenue, HarvestParams{Harvest: webdb})
	require.NoError(t, err)
	<-begun
	require.NoError(t, c.CancelWorkflow(t.Context(), run.GetID(), ""))
	var canceled *temporal.CanceledError
	require.ErrorAs(t, run.Get(t.Context(), nil), &canceled)
	require.Equal(t, gleaner.StageCancelled, last.Load())
}

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }
