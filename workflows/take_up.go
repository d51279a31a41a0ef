package workflows

import (
	"strings"

	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/gleaner"
)

// takeUp lets a harvest that would report ask once more for what had not answered
// in any stage: an outage that has ended must cost no paper. It reports whether
// there was anything.
func (h *harvestRun) takeUp(ctx workflow.Context) (bool, error) {
	if h.s.Again != "" {
		return false, nil
	}
	var q activities.Questions
	if err := workflow.ExecuteActivity(quick(ctx, "what did not answer"), stages.AskAgain, h.p.Harvest.ID).Get(ctx, &q); err != nil {
		return false, err
	}
	if !q.Any() {
		return false, nil
	}
	h.s.Again = firstOpen(q)
	h.goTo(h.s.Again)
	return true, nil
}

// takeUpRetry begins with the stage whose questions a person wants asked again.
func (h *harvestRun) takeUpRetry(ctx workflow.Context, what activities.Retry) error {
	var q activities.Questions
	if err := workflow.ExecuteActivity(quick(ctx, "what did not answer"), stages.StillOpen, h.p.Harvest.ID).Get(ctx, &q); err != nil {
		return err
	}
	if what.Host != "" || what.Reason != "" && !strings.HasPrefix(what.Reason, activities.ReasonUnanswered) { // these are of sites
		q.Papers, q.Copies = 0, 0
	}
	h.s.Again = h.s.Stage
	if q.Any() {
		h.s.Again = firstOpen(q)
		h.goTo(h.s.Again)
	}
	return nil
}

func firstOpen(q activities.Questions) gleaner.Stage {
	switch {
	case q.Papers > 0:
		return gleaner.StagePapers
	case q.Copies > 0:
		return gleaner.StageCopies
	}
	return gleaner.StageHomepages
}
