package workflows

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
)

// held is a search whose batch does not end before crawls of sites that were found have
// begun, and what was done meanwhile.
type held struct {
	found  []string // sites with homepages
	last   []string // authors of batches
	enough int      // crawls that let the batch end
	asleep bool     // crawls wait to be woken
	batch  chan struct{}

	mu    sync.Mutex
	begun []string
	log   []string // ends of crawls, and the report
}

func hold(enough int, found ...string) *held {
	return &held{found: found, last: []string{"z"}, enough: enough, batch: make(chan struct{})}
}

// env is of a web where the crawl of a host takes a while, and of which slow leads to
// another host.
func (h *held) env(t *testing.T, takes map[string]time.Duration) *testsuite.TestWorkflowEnvironment {
	env := envWithSites(t, func(ctx workflow.Context, p SiteParams) (activities.SiteEnd, error) {
		h.begin(p.Host)
		if err := workflow.Sleep(ctx, takes[p.Host]); err != nil {
			return activities.SiteEnd{}, err
		}
		if h.asleep {
			if woken, _ := signals(ctx, SignalWake).ReceiveWithTimeout(ctx, 10*time.Hour, nil); woken {
				h.tell(p.Host + " looks again")
			}
		}
		h.tell(p.Host + " ended")
		return tellsEnd(ctx, p.Host)
	})
	env.SetTestTimeout(time.Minute)
	env.RegisterWorkflow(HarvestVenue)
	env.RegisterWorkflow(FindHomepages)
	env.RegisterActivity(documents)
	env.OnActivity(stages.AuthorBatches, mock.Anything, mock.Anything, mock.Anything).Return(activities.AuthorBatches{Last: h.last}, nil)
	env.OnActivity(stages.FindHomepages, mock.Anything, mock.Anything).Return(func(ctx context.Context, b activities.Batch) (activities.Authors, error) {
		if b.AsOf.IsZero() {
			return activities.Authors{}, errors.New("what is found meanwhile would spare authors a search")
		}
		<-h.batch
		return activities.Authors{Looked: 2, Found: 1}, nil
	})
	env.OnActivity(stages.SitesFound, mock.Anything, mock.Anything).Return(func(_ context.Context, b activities.Batch) (activities.Sites, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		fresh := slices.DeleteFunc(slices.Clone(h.found), func(host string) bool {
			return slices.Contains(b.Without, host) || slices.Contains(h.begun, host)
		})
		return activities.Sites{Hosts: fresh[:min(len(fresh), b.Limit)], More: true}, nil
	})
	env.OnActivity(stages.Ended, mock.Anything, mock.Anything).Return(func(context.Context, []string) ([]string, error) { return nil, nil }).Maybe()
	env.OnActivity(stages.SitesToCrawl, mock.Anything, mock.Anything).Return(func(context.Context, activities.Batch) (activities.Sites, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		left := slices.Clone(h.found)
		if slices.Contains(h.log, "slow.example ended") {
			left = append(left, "lead.example")
		}
		return activities.Sites{Hosts: slices.DeleteFunc(left, func(host string) bool { return slices.Contains(h.begun, host) })}, nil
	})
	env.OnActivity(stages.Report, mock.Anything, mock.Anything).Return(func(context.Context, activities.Harvest) (report.Summary, error) {
		h.tell("report")
		return report.Summary{}, nil
	}).Maybe()
	easyStages(env)
	return env
}

// begin notes that a crawl has begun.
func (h *held) begin(host string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.begun = append(h.begun, host); len(h.begun) == h.enough {
		close(h.batch)
	}
}

func (h *held) tell(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, what)
}

// TestSitesAreCrawledWhileHomepagesAreLookedFor: the search ends only when two crawls
// have begun, as many as the window has. The harvest waits for the one that goes on
// after it, and for what that leads to, and nothing is crawled twice.
func TestSitesAreCrawledWhileHomepagesAreLookedFor(t *testing.T) {
	t.Parallel()
	h := hold(2, "quick.example", "slow.example", "late.example")
	env := h.env(t, map[string]time.Duration{"slow.example": 10 * time.Hour})
	counts := 0
	env.SetOnActivityStartedListener(func(i *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if i.ActivityType.Name == "Counts" {
			counts++
		}
	})
	p := HarvestParams{Harvest: webdb, Stage: gleaner.StageHomepages}
	p.Harvest.Options.Window = 2
	r := resultOf[HarvestResult](t, env, HarvestVenue, p)
	require.Less(t, counts, 10*60+20, "they read all documents of a harvest: once a minute")
	require.Equal(t, []string{"quick.example", "slow.example", "late.example", "lead.example"}, h.begun)
	require.Equal(t, []string{"quick.example ended", "late.example ended", "slow.example ended", "lead.example ended", "report"}, h.log)
	require.Equal(t, 4, r.State.Sites)
	require.Equal(t, activities.Authors{Looked: 4, Found: 2}, r.State.Authors)
}

