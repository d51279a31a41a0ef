package workflows

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl"
)

func TestSiteIsCrawledInSlicesUntilNothingWaits(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	slices := []activities.Slice{
		{Result: crawl.Result{Ending: crawl.SliceFull, Crawl: 2, Progress: crawl.Progress{Pages: 500}}, Venues: []string{"conf/webdb"}},
		{Result: crawl.Result{Ending: crawl.Waiting, Wait: 2 * time.Minute, Reason: "failed URLs wait", Progress: crawl.Progress{Pages: 20}}, Venues: []string{"conf/vldb", "conf/webdb"}},
		{Result: crawl.Result{Ending: crawl.Exhausted, Progress: crawl.Progress{Pages: 1, Documents: 1}}, Venues: []string{"conf/vldb", "conf/webdb"}},
	}
	n := 0
	env.OnActivity(crawler.CrawlSlice, mock.Anything, "ada.example", mock.Anything).Return(func(context.Context, string, bool) (activities.Slice, error) {
		n++
		return slices[n-1], nil
	})
	env.OnActivity(documents.FilterDocuments, mock.Anything, "ada.example").Return(activities.Judged{}, nil).Once()
	env.OnActivity(stages.EndSite, mock.Anything, activities.SiteEnd{Host: "ada.example", State: "done", Crawl: 2}).Return([]string{webdb.ID}, nil).Once()
	env.OnActivity(stages.TellEnd, mock.Anything, []string{HarvestID(webdb.ID)}, mock.Anything).Return(nil).Once()
	start := env.Now()
	env.ExecuteWorkflow(CrawlSite, SiteParams{Host: "ada.example"})
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 3, n)
	require.GreaterOrEqual(t, env.Now().Sub(start), 2*time.Minute)
	v, err := env.QueryWorkflow("progress")
	require.NoError(t, err)
	var total crawl.Progress
	require.NoError(t, v.Get(&total))
	require.Equal(t, 521, total.Pages)
	env.AssertExpectations(t)
}

// TestASiteWhoseDocumentsAreExaminedEndsAtOnce, without a place on the queue of documents,
// which others may have for hours, and without one anywhere where its slice recorded the end.
func TestASiteWhoseDocumentsAreExaminedEndsAtOnce(t *testing.T) {
	t.Parallel()
	unexamined := exhausted
	unexamined.Examined = false
	for _, s := range []activities.Slice{unexamined, exhausted, ended(webdb.ID)} {
		env := newEnv(t)
		env.OnActivity(crawler.CrawlSlice, mock.Anything, mock.Anything, mock.Anything).Return(s, nil)
		filtered := 0
		env.OnActivity(documents.FilterDocuments, mock.Anything, mock.Anything).Maybe().Return(func(context.Context, string) (activities.Judged, error) {
			filtered++
			return activities.Judged{More: filtered < 2}, nil // in slices
		})
		recorded, told := 0, 0
		env.OnActivity(stages.EndSite, mock.Anything, mock.Anything).Maybe().Return([]string{webdb.ID}, nil).Run(func(mock.Arguments) { recorded++ })
		env.OnActivity(stages.TellEnd, mock.Anything, []string{HarvestID(webdb.ID)}, mock.Anything).Return(nil).Run(func(mock.Arguments) { told++ })
		env.ExecuteWorkflow(CrawlSite, SiteParams{Host: "ada.example"})
		require.NoError(t, env.GetWorkflowError())
		require.Equal(t, !s.Examined, filtered == 2)
		require.Equal(t, !s.Ended, recorded == 1)
		require.Equal(t, 1, told)
	}
}

