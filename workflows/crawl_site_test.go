package workflows

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/gleaner"
	"gleaner/internal/ingest"
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
	completes(t, env, CrawlSite, SiteParams{Host: "ada.example"})
	require.Equal(t, 3, n)
	require.GreaterOrEqual(t, env.Now().Sub(start), 2*time.Minute)
	require.Equal(t, 521, queried[crawl.Progress](t, env, "progress").Pages)
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
		recorded, signalled := 0, 0
		env.OnActivity(stages.EndSite, mock.Anything, mock.Anything).Maybe().Return([]string{webdb.ID}, nil).Run(func(mock.Arguments) { recorded++ })
		env.OnActivity(stages.TellEnd, mock.Anything, []string{HarvestID(webdb.ID)}, mock.Anything).Return(nil).Run(func(mock.Arguments) { signalled++ })
		completes(t, env, CrawlSite, SiteParams{Host: "ada.example"})
		require.Equal(t, !s.Examined, filtered == 2)
		require.Equal(t, !s.Ended, recorded == 1)
		require.Equal(t, 1, signalled)
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
	completes(t, env, CrawlSite, SiteParams{Host: "ada.example"})
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
	completes(t, env, CrawlSite, SiteParams{Host: "ada.example"})
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
		completes(t, env, CrawlSite, SiteParams{Host: "ada.example"})
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
	p := continuation[SiteParams](t, env.GetWorkflowError())
	require.Equal(t, "huge.example", p.Host)
	require.Equal(t, 6, p.Total.Pages)
	env.AssertExpectations(t)
}

// failing is a site whose slices fail, until the one that fails is nil.
func failing(t *testing.T, errs func(n int) error) (env *testsuite.TestWorkflowEnvironment, slices *int, end *activities.SiteEnd) {
	env, slices, end = newEnv(t), new(int), new(activities.SiteEnd)
	env.OnActivity(crawler.CrawlSlice, mock.Anything, mock.Anything, mock.Anything).Return(func(context.Context, string, bool) (activities.Slice, error) {
		*slices++
		if err := errs(*slices); err != nil {
			return activities.Slice{}, err
		}
		return activities.Slice{Result: crawl.Result{Ending: crawl.Exhausted, Progress: crawl.Progress{Pages: 1}}}, nil
	})
	env.OnActivity(documents.FilterDocuments, mock.Anything, mock.Anything).Return(activities.Judged{}, nil)
	env.OnActivity(stages.EndSite, mock.Anything, mock.Anything).Return(func(_ context.Context, e activities.SiteEnd) ([]string, error) {
		*end = e
		return nil, nil
	})
	completes(t, env, CrawlSite, SiteParams{Host: "ada.example"})
	return env, slices, end
}

func failure(kind string, did int) error {
	return temporal.NewApplicationErrorWithOptions("it broke", kind, temporal.ApplicationErrorOptions{Details: []any{crawl.Result{Crawl: 2, Progress: crawl.Progress{Requests: did, Pages: did}}}})
}

// A site ends when slice after slice fails and nothing is done; whatever fails,
// it says what.
func TestASiteWhoseSlicesFailEnds(t *testing.T) {
	t.Parallel()
	_, slices, end := failing(t, func(int) error { return failure(activities.ErrTypeOther, 0) })
	require.Equal(t, slicesThatFail, *slices)
	require.Equal(t, activities.SiteEnd{Host: "ada.example", State: "stopped", Crawl: 2,
		Reason: fmt.Sprintf("%d slices in a row failed without progress, the last one: it broke", slicesThatFail)}, *end)
}

// TestASiteThatFailedIsShownAsGoingOn as soon as one slice went well: the next activity is
// of one slice.
func TestASiteThatFailedIsShownAsGoingOn(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	var alone []bool
	env.OnActivity(crawler.CrawlSlice, mock.Anything, mock.Anything, mock.Anything).Return(func(_ context.Context, _ string, one bool) (activities.Slice, error) {
		if alone = append(alone, one); len(alone) == 1 {
			return activities.Slice{}, failure(activities.ErrTypeOther, 0)
		}
		return activities.Slice{Examined: true, Result: crawl.Result{Ending: []crawl.Ending{crawl.SliceFull, crawl.Exhausted}[len(alone)-2]}}, nil
	})
	env.OnActivity(stages.EndSite, mock.Anything, mock.Anything).Return(nil, nil)
	completes(t, env, CrawlSite, SiteParams{Host: "ada.example"})
	require.Equal(t, []bool{false, true, false}, alone)
}