// TestASearchEndsAfterItsCrawlsHaveBegun: a child is not started whose parent ends first,
// and the harvest would wait for it.
func TestASearchEndsAfterItsCrawlsHaveBegun(t *testing.T) {
	t.Parallel()
	h := hold(0, "ada.example", "bob.example")
	env := h.env(t, nil)
	over := sync.OnceFunc(func() { close(h.batch) })
	start := func(ctx workflow.Context) { over(); _ = workflow.Sleep(ctx, time.Hour) }
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{finishing(start)}})
	end := resultOf[Searched](t, env, FindHomepages, HomepagesParams{Harvest: webdb})
	require.NotEmpty(t, h.begun)
	require.Equal(t, h.begun, end.Crawling)
}

// TestASearchThatIsContinuedKnowsItsCrawls: the next run begins none again, and no more
// than the window has.
func TestASearchThatIsContinuedKnowsItsCrawls(t *testing.T) {
	t.Parallel()
	h := hold(2, "ada.example", "bob.example", "cyd.example")
	h.last = []string{"a", "b", "c", "d", "e"}
	env := h.env(t, map[string]time.Duration{"ada.example": time.Hour, "bob.example": time.Hour})
	env.SetContinueAsNewSuggested(true)
	p := HomepagesParams{Harvest: webdb}
	p.Harvest.Options.Window = 2
	env.ExecuteWorkflow(FindHomepages, p)
	then := continuation[HomepagesParams](t, env.GetWorkflowError())
	require.Equal(t, []string{"ada.example", "bob.example"}, then.Crawling)
	require.False(t, then.Began.IsZero())
	began := then.Began

	env = h.env(t, nil)
	end := resultOf[Searched](t, env, FindHomepages, then)
	require.Equal(t, then.Crawling, end.Crawling)
	require.Equal(t, []string{"ada.example", "bob.example"}, h.begun)
	require.Equal(t, began, then.Began)
}

// TestAHarvestIsCancelledInItsSearch: no crawl is begun after it, and those that go on are
// woken once the record says so.
func TestAHarvestIsCancelledInItsSearch(t *testing.T) {
	t.Parallel()
	h := hold(2, "ada.example") // so many crawls end the search
	env := h.env(t, map[string]time.Duration{"ada.example": 100 * time.Hour})
	env.RegisterDelayedCallback(func() {
		h.mu.Lock()
		h.found = append(h.found, "bob.example")
		h.mu.Unlock()
		env.CancelWorkflow()
		close(h.batch)
	}, time.Second)
	env.ExecuteWorkflow(HarvestVenue, HarvestParams{Harvest: webdb, Stage: gleaner.StageHomepages})
	require.True(t, temporal.IsCanceledError(env.GetWorkflowError()), "%v", env.GetWorkflowError())
	require.Equal(t, []string{"ada.example"}, h.begun)
	require.Equal(t, h.begun, queried[HarvestState](t, env, QueryStatus).Pending)
}

// TestCrawlsBegunEarlyLookAgain when all homepages are given to the frontier: one that
// found nothing more a moment before would end, and leave what came to a wave that there
// may not be.
func TestCrawlsBegunEarlyLookAgain(t *testing.T) {
	t.Parallel()
	h := hold(1, "ada.example")
	h.asleep = true
	env := h.env(t, nil)
	p := HarvestParams{Harvest: webdb, Stage: gleaner.StageHomepages}
	p.Harvest.Options.MaxWaves = 1
	completes(t, env, HarvestVenue, p)
	require.Equal(t, []string{"ada.example looks again", "ada.example ended", "report"}, h.log)
}

