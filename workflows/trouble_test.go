package workflows

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/gleaner"
)

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
	env.ExecuteWorkflow(CrawlSite, SiteParams{Host: "ada.example"})
	require.NoError(t, env.GetWorkflowError())
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
	env.ExecuteWorkflow(CrawlSite, SiteParams{Host: "ada.example"})
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []bool{false, true, false}, alone)
}

// A process that dies tells nothing, but for its last heartbeat.
func TestASiteThatKillsItsWorkersEnds(t *testing.T) {
	t.Parallel()
	_, slices, end := failing(t, func(int) error { return temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_HEARTBEAT, nil) })
	require.Equal(t, slicesThatFail, *slices)
	require.Equal(t, gleaner.SiteStopped, end.State)
	_, slices, end = failing(t, func(int) error { return activities.WorkerGone(crawl.Progress{}) })
	require.Equal(t, slicesThatFail, *slices)
	require.Equal(t, gleaner.SiteStopped, end.State)
	_, slices, end = failing(t, func(n int) error {
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
	v, err := env.QueryWorkflow(QueryProgress)
	require.NoError(t, err)
	var total crawl.Progress
	require.NoError(t, v.Get(&total))
	require.Equal(t, 3*slicesThatFail+1, total.Pages, "what was done before a failure counts")
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
