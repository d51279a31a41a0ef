package workflows

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
)

// retryNow has a person retry while an activity is under way, and returns when
// the retry is done.
func retryNow(t *testing.T, env *testsuite.TestWorkflowEnvironment) {
	c, done := callback(t), make(chan struct{})
	c.OnReject = func(err error) { t.Error(err); close(done) }
	c.OnComplete = func(_ any, err error) { assert.NoError(t, err); close(done) }
	env.UpdateWorkflow(UpdateRetryWhat, "", c, activities.Retry{})
	<-done
}

// What a retry puts back while hosts are being listed may lie before those that
// the list is at.
func TestRetryDuringAListIsListed(t *testing.T) {
	t.Parallel()
	w := newWeb()
	w.early, w.leads = nil, map[string][]string{"homepages": {"bob.example", "cyd.example", "dan.example", "eve.example"}}
	p := HarvestParams{Harvest: webdb}
	p.Harvest.Options.MaxWaves = 1
	retried := false
	_, err := w.run(t, p, func(int) bool { return false }, func(env *testsuite.TestWorkflowEnvironment) {
		env.OnActivity(stages.SitesToCrawl, mock.Anything, mock.MatchedBy(func(b activities.Batch) bool { return b.After == "dan.example" && !retried })).
			Return(func(_ context.Context, b activities.Batch) (activities.Sites, error) {
				retried = true
				s := w.sites(b)
				retryNow(t, env)
				return s, nil
			})
	})
	require.NoError(t, err)
	require.True(t, retried)
	require.ElementsMatch(t, []string{"press.example", "bob.example", "cyd.example", "dan.example", "eve.example", "again.example"}, w.crawled)
}

// A retry while the report is made goes back to the crawl.
func TestRetryDuringTheReportIsCrawled(t *testing.T) {
	t.Parallel()
	w := newWeb()
	reports := 0
	r, err := w.run(t, HarvestParams{Harvest: webdb}, func(int) bool { return false }, func(env *testsuite.TestWorkflowEnvironment) {
		env.OnActivity(stages.Report, mock.Anything, mock.Anything).Return(func(context.Context, activities.Harvest) (report.Summary, error) {
			if reports++; reports == 1 {
				retryNow(t, env)
			}
			return report.Summary{Found: reports}, nil
		})
	})
	require.NoError(t, err)
	require.Contains(t, w.crawled, "again.example")
	require.Equal(t, 2, reports)
	require.Equal(t, 2, r.Summary.Found)
	require.Equal(t, []gleaner.Stage{gleaner.StageReport, gleaner.StageCrawl, gleaner.StageReport, gleaner.StageComplete}, w.stages[len(w.stages)-4:])
}

// A retry while the end is recorded goes back to the crawl, too.
func TestRetryDuringTheEndIsCrawled(t *testing.T) {
	t.Parallel()
	w := newWeb()
	retried := false
	first := func(s activities.Stage) bool { return s.Stage == gleaner.StageComplete && !retried }
	never := func(int) bool { return false }
	_, err := w.run(t, HarvestParams{Harvest: webdb}, never, func(env *testsuite.TestWorkflowEnvironment) {
		set := func(context.Context, activities.Stage) error {
			retried = true
			retryNow(t, env)
			return nil
		}
		env.OnActivity(stages.SetStage, mock.Anything, mock.MatchedBy(first)).Return(set)
	})
	require.NoError(t, err)
	require.True(t, retried)
	require.Contains(t, w.crawled, "again.example")
	require.Equal(t, gleaner.StageComplete, w.stages[len(w.stages)-1])
}

// ends makes the first crawl of a host one that is under way when it is started,
// and has ended when it is woken.
type ends struct {
	interceptor.WorkflowOutboundInterceptorBase
	host   string
	starts int
	wakes  int
}

func (e *ends) ExecuteChildWorkflow(ctx workflow.Context, name string, args ...any) workflow.ChildWorkflowFuture {
	if p, ok := args[0].(SiteParams); !ok || p.Host != e.host {
		return e.Next.ExecuteChildWorkflow(ctx, name, args...)
	}
	if e.starts++; e.starts > 1 {
		return e.Next.ExecuteChildWorkflow(ctx, name, args...)
	}
	f, set := workflow.NewFuture(ctx)
	set.SetError(serviceerror.NewWorkflowExecutionAlreadyStarted("it runs", "", ""))
	return underWay{f}
}

