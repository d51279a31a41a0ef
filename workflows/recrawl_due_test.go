package workflows

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/store"
)

// onDue answers DueSites with one batch after the other.
func onDue(env *testsuite.TestWorkflowEnvironment, asked *[]activities.Due, batches ...activities.Sites) {
	env.RegisterActivity(recrawls)
	env.OnActivity(recrawls.DueSites, mock.Anything, mock.Anything).Return(func(_ context.Context, d activities.Due) (activities.Sites, error) {
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
	var s testsuite.WorkflowTestSuite
	s.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := s.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(patient)
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
	onDue(env, &asked, activities.Sites{Hosts: all[:4], Last: all[3], More: true}, activities.Sites{Last: "skipped.example", More: true}, activities.Sites{Hosts: all[4:], Last: all[6]})
	env.OnActivity(stages.Ended, mock.Anything, mock.Anything).Return([]string{}, nil).Maybe()
	env.ExecuteWorkflow(RecrawlDue, RecrawlParams{Window: 3, Due: activities.Due{Of: store.Selection{Venue: "conf/webdb"}, All: true}})
	require.NoError(t, env.GetWorkflowError())
	var r RecrawlResult
	require.NoError(t, env.GetWorkflowResult(&r))
	require.Equal(t, RecrawlResult{Sites: 7, Ended: map[string]int{"done": 6, "refused": 1}}, r)
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

func TestRecrawlWithNothingDueEndsAtOnce(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	var asked []activities.Due
	onDue(env, &asked)
	env.ExecuteWorkflow(RecrawlDue, RecrawlParams{})
	require.NoError(t, env.GetWorkflowError())
	var r RecrawlResult
	require.NoError(t, env.GetWorkflowResult(&r))
	require.Zero(t, r.Sites)
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
	env.ExecuteWorkflow(RecrawlDue, RecrawlParams{State: RecrawlState{Listed: true, Pending: hosts(2), Started: 2}})
	require.NoError(t, env.GetWorkflowError())
	var r RecrawlResult
	require.NoError(t, env.GetWorkflowResult(&r))
	require.Equal(t, RecrawlResult{Sites: 2, Ended: map[string]int{"done": 2}}, r)
	require.Equal(t, 4*lookAround, env.Now().Sub(begin))
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
	env.ExecuteWorkflow(RecrawlDue, RecrawlParams{})
	require.NoError(t, env.GetWorkflowError())
	var r RecrawlResult
	require.NoError(t, env.GetWorkflowResult(&r))
	require.Equal(t, RecrawlResult{Sites: 2, Ended: map[string]int{"done": 1, "cancelled": 1}}, r)
}

func TestOnScheduleWaitsForItsHarvest(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	var asked []string
	env.OnWorkflow(HarvestVenue, mock.Anything, mock.Anything).Return(func(ctx workflow.Context, p HarvestParams) (HarvestResult, error) {
		asked = append(asked, workflow.GetInfo(ctx).WorkflowExecution.ID)
		return HarvestResult{}, workflow.Sleep(ctx, 14*24*time.Hour)
	})
	begin := env.Now()
	env.ExecuteWorkflow(OnSchedule, ScheduledParams{Harvest: &HarvestParams{Harvest: webdb}})
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{HarvestID(webdb.ID)}, asked)
	require.GreaterOrEqual(t, env.Now().Sub(begin), 14*24*time.Hour)
}

func TestOnScheduleOfNothingFails(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.ExecuteWorkflow(OnSchedule, ScheduledParams{})
	require.ErrorContains(t, env.GetWorkflowError(), "a schedule of nothing")
}