// TestASearchThatIsContinuedWakesItsCrawls: a signal reached the run that ends while it was
// handed on to them.
func TestASearchThatIsContinuedWakesItsCrawls(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	batch, over := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	var woken []string
	env.OnActivity(stages.AuthorBatches, mock.Anything, mock.Anything, mock.Anything).
		Return(activities.AuthorBatches{Last: []string{"k", "z"}, More: true}, nil)
	env.OnActivity(stages.FindHomepages, mock.Anything, mock.Anything).
		Return(func(context.Context, activities.Batch) (activities.Authors, error) {
			<-batch
			return activities.Authors{}, nil
		})
	env.OnActivity(stages.SitesFound, mock.Anything, mock.Anything).Return(activities.Sites{More: true}, nil)
	env.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, SignalWake, mock.Anything).
		Return(func(_, id, _, _ string, _ any) error {
			mu.Lock()
			woken = append(woken, id)
			first := len(woken) == 1
			mu.Unlock()
			if first {
				env.SetContinueAsNewSuggested(true)
				close(batch)
				<-over
			}
			return nil
		})
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(SignalWake, nil) }, time.Second)
	crawling := []string{"ada.example", "bob.example"}
	env.ExecuteWorkflow(FindHomepages, HomepagesParams{Harvest: webdb, Crawling: crawling})
	close(over)
	require.True(t, workflow.IsContinueAsNewError(env.GetWorkflowError()), "%v", env.GetWorkflowError())
	mu.Lock()
	defer mu.Unlock()
	require.Contains(t, woken, SiteID("bob.example"))
}

// TestAFullSearchWaitsForNoBatchThatDoesNotEnd: sites that are found meanwhile would not be
// crawled, nor those that are crawled be woken.
func TestAFullSearchWaitsForNoBatchThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.OnActivity(stages.AuthorBatches, mock.Anything, mock.Anything, mock.Anything).
		Return(activities.AuthorBatches{Last: []string{"k", "z"}, More: true}, nil)
	env.OnActivity(stages.FindHomepages, mock.Anything, mock.Anything).
		Return(func(_ context.Context, b activities.Batch) (activities.Authors, error) {
			if b.After == "" {
				env.SetContinueAsNewSuggested(true)
				return activities.Authors{Looked: 1}, nil
			}
			return activities.Authors{}, temporal.NewApplicationErrorWithOptions("paused", activities.ErrTypePaused,
				temporal.ApplicationErrorOptions{NextRetryDelay: 30 * 24 * time.Hour})
		})
	env.OnActivity(stages.SitesFound, mock.Anything, mock.Anything).Return(activities.Sites{More: true}, nil)
	env.ExecuteWorkflow(FindHomepages, HomepagesParams{Harvest: webdb})
	p := continuation[HomepagesParams](t, env.GetWorkflowError())
	require.Equal(t, "k", p.After)
	require.Equal(t, 1, p.Total.Looked)
}

// TestASearchWhoseBatchDoesNotEndIsContinued: a batch of a paused harvest is tried again
// for days. The run ends before its history is full, and the next begins the batch anew.
func TestASearchWhoseBatchDoesNotEndIsContinued(t *testing.T) {
	t.Parallel()
	env, looks := newEnv(t), 0
	env.OnActivity(stages.AuthorBatches, mock.Anything, mock.Anything, mock.Anything).Return(activities.AuthorBatches{Last: []string{"k", "z"}}, nil)
	env.OnActivity(stages.FindHomepages, mock.Anything, mock.Anything).Return(func(ctx context.Context, _ activities.Batch) (activities.Authors, error) {
		return activities.Authors{}, temporal.NewApplicationErrorWithOptions("paused", activities.ErrTypePaused, temporal.ApplicationErrorOptions{NextRetryDelay: 30 * 24 * time.Hour})
	})
	env.OnActivity(stages.SitesFound, mock.Anything, mock.Anything).Return(func(context.Context, activities.Batch) (activities.Sites, error) {
		if looks++; looks == 200 {
			env.SetContinueAsNewSuggested(true)
		}
		return activities.Sites{Paused: true, More: true}, nil
	})
	began := env.Now()
	env.ExecuteWorkflow(FindHomepages, HomepagesParams{Harvest: webdb, After: "c"})
	p := continuation[HomepagesParams](t, env.GetWorkflowError())
	require.Equal(t, "c", p.After, "the authors of the batch are left out")
	require.Equal(t, 200, looks)
	require.Greater(t, env.Now().Sub(began), 24*time.Hour, "looks while it is paused")
}