func (e *ends) SignalExternalWorkflow(ctx workflow.Context, id, run, signal string, arg any) workflow.Future {
	if id != SiteID(e.host) {
		return e.Next.SignalExternalWorkflow(ctx, id, run, signal, arg)
	}
	e.wakes++
	f, set := workflow.NewFuture(ctx)
	set.SetError(serviceerror.NewNotFound("it has ended"))
	return f
}

type underWay struct{ workflow.Future }

func (u underWay) GetChildWorkflowExecution() workflow.Future { return u.Future }
func (u underWay) SignalChildWorkflow(workflow.Context, string, any) workflow.Future {
	return u.Future
}

// TestACrawlThatEndsWhileItIsJoinedIsStarted: nobody else would crawl the site.
func TestACrawlThatEndsWhileItIsJoinedIsStarted(t *testing.T) {
	t.Parallel()
	w := newWeb()
	e := &ends{host: "cyd.example"}
	_, err := w.run(t, HarvestParams{Harvest: webdb}, func(int) bool { return false }, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute, Interceptors: []interceptor.WorkerInterceptor{&between{of: "HarvestVenue", wrap: func(next outbound) outbound { e.Next = next; return e }}}})
	})
	require.NoError(t, err)
	require.Equal(t, 2, e.starts)
	require.Equal(t, 1, e.wakes)
	require.Contains(t, w.crawled, "cyd.example")
}

// TestASiteWokenWhileItsEndIsRecordedGoesOn: whoever joined it then was told that
// it is being crawled, and gets the signal of one end, the real one.
func TestASiteWokenWhileItsEndIsRecordedGoesOn(t *testing.T) {
	t.Parallel()
	for _, ending := range []crawl.Ending{crawl.Exhausted, crawl.Refused, crawl.PageLimit} {
		env := newEnv(t)
		n, ended := 0, 0
		env.OnActivity(crawler.CrawlSlice, mock.Anything, mock.Anything, mock.Anything).Return(func(context.Context, string, bool) (activities.Slice, error) {
			if n++; n == 1 {
				return activities.Slice{Result: crawl.Result{Ending: ending}}, nil
			}
			return activities.Slice{Result: crawl.Result{Ending: crawl.Exhausted}}, nil
		})
		env.OnActivity(documents.FilterDocuments, mock.Anything, mock.Anything).Return(activities.Judged{}, nil)
		env.OnActivity(stages.EndSite, mock.Anything, mock.Anything).Return(func(context.Context, activities.SiteEnd) ([]string, error) {
			ended++
			return []string{webdb.ID}, nil
		}).After(time.Minute)
		signalled := 0
		signal := func(context.Context, []string, activities.SiteEnd) error { signalled++; return nil }
		env.OnActivity(stages.TellEnd, mock.Anything, []string{HarvestID(webdb.ID)}, mock.Anything).Return(signal)
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(SignalWake, nil) }, 30*time.Second)
		completes(t, env, CrawlSite, SiteParams{Host: "ada.example"})
		require.Equal(t, 2, n, ending)
		require.Equal(t, 2, ended, ending)
		require.Equal(t, 1, signalled, ending)
	}
}

// slow delays the acknowledgement of a signal that a harvest sent.
type slow struct {
	interceptor.WorkflowOutboundInterceptorBase
}

func (s *slow) SignalExternalWorkflow(ctx workflow.Context, id, run, signal string, arg any) workflow.Future {
	taken := s.Next.SignalExternalWorkflow(ctx, id, run, signal, arg)
	f, set := workflow.NewFuture(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		_ = workflow.Sleep(ctx, time.Second)
		set.Chain(taken)
	})
	return f
}

// TestEverySiteIsWoken: also where those that were woken before it end at once.
func TestEverySiteIsWoken(t *testing.T) {
	t.Parallel()
	var woken []string
	env := envWithSites(t, func(ctx workflow.Context, p SiteParams) (activities.SiteEnd, error) {
		workflow.GetSignalChannel(ctx, SignalWake).Receive(ctx, nil)
		woken = append(woken, p.Host)
		return tellsEnd(ctx, p.Host)
	})
	env.SetTestTimeout(time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute, Interceptors: []interceptor.WorkerInterceptor{&between{of: "HarvestVenue", wrap: func(next outbound) outbound {
		return &slow{interceptor.WorkflowOutboundInterceptorBase{Next: next}}
	}}}})
	env.RegisterWorkflow(HarvestVenue)
	easyStages(env)
	onWaves(env, hosts(5))
	asked := 0
	env.OnActivity(stages.Ended, mock.Anything, mock.Anything).Return(func(context.Context, []string) ([]string, error) {
		if asked++; asked > 10 { // mocked time would go on for ever
			env.CancelWorkflow()
		}
		return nil, nil
	}).Maybe()
	env.RegisterDelayedCallback(func() { env.UpdateWorkflow(UpdateRetryWhat, "", callback(t), activities.Retry{}) },
		10*time.Second)
	completes(t, env, HarvestVenue, HarvestParams{Harvest: webdb, Stage: gleaner.StageCrawl,
		State: HarvestState{Stage: gleaner.StageCrawl}})
	require.Equal(t, hosts(5), woken)
}

