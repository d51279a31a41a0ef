package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/gleaner"
)

// listen sets the handlers of queries and updates, which work also while the harvest waits.
func (h *harvestRun) listen(ctx workflow.Context) error {
	return cmp.Or(
		query(ctx, QueryStatus, func() (HarvestState, error) { return h.s, nil }),
		update(ctx, UpdatePause, func(ctx workflow.Context) error { return h.pause(ctx, true) }),
		update(ctx, UpdateResume, func(ctx workflow.Context) error { return h.pause(ctx, false) }),
		update(ctx, UpdateRetryWhat, h.retryWhat),
	)
}

func (h *harvestRun) pause(ctx workflow.Context, paused bool) error {
	if err := h.pausing.Lock(ctx); err != nil { // so that record and run agree
		return err
	}
	defer h.pausing.Unlock()
	return h.setPaused(ctx, paused)
}

func (h *harvestRun) setPaused(ctx workflow.Context, paused bool) error {
	if err := workflow.ExecuteActivity(quick(ctx, "pause"), stages.Pause, h.p.Harvest.ID, paused).Get(ctx, nil); err != nil {
		return err
	}
	h.s.Paused = paused
	if !paused {
		h.s.Unheard = true
		h.wakeSites(ctx)
	}
	return h.show(ctx)
}

// retryWhat puts failed URLs back, and makes the wave list its hosts again.
func (h *harvestRun) retryWhat(ctx workflow.Context, what activities.Retry) (activities.Requeued, error) {
	what.Harvest = h.p.Harvest.ID
	did, err := h.requeue(ctx, what)
	if err != nil {
		return did, err
	}
	h.s.After, h.s.Listed, h.s.Retried, h.s.Again = "", false, true, ""
	h.retries++
	h.wakeSites(ctx)
	return did, nil
}

// requeue puts failed URLs back.
func (h *harvestRun) requeue(ctx workflow.Context, what activities.Retry) (did activities.Requeued, err error) {
	err = workflow.ExecuteActivity(long(ctx, activities.QueueHarvest, "put what failed back"), stages.Requeue, what).Get(ctx, &did)
	h.s.Stalled = h.s.Stalled || did.Stalled > 0
	return did, err
}

// judgeStalled judges the documents that a retry took up, before the report: perhaps no crawl
// returns to their sites.
func (h *harvestRun) judgeStalled(ctx workflow.Context) error {
	if !h.s.Stalled {
		return nil
	}
	h.s.Stalled = false // a retry during the activity sets it again
	ctx = long(ctx, activities.QueueDocuments, "documents that had stalled")
	_, _, err := judge(ctx, never, documents.JudgeStalled, h.p.Harvest.ID)
	return err
}

// wakeSites wakes the crawls of the harvest, and its search for homepages, which has crawls of
// its own.
func (h *harvestRun) wakeSites(ctx workflow.Context) {
	if h.s.Stage == gleaner.StageHomepages {
		search := activities.HomepagesID(HarvestID(h.p.Harvest.ID))
		_ = workflow.SignalExternalWorkflow(ctx, search, "", SignalWake, nil).Get(ctx, nil)
	}
	wakeSites(ctx, h.s.Pending)
}

// refresh shows the counts again if the last ones are old. They take a query of the whole
// record, which is too much for each site that begins or ends.
func (h *harvestRun) refresh(ctx workflow.Context) error {
	if workflow.Now(ctx).Sub(h.shown) < showEvery {
		return nil
	}
	return h.show(ctx)
}

const showEvery = time.Minute

// show sets the current details, which the Temporal UI displays.
func (h *harvestRun) show(ctx workflow.Context) error {
	h.shown = workflow.Now(ctx)
	if err := workflow.ExecuteActivity(quick(ctx, "counts"), stages.Counts, h.p.Harvest.ID).Get(ctx, &h.counts); err != nil {
		return err
	}
	workflow.SetCurrentDetails(ctx, harvestDetails(h.p.Harvest, h.s, h.counts))
	return nil
}

func harvestDetails(p activities.Harvest, s HarvestState, c activities.Counts) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s — %s\n\n", p.ID, s.Stage)
	if s.Paused {
		b.WriteString("**paused**\n\n")
	}
	writeCounts(&b, c)
	if len(s.Pending) > 0 {
		fmt.Fprintf(&b, "\ncrawling now: %s\n", strings.Join(s.Pending[:min(len(s.Pending), 10)], ", "))
	}
	return b.String()
}

func writeCounts(b *strings.Builder, c activities.Counts) {
	fmt.Fprintf(b, "| | |\n|--|--:|\n| published | %d |\n| held | %d |\n| wanted | %d |\n| **found** | **%d** |\n", c.Published, c.Held, c.Wanted, c.Found)
	fmt.Fprintf(b, "| homepages | %d of %d authors |\n| sites | %s, %d parked |\n| URLs | %s |\n| documents | %d, %d accepted |\n",
		c.Homepages, c.Authors, c.SiteWords(), c.Parked, c.URLWords(), c.Documents, c.Accepted)
}

// rootCause returns the innermost message of an error, which says what to do.
func rootCause(err error) string {
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return app.Message()
	}
	return err.Error()
}
