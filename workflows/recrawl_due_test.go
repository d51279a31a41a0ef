package workflows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

// onDue answers DueSites with one batch after the other.
func onDue(env *testsuite.TestWorkflowEnvironment, asked *[]activities.Due, batches ...activities.Sites) {
	env.RegisterActivity(recrawls)
	env.OnActivity(recrawls.PutBack, mock.Anything, mock.Anything).Return(func(_ context.Context, p activities.PutBack) ([]string, error) {
		return slices.DeleteFunc(p.Hosts, func(h string) bool { return h == "skipped.example" }), nil
	}).Maybe()
	env.OnActivity(recrawls.ListDue, mock.Anything, mock.Anything).Return(func(_ context.Context, d activities.Due) (activities.Sites, error) {
		*asked = append(*asked, d)
		if len(*asked) > len(batches) {
			return activities.Sites{}, nil
		}
		return batches[len(*asked)-1], nil
	})
}

// envWithSites is an environment with another CrawlSite; a mock's workflow would
// run to its end before its parent goes on.
func envWithSites(t *testing.T, site func(workflow.Context, SiteParams) (activities.SiteEnd, error)) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	env := bareEnv(t)
	env.RegisterWorkflow(RecrawlDue)
	env.RegisterWorkflowWithOptions(site, workflow.RegisterOptions{Name: "CrawlSite"})
	env.RegisterActivity(stages)
	return env
}

func hosts(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("h%02d.example", i))
	}
	return out
}

func TestRecrawlCrawlsWhatIsDueInAWindow(t *testing.T) {
	t.Parallel()
	running, most := 0, 0
	all := hosts(7)
	env := envWithSites(t, func(ctx workflow.Context, p SiteParams) (activities.SiteEnd, error) {
		running++
		most = max(most, running)
		err := workflow.Sleep(ctx, 24*time.Hour) // a large, polite site
		running--
		end := activities.SiteEnd{Host: p.Host, State: "done"}
		if p.Host == all[2] {
			end.State = "refused"
		}
		return end, err
	})
	var asked []activities.Due
	onDue(env, &asked, activities.Sites{Hosts: all[:4], Last: all[3], More: true}, activities.Sites{Hosts: []string{"skipped.example"}, Last: "skipped.example", More: true}, activities.Sites{Hosts: all[4:], Last: all[6]})
	env.OnActivity(stages.Ended, mock.Anything, mock.Anything).Return([]string{}, nil).Maybe()
	r := resultOf[RecrawlResult](t, env, RecrawlDue,
		RecrawlParams{Window: 3, Due: activities.Due{Of: store.Selection{Venue: "conf/webdb"}, All: true}})
	require.Equal(t, RecrawlResult{Sites: 7, Ended: map[gleaner.SiteState]int{"done": 6, "refused": 1}}, r)
	require.Equal(t, 3, most)
	require.Len(t, asked, 3)
	require.Equal(t, []string{"", all[3], "skipped.example"}, []string{asked[0].After, asked[1].After, asked[2].After})
	for _, d := range asked {
		require.True(t, d.All)
		require.Equal(t, "conf/webdb", d.Of.Venue)
		require.Equal(t, asked[0].Before, d.Before, "one moment for the whole recrawl, so that nothing is asked twice in it")
		require.False(t, d.Before.IsZero())
	}
}

// A recrawl of the whitelist gives its pages to the frontier once, before it looks
// at what is due.
func TestRecrawlSeedsTheWhitelistFirst(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	var asked []activities.Due
	onDue(env, &asked)
	seeded := 0
	env.OnActivity(recrawls.SeedWhitelist, mock.Anything, activities.Whitelist{Small: 10}).Return(func(context.Context, activities.Whitelist) (int, error) {
		require.Empty(t, asked)
		seeded++
		return 2, nil
	})
	p := RecrawlParams{Whitelist: &activities.Whitelist{Small: 10}}
	completes(t, env, RecrawlDue, p)
	require.Equal(t, 1, seeded)
	require.Len(t, asked, 1)

	p.State.Seeded = true // a run that was continued
	env = newEnv(t)
	onDue(env, &asked)
	completes(t, env, RecrawlDue, p)
	require.Equal(t, 1, seeded)
}

// A recrawl that was continued does not hold the futures of its children: it
// asks the record which ended.
func TestRecrawlTakesUpPendingSites(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	n := 0
	env.OnActivity(stages.Ended, mock.Anything, mock.Anything).Return(func(_ context.Context, pending []string) ([]string, error) {
		if n++; n < 3 {
			return nil, nil
		}
		return pending[:1], nil
	})
	begin := env.Now()
	r := resultOf[RecrawlResult](t, env, RecrawlDue,
		RecrawlParams{State: RecrawlState{Listed: true, Pending: hosts(2), Started: 2}})
	require.Equal(t, RecrawlResult{Sites: 2, Ended: map[gleaner.SiteState]int{"done": 2}}, r)
	require.Equal(t, (1+2+4+1)*lookAround, env.Now().Sub(begin), "twice as long each time until one has ended")
}

