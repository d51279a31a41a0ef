package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/workflows"
)

const aHarvest = "a harvest: its id (conf/webdb/1998-2004), or its venue, site, author or list (conf/webdb, site:URL, author:65/2885, papers:NAME)"

// hasEnded tells whether a workflow does not run, or ended before it did what it was asked for.
func hasEnded(err error) bool {
	var ended *temporal.ApplicationError
	return notThere(err) || errors.As(err, &ended) && ended.Type() == "AcceptedUpdateCompletedWorkflow"
}

func notRunning(h store.Harvest, err error) error {
	if hasEnded(err) {
		return program.Unknown{Reason: fmt.Errorf("%s does not run (it is %s); `%s` starts it again", h.ID, h.Stage, h.Command())}
	}
	return err
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

// known reports whether there is such a site, and whether anything failed for the
// reason named: a misspelt one would retry nothing, and not say so.
func known(ctx context.Context, db *store.DB, h store.Harvest, what activities.Retry) error {
	if err := hasSite(ctx, db, what.Host); err != nil {
		return err
	}
	if what.Reason == "" {
		return nil
	}
	failures, err := db.Failures(ctx, store.RetryFilter{Harvest: h.ID, Host: what.Host})
	if err != nil || slices.ContainsFunc(failures, func(f store.Failure) bool { return f.Reason == what.Reason }) {
		return err
	}
	return fmt.Errorf("%w: nothing of %s failed as %q; `starter stats failures %s` lists the reasons", program.ErrUsage, h.ID, what.Reason, h.ID)
}

// retry tells a running harvest, or starts one that begins with what was left
// open. It returns what was put back; of one that is started, what will be (now
// is false).
func (c *cli) retry(ctx context.Context, t client.Client, db *store.DB, h store.Harvest, what activities.Retry) (did activities.Requeued, now bool, err error) {
	if h.CompletedAt == nil {
		did, err := retryRunning(ctx, t, h.ID, what)
		if !hasEnded(err) {
			return did, true, err
		}
	}
	again, err := activities.HarvestOf(h)
	if err != nil {
		return did, false, err
	}
	again.Options.Again = activities.AgainNone // what did not fail is not asked again
	what.Harvest = h.ID
	if did, err = somethingLeft(ctx, db, h, what); err != nil {
		return did, false, err
	}
	_, err = startHarvest(ctx, t, workflows.HarvestParams{Harvest: again, Stage: gleaner.StageCrawl, Retry: &what})
	return did, false, err
}

// taken counts what a retry of a harvest that does not run would take up.
func taken(ctx context.Context, db *store.DB, h store.Harvest, what activities.Retry) (would activities.Requeued, err error) {
	f := store.RetryFilter{Harvest: h.ID, Host: what.Host, Reason: what.Reason, OlderThan: what.OlderThan}
	q, err := db.Meant(ctx, f)
	if err != nil {
		return would, err
	}
	would.Authors, would.Sources = q.Authors, q.Papers+q.Copies
	if would.URLs, err = db.FailedURLs(ctx, f); err != nil {
		return would, err
	}
	if would.Sites, err = db.RetriedSites(ctx, f); err != nil {
		return would, err
	}
	would.Stalled, err = db.StalledDocuments(ctx, f)
	return would, err
}

// somethingLeft returns what a retry of a harvest that does not run takes up. Where that is
// nothing of a complete one, the error names the reasons which a retry has to name.
func somethingLeft(ctx context.Context, db *store.DB, h store.Harvest, what activities.Retry) (would activities.Requeued, err error) {
	would, err = taken(ctx, db, h, what)
	if err != nil || h.Stage != gleaner.StageComplete || would != (activities.Requeued{}) {
		return would, err
	}
	failures, err := db.Failures(ctx, store.RetryFilter{Harvest: h.ID, Host: what.Host})
	var named []string
	for _, failure := range failures {
		named = append(named, fmt.Sprintf("%s (%d)", failure.Reason, failure.All()))
	}
	if named == nil {
		return would, cmp.Or[error](err, program.Unknown{Reason: fmt.Errorf("nothing of %s failed that could be tried again", h.ID)})
	}
	return would, fmt.Errorf("%w: nothing would be tried again, as this is only where it is named as the reason: %s",
		program.ErrUsage, strings.Join(named, ", "))
}

// retryRunning tells a harvest that runs, and returns what it put back.
func retryRunning(ctx context.Context, t client.Client, harvest string, what activities.Retry) (did activities.Requeued, err error) {
	handle, err := t.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID:   workflows.HarvestID(harvest),
		UpdateName:   workflows.UpdateRetryWhat,
		Args:         []any{what},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, &did)
	}
	return did, err
}
