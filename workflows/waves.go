package workflows

import (
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
)

const (
	defaultWindow = 50
	hostsPerBatch = 50
	// lookAround is after how long without a word from any site the record is
	// asked which crawls ended: a word can be lost where a crawl that another
	// harvest started ended while this one was joining it.
	lookAround = 30 * time.Second
)

// waves crawls the sites that something waits on; what leads off them to other
// hosts is the next wave's, up to limit waves.
func (h *harvestRun) waves(ctx workflow.Context, limit int) error {
	for h.s.Wave < limit {
		started := h.s.Sites + len(h.s.Pending)
		if err := h.wave(ctx); err != nil {
			return err
		}
		h.s.Wave, h.s.After, h.s.Listed = h.s.Wave+1, "", false
		if h.s.Sites == started {
			return nil // nothing was waiting
		}
	}
	return nil
}

// wave starts a crawl for each host, as many at a time as the window allows, and
// waits for all. The history stays short: the run is continued with the crawls
// still pending, which go on meanwhile.
func (h *harvestRun) wave(ctx workflow.Context) error {
	var next []string
	for {
		h.drain()
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return h.again(ctx, next)
		}
		if err := workflow.Await(ctx, func() bool { return !h.s.Paused }); err != nil {
			return err
		}
		if len(next) == 0 && !h.s.Listed {
			if err := h.list(ctx, &next); err != nil {
				return err
			}
		}
		if len(next) > 0 && len(h.s.Pending) < h.window() {
			if err := h.start(ctx, next[0]); err != nil {
				return err
			}
			next = next[1:]
			continue
		}
		if len(next) == 0 && h.s.Listed && len(h.s.Pending) == 0 {
			return nil
		}
		if err := h.hear(ctx); err != nil {
			return err
		}
	}
}

func (h *harvestRun) window() int {
	if w := h.p.Harvest.Options.Window; w > 0 {
		return w
	}
	return defaultWindow
}

func (h *harvestRun) list(ctx workflow.Context, next *[]string) error {
	var batch activities.Sites
	err := workflow.ExecuteActivity(quick(ctx, "sites to crawl"), stages.SitesToCrawl,
		activities.Batch{Harvest: h.p.Harvest, After: h.s.After, Limit: hostsPerBatch}).Get(ctx, &batch)
	if err != nil {
		return err
	}
	*next, h.s.Listed = batch.Hosts, !batch.More
	if batch.Last != "" {
		h.s.After = batch.Last
	}
	return nil
}

// start begins the crawl of a host, or joins the one that is under way.
func (h *harvestRun) start(ctx workflow.Context, host string) error {
	if _, err := startSite(ctx, host, h.patience()); err != nil {
		return err
	}
	h.s.Pending = append(h.s.Pending, host)
	return h.refresh(ctx)
}

// startSite begins the crawl of a host as a child that outlives its parent, or
// wakes the crawl that is under way; then the future is nil.
func startSite(ctx workflow.Context, host string, patience time.Duration) (workflow.ChildWorkflowFuture, error) {
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            SiteID(host),
		TaskQueue:             activities.QueueHarvest,
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary:         host,
	})
	f := workflow.ExecuteChildWorkflow(child, CrawlSite, SiteParams{Host: host, Patience: patience})
	err := f.GetChildWorkflowExecution().Get(ctx, nil)
	if err == nil {
		return f, nil
	}
	if !temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return nil, err
	}
	_ = workflow.SignalExternalWorkflow(ctx, SiteID(host), "", SignalWake, nil).Get(ctx, nil)
	return nil, nil
}

// patience is short for open copies: a host that is out for long must not hold
// up the search for homepages.
func (h *harvestRun) patience() time.Duration {
	if h.s.Stage == StageCopies {
		return time.Minute
	}
	return 5 * time.Minute
}

// hear waits for a site to end, or after a while asks the record which did.
func (h *harvestRun) hear(ctx workflow.Context) error {
	var end activities.SiteEnd
	ok, _ := h.ended.ReceiveWithTimeout(ctx, lookAround, &end)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if ok {
		h.siteEnded(end.Host)
		return h.refresh(ctx)
	}
	var gone []string
	if err := workflow.ExecuteActivity(quick(ctx, "which crawls ended"), stages.Ended, h.s.Pending).Get(ctx, &gone); err != nil {
		return err
	}
	for _, host := range gone {
		h.siteEnded(host)
	}
	return h.refresh(ctx)
}

// drain takes what signals have come, so that none is lost when the run is
// continued.
func (h *harvestRun) drain() {
	var end activities.SiteEnd
	for h.ended.ReceiveAsync(&end) {
		h.siteEnded(end.Host)
	}
}

func (h *harvestRun) siteEnded(host string) {
	if i := slices.Index(h.s.Pending, host); i >= 0 {
		h.s.Pending = slices.Delete(h.s.Pending, i, i+1)
		h.s.Sites++
	}
}

// again continues as new. Hosts that were listed and not started are listed
// again: the list goes on after the last one started.
func (h *harvestRun) again(ctx workflow.Context, next []string) error {
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	if len(next) > 0 {
		h.s.After, h.s.Listed = before(next[0]), false
	}
	h.p.State = h.s
	return workflow.NewContinueAsNewError(ctx, HarvestVenue, h.p)
}

// before is a string just below a host in the order of the list.
func before(host string) string {
	last := len(host) - 1
	return host[:last] + string(host[last]-1) + "\x7f"
}
