package workflows

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/harvest"
)

// TestACrawlThatEndedUnheardIsBegunAgain where something was put back meanwhile, by a retry or
// as the homepages of others, which makes its site one that waits for a crawl.
func TestACrawlThatEndedUnheardIsBegunAgain(t *testing.T) {
	t.Parallel()
	for when, state := range map[string]string{"in a pause": "done", "in the search": "new", "before homepages are given": "done"} {
		t.Run(when, func(t *testing.T) {
			env := newEnv(t)
			waits := false
			env.OnActivity(stages.SeedHomepages, mock.Anything, mock.Anything).Return(func(context.Context, activities.Harvest) (harvest.Seeded, error) {
				waits = true
				return harvest.Seeded{}, nil
			})
			env.OnActivity(stages.SitesToCrawl, mock.Anything, mock.Anything).Return(func(context.Context, activities.Batch) (activities.Sites, error) {
				if !waits {
					return activities.Sites{}, nil
				}
				if state == "done" {
					state = "new" // "mark" of SitesToCrawl
				}
				return activities.Sites{Hosts: []string{"a.example"}}, nil
			})
			env.OnActivity(stages.Ended, mock.Anything, mock.Anything).Return(func(_ context.Context, hosts []string) ([]string, error) {
				if state == "new" || state == "crawling" {
					return nil, nil
				}
				return hosts, nil
			})
			env.OnActivity(stages.Requeue, mock.Anything, mock.Anything).Return(func(context.Context, activities.Retry) (activities.Requeued, error) {
				waits, state = true, "new"
				return activities.Requeued{URLs: 1}, nil
			})
			easyStages(env)
			crawled := 0
			if when != "in a pause" { // the search is told of no end, either
				crawled = 1
				env.OnWorkflow(FindHomepages, mock.Anything, mock.Anything).Return(Searched{Crawling: []string{"a.example"}}, nil)
			}
			env.OnWorkflow(CrawlSite, mock.Anything, mock.Anything).Return(func(ctx workflow.Context, p SiteParams) (activities.SiteEnd, error) {
				crawled++
				state, waits = "crawling", false
				if crawled == 1 { // ends while the harvest is paused, which is not told (AwaitingEnd)
					_ = workflow.Sleep(ctx, 10*time.Minute)
					state = "done"
					return activities.SiteEnd{Host: p.Host, State: "done"}, nil
				}
				state = "done"
				return tellsEnd(ctx, p.Host)
			})
			env.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, mock.Anything, mock.Anything).Return(nil).Maybe()
			env.RegisterDelayedCallback(func() { env.UpdateWorkflow(UpdatePause, "", callback(t)) }, 5*time.Minute)
			env.RegisterDelayedCallback(func() { env.UpdateWorkflow(UpdateRetryWhat, "", callback(t), activities.Retry{}) }, 20*time.Minute)
			env.RegisterDelayedCallback(func() { env.UpdateWorkflow(UpdateResume, "", callback(t)) }, 30*time.Minute)
			env.RegisterDelayedCallback(func() { env.CancelWorkflow() }, 6*time.Hour)
			env.ExecuteWorkflow(HarvestVenue, HarvestParams{Harvest: webdb})
			require.Equal(t, 2, crawled)
		})
	}
}

// TestAnEndOnRecordIsNotThatOfTheNextCrawl: a slice recorded the end of crawl 5, something
// came meanwhile, and the workers of the next crawl die.
func TestAnEndOnRecordIsNotThatOfTheNextCrawl(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	n := 0
	env.OnActivity(crawler.CrawlSlice, mock.Anything, "ada.example", mock.Anything).Return(func(context.Context, string, bool) (activities.Slice, error) {
		if n++; n == 1 {
			env.SignalWorkflow(SignalWake, nil)
			return activities.Slice{Result: crawl.Result{Ending: crawl.Exhausted, Crawl: 5}, Ended: true, Examined: true}, nil
		}
		return activities.Slice{}, activities.WorkerGone(crawl.Progress{})
	})
	var got activities.SiteEnd
	env.OnActivity(documents.FilterDocuments, mock.Anything, mock.Anything).Return(activities.Judged{}, nil).Maybe()
	env.OnActivity(stages.EndSite, mock.Anything, mock.Anything).Return(func(_ context.Context, e activities.SiteEnd) ([]string, error) { got = e; return nil, nil })
	env.ExecuteWorkflow(CrawlSite, SiteParams{Host: "ada.example"})
	require.Zero(t, got.Crawl)
}