// A process that dies tells nothing, but for its last heartbeat.
func TestASiteThatKillsItsWorkersEnds(t *testing.T) {
	t.Parallel()
	for _, dead := range []error{temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_HEARTBEAT, nil),
		activities.WorkerGone(crawl.Progress{})} {
		_, slices, end := failing(t, func(int) error { return dead })
		require.Equal(t, slicesThatFail, *slices)
		require.Equal(t, gleaner.SiteStopped, end.State)
	}
	_, slices, end := failing(t, func(n int) error {
		if n > 3*slicesThatFail {
			return nil
		}
		return temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_HEARTBEAT, nil, crawl.Progress{Requests: 1})
	})
	require.Equal(t, 3*slicesThatFail+1, *slices)
	require.Equal(t, gleaner.SiteDone, end.State)
}

// With progress between, a slice is tried again as if it were the first: at once,
// or a second after an error.
func TestFailuresWithProgressBetweenDoNotAddUp(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	env, slices, end := failing(t, func(n int) error {
		if n > 3*slicesThatFail {
			return nil
		}
		return failure(activities.ErrTypeOther, 1)
	})
	require.Equal(t, gleaner.SiteDone, end.State)
	require.Equal(t, 3*slicesThatFail+1, *slices)
	require.Less(t, env.Now().Sub(begun), 2*time.Minute, "the waits did not grow")
	require.Equal(t, 3*slicesThatFail+1, queried[crawl.Progress](t, env, QueryProgress).Pages,
		"what was done before a failure counts")
}

// An outage of our own servers ends no site, however long it takes.
func TestAnOutageEndsNoSite(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{activities.ErrTypeDatabase, activities.ErrTypeDiskFull, activities.ErrTypeStoreAway, activities.ErrTypeLeaseLost} {
		begun := time.Now()
		env, slices, end := failing(t, func(n int) error {
			if n > 5*slicesThatFail {
				return nil
			}
			return failure(kind, 0)
		})
		require.Less(t, env.Now().Sub(begun), 5*slicesThatFail*activities.OutageLook+time.Minute, "its end is noticed within seconds")
		require.Equal(t, 5*slicesThatFail+1, *slices, kind)
		require.Equal(t, gleaner.SiteDone, end.State, kind)
	}
}

// What trying again cannot mend is not tried again.
func TestBadInputEndsASiteAtOnce(t *testing.T) {
	t.Parallel()
	_, slices, end := failing(t, func(int) error {
		return temporal.NewNonRetryableApplicationError(`unknown strategy "dfs"`, activities.ErrTypeInput, nil)
	})
	require.Equal(t, 1, *slices)
	require.Equal(t, activities.SiteEnd{Host: "ada.example", State: "stopped", Reason: `unknown strategy "dfs"`}, *end)
}

// TestAnImportHasTheTimeItNeeds to come back to where it was: a limit of hours would begin
// what takes longer anew for ever. What it saved is compared in slices, which yield.
func TestAnImportHasTheTimeItNeeds(t *testing.T) {
	t.Parallel()
	env := bareEnv(t)
	limits := map[string]time.Duration{}
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		limits[info.ActivityType.Name] = time.Until(info.Deadline)
	})
	env.OnActivity(imports.ImportSlice, mock.Anything, mock.Anything).Return(ingest.Progress{Ended: true}, nil)
	var compared []int64
	env.OnActivity(imports.VerifyImport, mock.Anything, mock.Anything, mock.Anything).
		Return(func(_ context.Context, _ ingest.Run, after int64) (ingest.Verified, error) {
			compared = append(compared, after)
			return ingest.Verified{After: after + 500, More: after < 1000}, nil
		})
	env.OnActivity(imports.EndImport, mock.Anything, mock.Anything).Return(nil)
	completes(t, env, ImportCrawl, ingest.Run{Job: 1, Run: 1})
	require.Greater(t, limits["ImportSlice"], 100*activities.Still)
	require.Equal(t, []int64{0, 500, 1000}, compared)
}