func TestRecrawlGoesOnWhereASiteFails(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	var asked []activities.Due
	onDue(env, &asked, activities.Sites{Hosts: hosts(2), Last: "h01.example"})
	env.OnWorkflow(CrawlSite, mock.Anything, mock.Anything).Return(func(_ workflow.Context, p SiteParams) (activities.SiteEnd, error) {
		if p.Host == "h00.example" {
			return activities.SiteEnd{}, errors.New("terminated by hand")
		}
		return activities.SiteEnd{Host: p.Host, State: "done"}, nil
	})
	r := resultOf[RecrawlResult](t, env, RecrawlDue, RecrawlParams{})
	require.Equal(t, RecrawlResult{Sites: 2, Ended: map[gleaner.SiteState]int{"done": 1, "cancelled": 1}}, r)
}

// TestRecrawlContinuedAnywhereComesToTheSame continues a recrawl as new after each
// of its activities in turn, and after all.
func TestRecrawlContinuedAnywhereComesToTheSame(t *testing.T) {
	t.Parallel()
	all := hosts(7)
	through := func(full func(call int) bool) (r RecrawlResult, crawled []string, calls, runs int) {
		var underWay []string
		p := RecrawlParams{Window: 2}
		for ; runs < 100; runs++ {
			env := envWithSites(t, func(ctx workflow.Context, p SiteParams) (activities.SiteEnd, error) {
				underWay = append(underWay, p.Host)
				err := workflow.Sleep(ctx, 7*time.Second)
				underWay = slices.DeleteFunc(underWay, func(h string) bool { return h == p.Host })
				crawled = append(crawled, p.Host)
				return activities.SiteEnd{Host: p.Host, State: "done"}, err
			})
			env.RegisterActivity(recrawls)
			env.OnActivity(recrawls.ListDue, mock.Anything, mock.Anything).Return(func(_ context.Context, d activities.Due) (activities.Sites, error) {
				i, _ := slices.BinarySearch(all, d.After+"\x00")
				rest := all[i:]
				n := min(3, len(rest))
				s := activities.Sites{Hosts: rest[:n], Last: d.After, More: n == 3}
				if n > 0 {
					s.Last = rest[n-1]
				}
				return s, nil
			}).Maybe()
			env.OnActivity(recrawls.PutBack, mock.Anything, mock.Anything).Return(func(_ context.Context, p activities.PutBack) ([]string, error) { return p.Hosts, nil }).Maybe()
			env.OnActivity(stages.Ended, mock.Anything, mock.Anything).Return(func(_ context.Context, hosts []string) ([]string, error) {
				return slices.DeleteFunc(hosts, func(h string) bool { return !slices.Contains(crawled, h) }), nil
			}).Maybe()
			env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) {
				if calls++; full(calls) {
					env.SetContinueAsNewSuggested(true)
				}
			})
			env.ExecuteWorkflow(RecrawlDue, p)
			if env.GetWorkflowError() == nil {
				require.NoError(t, env.GetWorkflowResult(&r))
				return r, crawled, calls, runs + 1
			}
			p = continuation[RecrawlParams](t, env.GetWorkflowError())
			crawled, underWay = append(crawled, underWay...), nil
		}
		t.Fatal("no end")
		return
	}
	want, crawled, calls, runs := through(func(int) bool { return false })
	require.Equal(t, 1, runs)
	require.Equal(t, RecrawlResult{Sites: 7, Ended: map[gleaner.SiteState]int{"done": 7}}, want)
	require.Equal(t, all, slices.Sorted(slices.Values(crawled)))
	for k := range calls + 1 {
		r, crawled, _, runs := through(func(call int) bool { return call == k || k == 0 })
		require.Greater(t, runs, 1, k)
		require.Equal(t, want, r, k)
		require.Equal(t, all, slices.Sorted(slices.Values(crawled)), k)
	}
}

// A recrawl that is cancelled leaves its sites, and has their crawls look whether
// anybody else wants them.
func TestCancelledRecrawlLeavesItsSites(t *testing.T) {
	t.Parallel()
	woken := map[string]bool{}
	env := envWithSites(t, func(ctx workflow.Context, p SiteParams) (activities.SiteEnd, error) {
		woken[p.Host], _ = workflow.GetSignalChannel(ctx, SignalWake).ReceiveWithTimeout(ctx, 24*time.Hour, nil)
		return activities.SiteEnd{Host: p.Host}, ctx.Err()
	})
	var asked []activities.Due
	onDue(env, &asked, activities.Sites{Hosts: hosts(2), Last: "h01.example"})
	env.OnActivity(stages.Ended, mock.Anything, mock.Anything).Return([]string{}, nil).Maybe()
	env.OnActivity(recrawls.Leave, mock.Anything, hosts(2)).Return(nil).Once()
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	env.ExecuteWorkflow(RecrawlDue, RecrawlParams{})
	require.True(t, temporal.IsCanceledError(env.GetWorkflowError()))
	require.Equal(t, map[string]bool{"h00.example": true, "h01.example": true}, woken)
}

func TestOnScheduleOfNothingFails(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.ExecuteWorkflow(OnSchedule, ScheduledParams{})
	require.ErrorContains(t, env.GetWorkflowError(), "a schedule of nothing")
}
