package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/devstack"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/worker/pool"
	"gleaner/workflows"
)

// temporal connects to the server.
func (c *cli) temporal(ctx context.Context) (client.Client, error) {
	cfg, err := c.Settings()
	if err != nil {
		return nil, err
	}
	t, err := pool.Dial(ctx, cfg, c.Log(cfg))
	if err != nil {
		return nil, err
	}
	if cfg.Origin("temporal-address") == "dev" {
		c.devFolder = cfg.Servers.DataDir
	}
	return t, nil
}

// onTemporal does something with a connection to the server.
func (c *cli) onTemporal(ctx context.Context, do func(client.Client) error) error {
	t, err := c.temporal(ctx)
	if err != nil {
		return err
	}
	defer t.Close()
	return do(t)
}

// withRecord does something with the record open.
func (c *cli) withRecord(ctx context.Context, do func(*app.App) error) error {
	a, err := c.Record(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	return do(a)
}

// withBoth does something with the record open and a connection to the server.
func (c *cli) withBoth(ctx context.Context, do func(*app.App, client.Client) error) error {
	return c.withRecord(ctx, func(a *app.App) error {
		return c.onTemporal(ctx, func(t client.Client) error { return do(a, t) })
	})
}

// hasEnded tells whether a workflow does not run, or ended before it did what it was asked for.
func hasEnded(err error) bool {
	ended, is := errors.AsType[*temporal.ApplicationError](err)
	return isNotFound(err) || is && ended.Type() == "AcceptedUpdateCompletedWorkflow"
}

func isNotFound(err error) bool {
	return errors.As(err, new(*serviceerror.NotFound))
}

// aboutWorkflow reports whether an error is about the workflow, and not about the way to
// Temporal.
func aboutWorkflow(err error) bool {
	return errors.As(err, new(*temporal.WorkflowExecutionError)) || isNotFound(err) ||
		errors.As(err, new(*serviceerror.NamespaceNotFound)) || errors.As(err, new(*serviceerror.PermissionDenied)) ||
		errors.As(err, new(*serviceerror.InvalidArgument))
}

// patience is how long Temporal may be silent before somebody who waits is told.
const patience = 5 * time.Second

// insist calls do again while the server does not answer within the SDK's ten seconds, for
// at most a minute. What do asks for may have been done nevertheless.
func insist(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := do()
		var late *serviceerror.DeadlineExceeded
		if !errors.As(err, &late) && !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return err
		}
	}
}

// await waits for the result of a workflow, as long as it takes. While Temporal
// is away the work goes on or is taken up again, so that is told and waited for; but
// not where it was a "starter dev" that ended, which nobody but a person brings back.
func (c *cli) await(ctx context.Context, t client.Client, id string, result any) error {
	for away := false; ; {
		asked, cancel := context.WithTimeout(ctx, patience)
		err := t.GetWorkflow(asked, id, "").Get(asked, result)
		cancel()
		if err == nil || ctx.Err() != nil || aboutWorkflow(err) {
			return err
		}
		asked, cancel = context.WithTimeout(ctx, patience)
		_, err = t.CheckHealth(asked, &client.CheckHealthRequest{})
		if err != nil {
			<-asked.Done() // no faster than that
		}
		cancel()
		lost := err != nil && ctx.Err() == nil
		if _, up := devstack.Find(c.devFolder); lost && c.devFolder != "" && !up {
			return program.Unreachable{Reason: fmt.Errorf("`starter dev` has ended; start it again, and %s goes on by itself", strings.TrimPrefix(id, "harvest/"))}
		}
		if lost != away {
			said := "Temporal answers again; waiting for %s\n"
			if away = lost; away {
				said = "Temporal does not answer (TEMPORAL_ADDRESS); %s goes on when it is back, and is waited for here\n"
			}
			fmt.Fprintf(c.Err, said, id)
		}
	}
}

