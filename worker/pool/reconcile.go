package pool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/fetch"
	"gleaner/internal/guard"
	"gleaner/internal/harvest/reconcile"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/workflows"
)

// Reconciler returns a reconciler over an open record and a Temporal client.
func Reconciler(a *app.App, c client.Client, log *slog.Logger) *reconcile.Reconciler {
	ids := reconcile.IDs{Site: workflows.SiteID, Harvest: workflows.HarvestID,
		Collection: workflows.CollectionsID, Job: workflows.JobID}
	return &reconcile.Reconciler{DB: a.DB, Workflows: temporal{c}, IDs: ids, Recrawl: a.Recrawl, Log: log}
}

// temporal is a reconcile.Workflows.
type temporal struct{ client client.Client }

// Status returns the state of the latest run of a workflow. Unlike a list of workflows, it is
// never stale.
func (t temporal) Status(ctx context.Context, id string) (reconcile.Status, error) {
	d, err := t.client.DescribeWorkflowExecution(ctx, id, "")
	if _, ok := errors.AsType[*serviceerror.NotFound](err); ok {
		return reconcile.Unknown, nil
	}
	if err != nil {
		return "", fmt.Errorf("workflow %s: %w", id, err)
	}
	switch d.GetWorkflowExecutionInfo().GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return reconcile.Completed, nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED:
		return reconcile.Failed, nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:
		return reconcile.Cancelled, nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return reconcile.Terminated, nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return reconcile.TimedOut, nil
	}
	return reconcile.Runs, nil
}

// Waits returns the hosts for which a harvest or a recrawl waits.
func (t temporal) Waits(ctx context.Context, id string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	answer, err := t.client.QueryWorkflow(ctx, id, "", workflows.QueryStatus)
	if err != nil {
		return nil, err
	}
	var s struct {
		Pending []string `json:"pending"`
	}
	err = answer.Get(&s)
	return s.Pending, err
}

func (t temporal) Start(ctx context.Context, h store.Harvest) error {
	again, err := activities.HarvestOf(h)
	if err != nil {
		return fmt.Errorf("options of %s: %w", h.ID, err)
	}
	if h.CompletedAt != nil && again.Options.Again == activities.AgainAll { // as starter retry does
		again.Options.Again = activities.AgainDue
	}
	return t.start(ctx, workflows.HarvestID(h.ID), workflows.DescribeHarvest(again), workflows.HarvestVenue,
		workflows.HarvestParams{Harvest: again, State: workflows.HarvestState{Paused: h.Paused}})
}

func (t temporal) Collect(ctx context.Context, c collections.OpenRun) error {
	p, id := workflows.CollectParams{Name: c.Name, Run: c.Run, Parallel: c.Parallel}, workflows.CollectionsID(c.Name)
	return t.start(ctx, id, workflows.DescribeCollection(c.Name), workflows.SynthesizeCollections, p)
}

func (t temporal) JudgeLeft(ctx context.Context) error {
	return t.start(ctx, workflows.JudgeLeftID, workflows.DescribeJudgeLeft(), workflows.JudgeLeft)
}

// tellNews starts the workflow that sends notices to the operators.
func (p *pool) tellNews(ctx context.Context) error {
	return temporal{p.client}.start(ctx, workflows.TellNewsID, workflows.DescribeTellNews(), workflows.TellNews)
}

// start starts a workflow, unless it runs.
func (t temporal) start(ctx context.Context, id string, about workflows.Description, workflow any, args ...any) error {
	_, err := t.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: activities.QueueHarvest, StaticSummary: about.Summary, StaticDetails: about.Details, WorkflowTaskTimeout: workflows.TaskTime,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING}, workflow, args...)
	return err
}

// maintainEvery is how often a worker checks whether a chore is due.
const maintainEvery = time.Minute

// chore is a task that one worker does on behalf of all.
type chore struct {
	store.Chore
	do func(context.Context) error
}

func (p *pool) chores() []chore {
	all := []chore{
		{store.Chore{Name: "reconcile", Every: 10 * time.Minute, Within: 10 * time.Minute}, p.reconcile},
		{store.Chore{Name: "prune", Every: 24 * time.Hour, Within: time.Hour}, p.prune},
	}
	if len(p.app.Channels) > 0 {
		all = append(all, chore{store.Chore{Name: "news", Every: p.cfg.Notify.Every, Within: time.Minute}, p.tellNews})
	}
	return all
}

// maintain does the chores that are due, at once and then every so often, until ctx ends. The
// chores run in parallel.
func (p *pool) maintain(ctx context.Context, every time.Duration) {
	var ended []<-chan struct{}
	for _, c := range p.chores() {
		ended = append(ended, guard.Go(func() {
			p.chore(ctx, c)
			fetch.Every(ctx, every, func() bool { p.chore(ctx, c); return true })
		}))
	}
	for _, e := range ended {
		<-e
	}
}

// chore does a chore if it is due and no other worker does it. An error is only logged, since
// it must not stop the worker.
func (p *pool) chore(ctx context.Context, c chore) {
	_, err := p.app.DB.Chore(ctx, c.Chore, func(ctx context.Context) (any, error) {
		return nil, guard.Logged(ctx, p.log, c.Name, func() error { return c.do(ctx) })
	})
	if err != nil && ctx.Err() == nil {
		p.log.Warn("maintenance failed; it is tried again", "task", c.Name, "within", c.Within, "error", err)
	}
}

func (p *pool) reconcile(ctx context.Context) error {
	mended, err := Reconciler(p.app, p.client, p.log).Run(ctx, reconcile.Options{})
	for _, m := range mended {
		p.tel.Metrics.Mended(string(m.Kind))
	}
	return err
}

func (p *pool) prune(ctx context.Context) error {
	done, err := p.app.DB.Prune(ctx, p.app.Retention(), p.app.Repo, store.PruneOptions{})
	for _, d := range done {
		if d.Rows > 0 {
			p.log.Info("removed what was kept long enough", "what", d.What, "rows", d.Rows, "bytes", d.Bytes)
		}
	}
	return err
}
