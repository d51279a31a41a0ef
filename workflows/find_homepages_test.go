package workflows

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/harvest/report"
)

// people are batches of authors, listed a few at a time.
type people struct {
	batches int
	perList int

	mu       sync.Mutex
	meet     sync.Cond
	together int // batches that wait for each other before the first answers
	running  int
	most     int      // that were under way at once
	asked    []string // batches as they ended, by pass and range
	log      []string // batches of each pass, and its settling
	calls    int
	runs     int
}

func newPeople(batches, together int) *people {
	p := &people{batches: batches, perList: 3, together: together}
	p.meet.L = &p.mu
	return p
}

func author(n int) string { return fmt.Sprintf("a%02d", n) }

func (p *people) answer(env *testsuite.TestWorkflowEnvironment) {
	env.OnActivity(stages.AuthorBatches, mock.Anything, mock.Anything, authorsPerBatch).Return(func(_ context.Context, b activities.Batch, _ int) (activities.AuthorBatches, error) {
		var out activities.AuthorBatches
		for n := range p.batches {
			if author(n) > b.After {
				if len(out.Last) == p.perList {
					out.More = true
					break
				}
				out.Last = append(out.Last, author(n))
			}
		}
		return out, nil
	})
	env.OnActivity(stages.FindHomepages, mock.Anything, mock.Anything).Return(func(_ context.Context, b activities.Batch) (activities.Authors, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.running++
		p.most = max(p.most, p.running)
		for p.meet.Broadcast(); p.most < p.together; {
			p.meet.Wait()
		}
		p.running--
		p.asked = append(p.asked, fmt.Sprintf("%d %s-%s", b.Pass, b.After, b.UpTo))
		p.log = append(p.log, fmt.Sprintf("batch of %d", b.Pass))
		return activities.Authors{Looked: 3, Found: 2, Searches: 5, Fetches: 7, Last: "not heeded"}, nil
	})
	env.OnActivity(stages.SitesFound, mock.Anything, mock.Anything).Return(activities.Sites{}, nil).Maybe()
	env.OnActivity(stages.SettleHomepages, mock.Anything, mock.Anything).Return(func(context.Context, activities.Harvest) (harvest.Settled, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.log = append(p.log, fmt.Sprintf("settled, %d under way", p.running))
		return harvest.Settled{}, nil
	})
}

// find runs FindHomepages to its end, over as many runs as it takes.
func (p *people) find(t *testing.T, full func(call int) bool) activities.Authors {
	t.Helper()
	params := HomepagesParams{Harvest: webdb}
	for range 100 {
		env := newEnv(t)
		p.answer(env)
		env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) {
			if p.calls++; full(p.calls) {
				env.SetContinueAsNewSuggested(true)
			}
		})
		env.ExecuteWorkflow(FindHomepages, params)
		p.runs++
		err := env.GetWorkflowError()
		if err == nil {
			var end Searched
			require.NoError(t, env.GetWorkflowResult(&end))
			return end.Authors
		}
		require.Zero(t, p.running, "a batch was left behind")
		params = continuation[HomepagesParams](t, err)
	}
	t.Fatal("no end")
	return activities.Authors{}
}

// TestHomepagesAreLookedForSideBySide: several batches are under way at once, so
// that several workers share a search; what comes of it is what comes of one after
// the other, wherever the run is continued.
func TestHomepagesAreLookedForSideBySide(t *testing.T) {
	t.Parallel()
	var want []string
	for pass := 1; pass <= 2; pass++ {
		after := ""
		for n := range 10 {
			want = append(want, fmt.Sprintf("%d %s-%s", pass, after, author(n)))
			after = author(n)
		}
	}
	order := slices.Concat(slices.Repeat([]string{"batch of 1"}, 10), []string{"settled, 0 under way"}, slices.Repeat([]string{"batch of 2"}, 10), []string{"settled, 0 under way"})
	check := func(t *testing.T, together int, full func(int) bool) *people {
		p := newPeople(10, together)
		total := p.find(t, full)
		slices.Sort(p.asked)
		require.Equal(t, want, p.asked, "each batch once")
		require.Equal(t, order, p.log)
		require.Equal(t, activities.Authors{Looked: 60, Found: 40, Searches: 100, Fetches: 140}, total)
		require.LessOrEqual(t, p.most, BatchesAtOnce)
		return p
	}
	whole := check(t, 4, func(int) bool { return false }) // ends only if so many met
	require.Equal(t, 1, whole.runs)
	require.Equal(t, 4, whole.most)
	for k := 1; k <= whole.calls; k++ {
		check(t, 1, func(call int) bool { return call == k })
	}
	require.Greater(t, check(t, 1, func(int) bool { return true }).runs, 4)
}

// TestASearchThatFailsLeavesNoBatchBehind: those that are under way end first, and
// none begins.
func TestASearchThatFailsLeavesNoBatchBehind(t *testing.T) {
	t.Parallel()
	p := newPeople(10, BatchesAtOnce)
	env := newEnv(t)
	var mu sync.Mutex
	var begun []string
	together, over := make(chan bool), make(chan bool)
	env.OnActivity(stages.FindHomepages, mock.Anything, mock.Anything).Return(func(_ context.Context, b activities.Batch) (activities.Authors, error) {
		mu.Lock()
		if begun = append(begun, b.UpTo); len(begun) == BatchesAtOnce {
			close(together)
		}
		mu.Unlock()
		if b.UpTo != author(1) {
			<-over // it is under way until it is cancelled
			return activities.Authors{}, nil
		}
		<-together
		return activities.Authors{}, temporal.NewNonRetryableApplicationError("no such venue", activities.ErrTypeInput, nil)
	})
	p.answer(env)
	env.ExecuteWorkflow(FindHomepages, HomepagesParams{Harvest: webdb})
	close(over)
	require.ErrorContains(t, env.GetWorkflowError(), "no such venue")
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, begun, BatchesAtOnce, "no batch is begun after one that failed: %v", begun)
}

