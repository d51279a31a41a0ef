package workflows

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
)

// aWeb is a record and a web in small: hosts where URLs wait, and hosts that a
// crawl of one of them leads to. Activities run beside each other and beside workflows,
// so it is locked by whoever looks into it.
type aWeb struct {
	sync.Mutex
	waiting  map[string]bool
	leads    map[string][]string
	underWay map[string]bool // begun by a run that was continued
	crawled  []string
	early    []string // hosts that are found while others are looked for
	located  int      // times that open copies were asked for
	searched int
	stages   []gleaner.Stage // as the record was told them
	calls    int             // of activities, over all runs
	runs     int
	asked    int // times that the record was asked which crawls ended
}

func newWeb() *aWeb {
	w := &aWeb{early: []string{"ada.example", "eve.example"}, waiting: map[string]bool{"press.example": true}, underWay: map[string]bool{}, leads: map[string][]string{
		"homepages":   {"ada.example", "bob.example", "cyd.example", "dan.example", "eve.example"},
		"ada.example": {"lead-1.example"}, "eve.example": {"lead-2.example", "lead-3.example"}, "lead-2.example": {"far.example"}}}
	return w
}

// crawl is what the crawl of a host does to the record.
func (w *aWeb) crawl(host string) {
	w.waiting[host] = false
	w.crawled = append(w.crawled, host)
	w.lead(host)
}

func (w *aWeb) lead(from string) {
	for _, to := range w.leads[from] {
		if !slices.Contains(w.crawled, to) {
			w.waiting[to] = true
		}
	}
}

func (w *aWeb) begun(host string) {
	w.Lock()
	defer w.Unlock()
	w.underWay[host] = true
}

func (w *aWeb) ended(host string) {
	w.Lock()
	defer w.Unlock()
	if delete(w.underWay, host); w.waiting[host] {
		w.crawl(host)
	}
}

func (w *aWeb) sites(b activities.Batch) activities.Sites {
	w.Lock()
	defer w.Unlock()
	var s activities.Sites
	for _, host := range slices.Sorted(func(yield func(string) bool) {
		for host, is := range w.waiting {
			if is && host > b.After && !yield(host) {
				return
			}
		}
	}) {
		if len(s.Hosts) == 3 { // a small batch
			s.More = true
			break
		}
		s.Hosts, s.Last = append(s.Hosts, host), host
	}
	return s
}

