package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
)

// clocksApart bounds the difference between the clocks of Temporal and of the database, and
// the time for which a slice uses the wanted papers that it began with.
const clocksApart = 15 * time.Minute

// findLinks searches the kept links of pages on record for the missing papers. Its first call
// searches all pages, the next ones those read since, by crawls that began before these
// papers were wanted.
func (h *harvestRun) findLinks(ctx workflow.Context) error {
	if h.p.Harvest.Goal.Site != "" {
		return nil // it has no list of papers
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

// reopenLinks takes links of the harvest's sites that crawls under other options did not take.
func (h *harvestRun) reopenLinks(ctx workflow.Context) error {
	search := activities.LinkSearch{Harvest: h.p.Harvest.ID, Counted: h.s.Links}
	ctx = long(ctx, activities.QueueCrawl, "links left by other options")
	return workflow.ExecuteActivity(ctx, crawler.ReopenLinks, search).Get(ctx, &h.s.Links)
}