// TestNoCrawlIsBegunAfterACancellation of a harvest or of a recrawl, though many were listed.
func TestNoCrawlIsBegunAfterACancellation(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(*testsuite.TestWorkflowEnvironment){
		"harvest": func(env *testsuite.TestWorkflowEnvironment) {
			onWaves(env, hosts(40))
			easyStages(env)
			env.ExecuteWorkflow(HarvestVenue, HarvestParams{Harvest: webdb, Stage: gleaner.StageCrawl})
		},
		"recrawl": func(env *testsuite.TestWorkflowEnvironment) {
			env.OnActivity(recrawls.Leave, mock.Anything, mock.Anything).Return([]string{}, nil)
			env.ExecuteWorkflow(RecrawlDue, RecrawlParams{State: RecrawlState{Next: hosts(40), Listed: true, Ended: map[gleaner.SiteState]int{}}})
		},
	} {
		begun := 0
		var env *testsuite.TestWorkflowEnvironment
		env = envWithSites(t, func(ctx workflow.Context, p SiteParams) (activities.SiteEnd, error) {
			if begun++; begun == 1 {
				env.CancelWorkflow()
			}
			return activities.SiteEnd{Host: p.Host}, workflow.Sleep(ctx, time.Hour)
		})
		env.RegisterWorkflow(HarvestVenue)
		env.RegisterActivity(documents)
		env.RegisterActivity(recrawls)
		run(env)
		require.True(t, temporal.IsCanceledError(env.GetWorkflowError()), "%s: %v", name, env.GetWorkflowError())
		require.LessOrEqual(t, begun, startsAtOnce, name)
	}
}

// TestAPauseWaitsForTheResumeBefore: the record and the run say the same afterwards.
func TestAPauseWaitsForTheResumeBefore(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	began := make(chan struct{}, 1)
	env.OnActivity(stages.Pause, mock.Anything, mock.Anything, true).Return(func(context.Context, string, bool) error {
		began <- struct{}{}
		return nil
	})
	env.OnActivity(stages.Pause, mock.Anything, mock.Anything, false).Return(func(context.Context, string, bool) error {
		env.UpdateWorkflow(UpdatePause, "pause", callback(t))
		select {
		case <-began:
			t.Error("both are under way")
		case <-time.After(200 * time.Millisecond):
		}
		return nil
	})
	env.RegisterDelayedCallback(func() { env.UpdateWorkflow(UpdateResume, "resume", callback(t)) }, time.Second)
	env.RegisterDelayedCallback(func() { env.CancelWorkflow() }, time.Hour)
	onWaves(env)
	easyStages(env)
	env.ExecuteWorkflow(HarvestVenue, HarvestParams{Harvest: webdb, Stage: gleaner.StageCrawl, State: HarvestState{Paused: true}})
	require.Len(t, began, 1)
}

// TestAPauseThatMeetsTheBeginningHolds: a pause that is asked for while a harvest is begun on
// record, which makes it one that goes on, is on record when both are over.
func TestAPauseThatMeetsTheBeginningHolds(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	var paused atomic.Bool
	wrote := make(chan struct{}, 1)
	env.OnActivity(stages.Begin, mock.Anything, mock.Anything).Return(func(context.Context, activities.Harvest) error {
		env.UpdateWorkflow(UpdatePause, "pause", callback(t))
		select {
		case <-wrote:
		case <-time.After(200 * time.Millisecond):
		}
		paused.Store(false)
		return nil
	}).Once()
	env.OnActivity(stages.Pause, mock.Anything, mock.Anything, true).Return(func(context.Context, string, bool) error {
		paused.Store(true)
		wrote <- struct{}{}
		time.Sleep(200 * time.Millisecond) // the workflow gets the beginning first
		return nil
	})
	env.RegisterDelayedCallback(func() {
		require.True(t, paused.Load())
		env.CancelWorkflow()
	}, time.Hour)
	onWaves(env)
	easyStages(env)
	env.ExecuteWorkflow(HarvestVenue, HarvestParams{Harvest: webdb})
	require.True(t, paused.Load())
}