// startOptions are those of a workflow that is joined where it runs.
func startOptions(id string, about workflows.Description) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID:                       id,
		TaskQueue:                activities.QueueHarvest,
		StaticSummary:            about.Summary,
		StaticDetails:            about.Details,
		WorkflowTaskTimeout:      workflows.TaskTime,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}
}

// startOnce starts a workflow; joined reports whether it runs already. One that is being cancelled
// cannot be joined.
func startOnce(ctx context.Context, t client.Client, id string, about workflows.Description, workflow, params any) (joined bool, err error) {
	o := startOptions(id, about)
	o.WorkflowIDConflictPolicy, o.WorkflowExecutionErrorWhenAlreadyStarted = enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL, true
	_, err = t.ExecuteWorkflow(ctx, o, workflow, params)
	if _, joined = errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); joined {
		d, err := t.DescribeWorkflowExecution(ctx, id, "")
		if err == nil && d.GetWorkflowExtendedInfo().GetCancelRequested() {
			err = notWhileCancelled(id)
		}
		return true, err
	}
	return false, err
}

func notWhileCancelled(id string) error {
	return fmt.Errorf("%s %s; do it again in a moment, when it has ended", id, isCancelled)
}

// updateWorkflow sends a running workflow an update, and waits for its result.
func updateWorkflow(ctx context.Context, t client.Client, id, name string, result any, args ...any) error {
	handle, err := t.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID:   id,
		UpdateName:   name,
		Args:         args,
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, result)
	}
	if temporal.IsCanceledError(err) {
		return notWhileCancelled(id)
	}
	return err
}

// harvestRuns reports whether the workflow of a harvest runs.
func harvestRuns(ctx context.Context, t client.Client, id string) (bool, error) {
	d, err := t.DescribeWorkflowExecution(ctx, workflows.HarvestID(id), "")
	if isNotFound(err) {
		return false, nil
	}
	return d.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, err
}

// What a cancellation comes to.
const (
	isCancelled        = "is being cancelled"
	isCancelledAlready = "is being cancelled already; it ends when what is under way has been written"
)

// cancelWorkflow ends a workflow that runs, and returns what that comes to.
func cancelWorkflow(ctx context.Context, t client.Client, id string) (did string, err error) {
	d, err := t.DescribeWorkflowExecution(ctx, id, "")
	if err == nil && d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		err = serviceerror.NewNotFound("its workflow has ended")
	}
	if err == nil && d.GetWorkflowExtendedInfo().GetCancelRequested() {
		return isCancelledAlready, nil
	}
	if err == nil {
		err = t.CancelWorkflow(ctx, id, "")
	}
	return isCancelled, err
}

// hintNoWorker says of work that was begun that nobody asks for it.
func hintNoWorker(ctx context.Context, c *cli, t client.Client) {
	r, err := t.DescribeTaskQueue(ctx, activities.QueueHarvest, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return
	}
	if n, _, _ := asking(r); n == 0 {
		fmt.Fprintln(c.Err, "hint: no worker asks for work: it begins when one is started (worker), or made current (starter doctor)")
	}
}

// asking counts the workers that asked within pollTime and get work, and returns the build of one
// that gets none, since its version is not current, and when the last one asked.
func asking(r *workflowservice.DescribeTaskQueueResponse) (n int, other string, latest time.Time) {
	current := r.GetVersioningInfo().GetCurrentDeploymentVersion()
	for _, p := range r.GetPollers() {
		at, of := p.GetLastAccessTime().AsTime(), p.GetDeploymentOptions()
		versioned := of.GetWorkerVersioningMode() == enumspb.WORKER_VERSIONING_MODE_VERSIONED
		switch {
		case time.Since(at) >= pollTime:
		case versioned != (current != nil), versioned && of.GetBuildId() != current.GetBuildId():
			other = of.GetBuildId()
		default:
			n++
		}
		if at.After(latest) {
			latest = at
		}
	}
	return n, other, latest
}

// pollTime is a little more than a worker waits for work before it asks again.
const pollTime = 70 * time.Second
