package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
)

// clocksApart bounds how far the clocks of Temporal and of the database differ, and how
// long a slice may go on with the wanted papers that it began with.
const clocksApart = 15 * time.Minute

// findLinks looks for the missing papers among the links of pages on record: of all
// pages first, then of those read since by crawls that began before these papers were
// wanted.
func (h *harvestRun) findLinks(ctx workflow.Context) error {
	if h.p.Harvest.Goal.Site != "" {
		return nil // it wants no papers by name
	}
	since, now := h.s.LinksAsOf, workflow.Now(ctx).Add(-clocksApart)
	search := activities.LinkSearch{Harvest: h.p.Harvest.ID, Since: since, Counted: h.s.Links}
	ctx = long(ctx, activities.QueueCrawl, "links on record")
	if err := workflow.ExecuteActivity(ctx, crawler.FindLinks, search).Get(ctx, &h.s.Links); err != nil {
		return err
	}
	h.s.LinksAsOf = now
	return nil
}

// reopenLinks takes what crawls of the harvest's sites under other options left.
func (h *harvestRun) reopenLinks(ctx workflow.Context) error {
	search := activities.LinkSearch{Harvest: h.p.Harvest.ID, Counted: h.s.Links}
	ctx = long(ctx, activities.QueueCrawl, "links left by other options")
	return workflow.ExecuteActivity(ctx, crawler.ReopenLinks, search).Get(ctx, &h.s.Links)
}
