package workflows

import (
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
)

type (
	inbound  = interceptor.WorkflowInboundInterceptor
	outbound = interceptor.WorkflowOutboundInterceptor
)

// between stands between workflows of a type, or all, and what they ask for.
type between struct {
	interceptor.WorkerInterceptorBase
	of   string // "" for all
	wrap func(next outbound) outbound
}

type betweenIn struct {
	interceptor.WorkflowInboundInterceptorBase
	wrap func(next outbound) outbound
}

func (b *between) InterceptWorkflow(ctx workflow.Context, next inbound) inbound {
	if b.of != "" && workflow.GetInfo(ctx).WorkflowType.Name != b.of {
		return next
	}
	in := &betweenIn{wrap: b.wrap}
	in.Next = next
	return in
}

func (in *betweenIn) Init(next outbound) error { return in.Next.Init(in.wrap(next)) }

// finishing has an activity that is under way when its workflow is cancelled come to its end,
// as on a server: the test environment takes it for cancelled at once. Nor does a child start
// at once on a server: start is called before it does.
func finishing(start func(workflow.Context)) *between {
	return &between{wrap: func(next outbound) outbound {
		return &finishingOut{interceptor.WorkflowOutboundInterceptorBase{Next: next}, start}
	}}
}

type finishingOut struct {
	interceptor.WorkflowOutboundInterceptorBase
	start func(workflow.Context)
}

func (out *finishingOut) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	if ctx.Err() == nil {
		ctx, _ = workflow.NewDisconnectedContext(ctx)
	}
	return out.Next.ExecuteActivity(ctx, name, args...)
}

func (out *finishingOut) ExecuteChildWorkflow(ctx workflow.Context, name string, args ...any) workflow.ChildWorkflowFuture {
	if out.start != nil {
		out.start(ctx)
	}
	return out.Next.ExecuteChildWorkflow(ctx, name, args...)
}

// TestARunThatIsFullAndCancelledEnds: the next run would not know that it was cancelled.
func TestARunThatIsFullAndCancelledEnds(t *testing.T) {
	t.Parallel()
	type env = *testsuite.TestWorkflowEnvironment
	for name, run := range map[string]func(env, func(mock.Arguments)){
		"harvest": func(env env, cancel func(mock.Arguments)) {
			some := activities.Sites{}
			env.OnActivity(stages.SitesToCrawl, mock.Anything, mock.Anything).Return(some, nil).Run(cancel)
			easyStages(env)
			env.ExecuteWorkflow(HarvestVenue, HarvestParams{Harvest: webdb, Stage: gleaner.StageCrawl})
		},
		"homepages": func(env env, cancel func(mock.Arguments)) {
			batches := activities.AuthorBatches{Last: []string{"a", "b", "c", "d", "e"}, More: true}
			env.OnActivity(stages.AuthorBatches, mock.Anything, mock.Anything, mock.Anything).Return(batches, nil)
			looked := activities.Authors{}
			env.OnActivity(stages.FindHomepages, mock.Anything, mock.Anything).Return(looked, nil).Run(cancel)
			easyStages(env)
			env.ExecuteWorkflow(FindHomepages, HomepagesParams{Harvest: webdb})
		},
		"site": func(env env, cancel func(mock.Arguments)) {
			slice := activities.Slice{Result: crawl.Result{Ending: crawl.SliceFull}}
			end := activities.SiteEnd{Host: "a.example", State: gleaner.SiteStopped, Reason: "cancelled"}
			env.OnActivity(crawler.CrawlSlice, mock.Anything, mock.Anything, mock.Anything).Return(slice, nil).Run(cancel)
			env.OnActivity(documents.FilterDocuments, mock.Anything, mock.Anything).Return(activities.Judged{}, nil)
			env.OnActivity(stages.EndSite, mock.Anything, end).Return(nil, temporal.NewCanceledError()).Once()
			env.ExecuteWorkflow(CrawlSite, SiteParams{Host: "a.example"})
		},
		"recrawl": func(env env, cancel func(mock.Arguments)) {
			some := activities.Sites{More: true}
			env.OnActivity(recrawls.ListDue, mock.Anything, mock.Anything).Return(some, nil).Run(cancel)
			env.OnActivity(recrawls.Leave, mock.Anything, mock.Anything).Return(nil)
			env.ExecuteWorkflow(RecrawlDue, RecrawlParams{})
		},
		"import": func(env env, cancel func(mock.Arguments)) {
			env.OnActivity(imports.ImportSlice, mock.Anything, mock.Anything).Return(ingest.Progress{}, nil).Run(cancel)
			end := activities.ImportEnd{Run: ingest.Run{Job: 1}, State: activities.JobCancelled}
			env.OnActivity(imports.EndImport, mock.Anything, end).Return(nil)
			env.ExecuteWorkflow(ImportCrawl, ingest.Run{Job: 1})
		},
		"job": func(env env, cancel func(mock.Arguments)) {
			more := tables.Progress{More: true}
			env.OnActivity(tableJobs.DoTableJob, mock.Anything, mock.Anything).Return(more, nil).Run(cancel)
			end := activities.ImportEnd{Run: ingest.Run{Job: 1}, State: activities.JobCancelled}
			env.OnActivity(imports.EndImport, mock.Anything, end).Return(nil)
			env.ExecuteWorkflow(TableJob, tables.Run{Job: 1})
		},
		"collections": func(env env, cancel func(mock.Arguments)) {
			full := crawl.Result{Ending: crawl.SliceFull}
			prepared := synthesis.Prepared{Centroids: 1}
			env.OnActivity(topical.PrepareCollection, mock.Anything, "some").Return(prepared, nil)
			env.OnActivity(topical.CollectSlice, mock.Anything, "some").Return(full, nil).Run(cancel)
			end := activities.CollectionEnd{Name: "some", State: activities.JobCancelled}
			env.OnActivity(topical.EndCollection, mock.Anything, end).Return(nil)
			env.ExecuteWorkflow(SynthesizeCollections, CollectParams{Name: "some", Parallel: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			o := patient
			o.Interceptors = []interceptor.WorkerInterceptor{finishing(nil)}
			env.SetWorkerOptions(o)
			run(env, func(mock.Arguments) {
				env.SetContinueAsNewSuggested(true)
				env.CancelWorkflow()
			})
			require.True(t, temporal.IsCanceledError(env.GetWorkflowError()), "%v", env.GetWorkflowError())
		})
	}
}