// A harvest asks once more, before it reports, for what had not answered, and
// begins with the first stage that left anything open.
func TestHarvestAsksAgainBeforeItReports(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		open  activities.Questions
		again gleaner.Stage
		order []string
	}{
		{"all answered", activities.Questions{}, "", []string{"list", "copies", "homepages"}},
		{"authors", activities.Questions{Authors: 2}, gleaner.StageHomepages, []string{"list", "copies", "homepages", "homepages"}},
		{"copies", activities.Questions{Copies: 1, Authors: 2}, gleaner.StageCopies, []string{"list", "copies", "homepages", "copies again", "homepages"}},
		{"papers", activities.Questions{Papers: 1}, gleaner.StagePapers, []string{"list", "copies", "homepages", "list", "copies", "homepages"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			var order []string
			for what, activity := range map[string]any{
				"copies": stages.LocateCopies, "copies again": stages.LocateAgain, "homepages": stages.SeedHomepages,
			} {
				env.OnActivity(activity, mock.Anything, mock.Anything).Return(harvest.Seeded{URLs: 1}, nil).Maybe().
					Run(func(mock.Arguments) { order = append(order, what) })
			}
			env.OnActivity(stages.ListPapers, mock.Anything, mock.Anything).Return(activities.Listed{}, nil).
				Run(func(mock.Arguments) { order = append(order, "list") })
			env.OnActivity(stages.AskAgain, mock.Anything, webdb.ID).Return(tc.open, nil).Once() // a host that stays out is not waited for
			easyStages(env)
			onWaves(env)
			r := resultOf[HarvestResult](t, env, HarvestVenue, HarvestParams{Harvest: webdb})
			require.Equal(t, tc.order, order)
			env.AssertNumberOfCalls(t, "AskAgain", 1)
			require.Equal(t, tc.again, r.State.Again)
		})
	}
}

// A person's retry begins where something was left open, and nowhere before.
func TestARetryBeginsWhereSomethingIsOpen(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		what  activities.Retry
		open  activities.Questions
		begin gleaner.Stage
	}{
		{"nothing open", activities.Retry{}, activities.Questions{}, gleaner.StageCrawl},
		{"authors", activities.Retry{}, activities.Questions{Authors: 1}, gleaner.StageHomepages},
		{"catalogue", activities.Retry{}, activities.Questions{Copies: 1, Authors: 1}, gleaner.StageCopies},
		{"of one site", activities.Retry{Host: "ada.example"}, activities.Questions{Papers: 1, Copies: 1}, gleaner.StageCrawl},
		{"of all stages", activities.Retry{}, activities.Questions{Copies: 1}, gleaner.StagePapers},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			var entered []gleaner.Stage
			env.OnActivity(stages.SetStage, mock.Anything, mock.Anything).Return(func(_ context.Context, s activities.Stage) error {
				entered = append(entered, s.Stage)
				return nil
			})
			env.OnActivity(stages.StillOpen, mock.Anything, webdb.ID).Return(tc.open, nil)
			env.OnActivity(stages.LocateAgain, mock.Anything, mock.Anything).Return(harvest.Seeded{}, nil).Maybe()
			easyStages(env)
			onWaves(env)
			from, asked := gleaner.StageCrawl, 0
			if tc.begin == gleaner.StagePapers { // it was cancelled, and is a whole harvest
				from, asked = tc.begin, 1
			}
			completes(t, env, HarvestVenue, HarvestParams{Harvest: webdb, Stage: from, Retry: &tc.what})
			require.Equal(t, tc.begin, entered[0])
			env.AssertNumberOfCalls(t, "AskAgain", asked)
		})
	}
}

// Documents that a retry takes up are judged before the harvest reports, though
// nothing else is to be crawled; where there are none nobody looks for them.
func TestWhatStalledIsJudgedBeforeTheReport(t *testing.T) {
	t.Parallel()
	for _, stalled := range []int{2, 0} {
		env := newEnv(t)
		var order []string
		env.OnActivity(stages.Requeue, mock.Anything, mock.Anything).Return(activities.Requeued{Stalled: stalled}, nil).Once()
		env.OnActivity(documents.JudgeStalled, mock.Anything, webdb.ID).Return(func(context.Context, string) (activities.Judged, error) {
			order = append(order, "judge")
			return activities.Judged{Documents: 1, More: len(order) < stalled}, nil
		}).Maybe()
		env.OnActivity(stages.Report, mock.Anything, mock.Anything).Return(func(context.Context, activities.Harvest) (report.Summary, error) {
			order = append(order, "report")
			return report.Summary{}, nil
		})
		easyStages(env)
		onWaves(env)
		completes(t, env, HarvestVenue, HarvestParams{Harvest: webdb, Stage: gleaner.StageCrawl, Retry: &activities.Retry{}})
		want := []string{"judge", "judge", "report"}
		require.Equal(t, want[2-stalled:], order, "in slices")
	}
}