// settle waits a moment for the sites that were found early to have begun, where their
// crawls were started at all: the test environment falls over signals to a child that was
// started and has not begun, which no server does.
func (w *aWeb) settle() {
	begun := func() bool {
		w.Lock()
		defer w.Unlock()
		return !slices.ContainsFunc(w.early, func(host string) bool {
			return w.waiting[host] && !w.underWay[host] && !slices.Contains(w.crawled, host)
		})
	}
	for range 100 {
		if begun() {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// run runs one run of a harvest. full says after which call of an activity, of
// all runs together, the server suggests to continue as new.
func (w *aWeb) run(t *testing.T, p HarvestParams, full func(call int) bool, during func(*testsuite.TestWorkflowEnvironment)) (HarvestResult, error) {
	env := bareEnv(t)
	env.RegisterWorkflow(HarvestVenue)
	env.RegisterWorkflow(FindHomepages)
	env.RegisterWorkflowWithOptions(func(ctx workflow.Context, p SiteParams) (activities.SiteEnd, error) {
		w.begun(p.Host)
		if err := workflow.Sleep(ctx, 7*time.Second); err != nil {
			return activities.SiteEnd{}, err
		}
		w.ended(p.Host)
		return tellsEnd(ctx, p.Host)
	}, workflow.RegisterOptions{Name: "CrawlSite"})
	env.RegisterActivity(stages)
	env.RegisterActivity(documents)
	if during != nil {
		during(env)
	}
	w.answer(env)
	env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) {
		w.Lock()
		defer w.Unlock()
		w.calls++
		if full(w.calls) {
			env.SetContinueAsNewSuggested(true)
		}
	})
	env.ExecuteWorkflow(HarvestVenue, p)
	w.runs++
	require.True(t, env.IsWorkflowCompleted())
	var r HarvestResult
	if err := env.GetWorkflowError(); err != nil {
		return r, err
	}
	return r, env.GetWorkflowResult(&r)
}

func (w *aWeb) answer(env *testsuite.TestWorkflowEnvironment) {
	env.OnActivity(stages.SetStage, mock.Anything, mock.Anything).Return(func(_ context.Context, s activities.Stage) error {
		w.Lock()
		defer w.Unlock()
		if len(w.stages) == 0 || w.stages[len(w.stages)-1] != s.Stage {
			w.stages = append(w.stages, s.Stage)
		}
		return nil
	})
	env.OnActivity(stages.LocateCopies, mock.Anything, mock.Anything).Return(func(context.Context, activities.Harvest) (harvest.Seeded, error) {
		w.Lock()
		defer w.Unlock()
		w.located++
		return harvest.Seeded{}, nil
	})
	env.OnActivity(stages.AuthorBatches, mock.Anything, mock.Anything, mock.Anything).Return(activities.AuthorBatches{Last: []string{"m", "z"}}, nil)
	env.OnActivity(stages.FindHomepages, mock.Anything, mock.Anything).Return(func(context.Context, activities.Batch) (activities.Authors, error) {
		w.Lock()
		defer w.Unlock()
		w.searched++
		return activities.Authors{Looked: 2, Found: 1}, nil
	})
	env.OnActivity(stages.SitesFound, mock.Anything, mock.Anything).Return(func(_ context.Context, b activities.Batch) (activities.Sites, error) {
		w.Lock()
		defer w.Unlock()
		found := activities.Sites{More: true}
		for _, host := range w.early {
			if !slices.Contains(w.crawled, host) && !slices.Contains(b.Without, host) && len(found.Hosts) < b.Limit {
				w.waiting[host] = true
				found.Hosts = append(found.Hosts, host)
			}
		}
		return found, nil
	})
	env.OnActivity(stages.SeedHomepages, mock.Anything, mock.Anything).Return(func(context.Context, activities.Harvest) (harvest.Seeded, error) {
		w.settle()
		w.Lock()
		defer w.Unlock()
		w.lead("homepages")
		return harvest.Seeded{Hosts: 5}, nil
	})
	env.OnActivity(stages.SitesToCrawl, mock.Anything, mock.Anything).Return(func(_ context.Context, b activities.Batch) (activities.Sites, error) { return w.sites(b), nil })
	env.OnActivity(stages.Ended, mock.Anything, mock.Anything).Return(func(_ context.Context, hosts []string) ([]string, error) {
		w.Lock()
		defer w.Unlock()
		if w.asked++; w.asked > 100 { // mocked time would go on for ever
			env.CancelWorkflow()
		}
		return slices.DeleteFunc(hosts, func(h string) bool { return w.underWay[h] || w.waiting[h] }), nil // as it is of a site that was listed and not crawled
	})
	env.OnActivity(stages.Requeue, mock.Anything, mock.Anything).Return(func(context.Context, activities.Retry) (activities.Requeued, error) {
		w.Lock()
		defer w.Unlock()
		w.waiting["again.example"] = true
		return activities.Requeued{URLs: 1}, nil
	})
	easyStages(env)
}

// through runs a harvest to its end over as many runs as it takes. Crawls that are
// under way when a run is continued end meanwhile, without a word.
func (w *aWeb) through(t *testing.T, full func(call int) bool) HarvestResult {
	t.Helper()
	p := HarvestParams{Harvest: webdb}
	p.Harvest.Options.Window = 2
	for range 200 {
		r, err := w.run(t, p, full, nil)
		if err == nil {
			return r
		}
		p = continuation[HarvestParams](t, err)
		for host := range w.underWay {
			w.crawl(host)
		}
		clear(w.underWay)
	}
	t.Fatalf("no end after %d runs, in stage %s", w.runs, p.State.Stage)
	return HarvestResult{}
}

var everyHost = []string{"ada.example", "bob.example", "cyd.example", "dan.example", "eve.example", "far.example", "lead-1.example", "lead-2.example", "lead-3.example", "press.example"}

// TestHarvestContinuedAnywhereComesToTheSame continues a harvest as new after each
// of its activities in turn, and after all: the result is that of one run.
func TestHarvestContinuedAnywhereComesToTheSame(t *testing.T) {
	t.Parallel()
	whole := newWeb()
	want := whole.through(t, func(int) bool { return false })
	require.Equal(t, 1, whole.runs)
	require.Equal(t, everyHost, slices.Sorted(slices.Values(whole.crawled)))
	require.Equal(t, []gleaner.Stage{gleaner.StagePapers, gleaner.StageHeld, gleaner.StageCopies, gleaner.StageHomepages, gleaner.StageCrawl, gleaner.StageReport, gleaner.StageComplete}, whole.stages)
	check := func(t *testing.T, full func(int) bool) *aWeb {
		w := newWeb()
		got := w.through(t, full)
		require.Equal(t, everyHost, slices.Sorted(slices.Values(w.crawled)), "each once, and none left")
		require.Equal(t, want.State.Sites, got.State.Sites)
		require.Equal(t, whole.stages, w.stages)
		require.Equal(t, 1, w.located, "open copies are asked for once")
		require.Equal(t, whole.searched, w.searched)
		require.Empty(t, got.State.Pending)
		return w
	}
	continued := 0
	for k := 1; k <= whole.calls; k++ {
		t.Run(fmt.Sprintf("after call %d", k), func(t *testing.T) {
			w := check(t, func(call int) bool { return call == k })
			continued = max(continued, w.runs)
		})
	}
	require.Equal(t, 2, continued)
	t.Run("after every call", func(t *testing.T) {
		w := check(t, func(int) bool { return true })
		require.Greater(t, w.runs, len(everyHost), "there was a run for each step")
	})
}
