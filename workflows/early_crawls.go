package workflows

import (
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
)

// earlyCrawls begins crawls of sites that are found while a search for homepages goes
// on: nearly all of its time is the search engine's pace. They are in the harvest's
// window, and go on when the search ends: the harvest looks which ended. What is not
// begun by then, and what leads off these sites, is left to the waves.
type earlyCrawls struct {
	harvest  activities.Harvest
	crawling []string          // begun, and not known to have ended
	paused   bool              // at the last look
	starting bool              // a crawl is being begun
	over     bool              // no more are to be
	full     workflow.Settable // set when the run is to be continued as new
	wake     workflow.ReceiveChannel
}

// How long it is between two looks for sites that were found: most come soon.
const (
	firstLook = 10 * time.Second
	lastLook  = time.Minute
)

func (e *earlyCrawls) run(ctx workflow.Context) {
	for wait := firstLook; ; wait = min(2*wait, lastLook) {
		more, err := e.look(ctx)
		if err != nil && ctx.Err() == nil {
			workflow.GetLogger(ctx).Warn("sites are not crawled before the search for homepages is over", "error", err)
		}
		if err != nil || !more {
			return
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			e.full.Set(nil, nil) // no batch may end for days
			return
		}
		next := wait
		if e.paused {
			next = pausedLook
		}
		if _, err := waitFor(ctx, "look for sites that were found", workflow.AwaitOptions{Timeout: next}, func() bool { return e.wake.Len() > 0 }); err != nil {
			return
		}
		if drain(e.wake) {
			wakeSites(ctx, e.crawling)
		}
	}
}

// look begins crawls of sites that were found since, as far as the window allows, and
// reports whether there may be more.
func (e *earlyCrawls) look(ctx workflow.Context) (more bool, err error) {
	window := windowOf(e.harvest)
	if len(e.crawling) >= window {
		var ended []string
		if err := workflow.ExecuteActivity(quick(ctx, "which crawls ended"), stages.Ended, e.crawling).Get(ctx, &ended); err != nil {
			return false, err
		}
		e.crawling = slices.DeleteFunc(e.crawling, func(host string) bool { return slices.Contains(ended, host) })
	}
	var found activities.Sites
	in := activities.Batch{Harvest: e.harvest, Without: slices.Clone(e.crawling), Limit: max(0, window-len(e.crawling))} // 0: is it paused
	if err := workflow.ExecuteActivity(quick(ctx, "sites that were found"), stages.SitesFound, in).Get(ctx, &found); err != nil {
		return false, err
	}
	e.paused = found.Paused
	for _, host := range found.Hosts {
		if e.over || ctx.Err() != nil {
			return false, ctx.Err()
		}
		e.crawling, e.starting = append(e.crawling, host), true
		_, err := startSite(ctx, host, e.harvest.Venue, sitePatience)
		if e.starting = false; err != nil {
			return false, err
		}
	}
	return found.More, nil
}

// end lets no more crawls begin, and waits for the one that is being begun: a child is not
// started whose parent ends first, and the harvest would wait for it.
func (e *earlyCrawls) end(ctx workflow.Context) {
	e.over = true
	own, _ := workflow.NewDisconnectedContext(ctx)
	_ = workflow.Await(own, func() bool { return !e.starting })
}

// leave wakes the crawls that go on when the search fails: they may rest since the harvest
// is paused. A cancelled search lists them in its error instead: they look for whom they
// crawl, and the harvest is not yet recorded as cancelled.
func (e *earlyCrawls) leave(ctx workflow.Context, err error) error {
	if temporal.IsCanceledError(err) || ctx.Err() != nil {
		return temporal.NewCanceledError(e.crawling)
	}
	wakeSites(ctx, e.crawling)
	return err
}

// crawlsOf are the crawls that a cancelled search left.
func crawlsOf(err error) (hosts []string) {
	if cancelled, ok := errors.AsType[*temporal.CanceledError](err); ok && cancelled.HasDetails() {
		_ = cancelled.Details(&hosts)
	}
	return hosts
}