// TestASliceOutlivesAnOutage of the database of hours: it keeps what it has meanwhile, and
// asks for nothing twice.
func TestASliceOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.OnActivity(crawler.CrawlSlice, mock.Anything, mock.Anything, mock.Anything).Return(func(ctx context.Context, _ string, _ bool) (activities.Slice, error) {
		require.GreaterOrEqual(t, activity.GetInfo(ctx).StartToCloseTimeout, 3*time.Hour)
		return activities.Slice{Result: crawl.Result{Ending: crawl.Exhausted}, Examined: true}, nil
	})
	env.OnActivity(stages.EndSite, mock.Anything, mock.Anything).Return([]string{}, nil)
	env.ExecuteWorkflow(CrawlSite, SiteParams{Host: "ada.example"})
	require.NoError(t, env.GetWorkflowError())
}

func TestWakingASiteCutsItsWaitShort(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	n := 0
	env.OnActivity(crawler.CrawlSlice, mock.Anything, mock.Anything, mock.Anything).Return(func(context.Context, string, bool) (activities.Slice, error) {
		if n++; n == 1 {
			return activities.Slice{Result: crawl.Result{Ending: crawl.Waiting, Wait: 4 * time.Minute}}, nil
		}
		return activities.Slice{Result: crawl.Result{Ending: crawl.Exhausted}}, nil
	})
	env.OnActivity(documents.FilterDocuments, mock.Anything, mock.Anything).Return(activities.Judged{}, nil)
	env.OnActivity(stages.EndSite, mock.Anything, mock.Anything).Return([]string{}, nil)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(SignalWake, nil) }, 10*time.Second)
	start := env.Now()
	env.ExecuteWorkflow(CrawlSite, SiteParams{Host: "ada.example"})
	require.NoError(t, env.GetWorkflowError())
	require.Less(t, env.Now().Sub(start), time.Minute)
}

// TestASiteWokenWhileItEndsLooksAgain: the last slice may have looked before what
// the signal tells of was there. A crawl that was cancelled looks no more.
func TestASiteWokenWhileItEndsLooksAgain(t *testing.T) {
	t.Parallel()
	for ending, slices := range map[crawl.Ending]int{
		crawl.Exhausted: 2, crawl.Refused: 2, crawl.PageLimit: 2, crawl.Cancelled: 2,
	} {
		env := newEnv(t)
		n := 0
		env.OnActivity(crawler.CrawlSlice, mock.Anything, mock.Anything, mock.Anything).Return(func(context.Context, string, bool) (activities.Slice, error) {
			n++
			return activities.Slice{Result: crawl.Result{Ending: ending, Progress: crawl.Progress{Pages: 1}}}, nil
		}).After(time.Minute)
		env.OnActivity(documents.FilterDocuments, mock.Anything, mock.Anything).Return(activities.Judged{}, nil).Once()
		env.OnActivity(stages.EndSite, mock.Anything, mock.Anything).Return([]string{}, nil).Once()
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(SignalWake, nil) }, 30*time.Second)
		env.ExecuteWorkflow(CrawlSite, SiteParams{Host: "ada.example"})
		require.NoError(t, env.GetWorkflowError())
		require.Equal(t, slices, n, ending)
		env.AssertExpectations(t)
	}
}

func TestLongCrawlIsContinuedAsNew(t *testing.T) {
	t.Parallel()
	env, n := newEnv(t), 0
	env.OnActivity(crawler.CrawlSlice, mock.Anything, mock.Anything, mock.Anything).Return(func(context.Context, string, bool) (activities.Slice, error) {
		if n++; n == 3 {
			env.SetContinueAsNewSuggested(true)
		}
		return activities.Slice{Result: crawl.Result{Ending: crawl.SliceFull, Progress: crawl.Progress{Pages: 2}}}, nil
	}).Times(3)
	env.ExecuteWorkflow(CrawlSite, SiteParams{Host: "huge.example"})
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, env.GetWorkflowError(), &next)
	var p SiteParams
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &p))
	require.Equal(t, "huge.example", p.Host)
	require.Equal(t, 6, p.Total.Pages)
	env.AssertExpectations(t)
}
