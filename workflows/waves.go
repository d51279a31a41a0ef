package workflows

import (
	"cmp"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// DefaultWindow is how many sites are crawled at a time by default.
const DefaultWindow = 50

const (
	hostsPerBatch = 50
	// lookAround is the time without a signal from any site after which the harvest reads
	// from the record which crawls ended. A signal can be lost if a crawl ends while the
	// harvest joins it. The time doubles up to rarestLook while no crawl ends or begins.
	lookAround = 30 * time.Second
	rarestLook = 10 * time.Minute
)

// waves crawls the sites with waiting URLs. Their leads to other hosts are the next wave, up
// to limit waves.
func (h *harvestRun) waves(ctx workflow.Context, limit int) error {
	for h.s.Wave < limit {
		if h.s.Wave > 0 { // before the first wave an earlier stage has just searched them
			if err := h.findLinks(ctx); err != nil {
				return err
			}
		}
		if err := h.wave(ctx); err != nil {
			return err
		}
		nothing := h.s.Started == 0
		h.s.Wave, h.s.After, h.s.Listed, h.s.Started = h.s.Wave+1, "", false, 0
		if nothing {
			return nil
		}
	}
	return nil
}

// wave starts a crawl for each host, as many at a time as the window allows, and waits for
// all. To keep the history short, it continues as new with the pending crawls, which keep
// running.
func (h *harvestRun) wave(ctx workflow.Context) error {
	for {
		h.drain()
		if err := workflow.Await(ctx, func() bool { return !h.s.Paused || ctx.Err() != nil }); err != nil {
			return err
		}
		var err error
		switch {
		case ctx.Err() != nil: // no further host is crawled
			return ctx.Err()
		case h.s.Unheard && len(h.s.Pending) > 0: // before a list marks ended sites as waiting for a crawl
			err = h.lookEnded(ctx)
		case len(h.s.Next) == 0 && !h.s.Listed:
			err = h.list(ctx)
		case len(h.s.Next) > 0 && (h.hasRoom() || slices.Contains(h.s.Pending, h.s.Next[0])):
			err = h.start(ctx)
		case len(h.s.Next) == 0 && len(h.s.Pending) == 0:
			return nil
		default:
			err = h.awaitSite(ctx)
		}
		if err != nil {
			return err
		}
		// After a step, so that every run makes progress.
		if runIsFull(ctx) {
			return h.again(ctx)
		}
	}
}

func windowOf(sites int) int {
	if sites > 0 {
		return sites
	}
	return DefaultWindow
}

// list reads the next hosts of the wave. It begins anew if a retry put URLs back meanwhile,
// since their hosts may come before.
func (h *harvestRun) list(ctx workflow.Context) error {
	if h.s.After == "" {
		h.s.Retried = false // this list has the URLs that were put back
	}
	retries := h.retries
	var batch activities.Sites
	err := workflow.ExecuteActivity(quick(ctx, "sites to crawl"), stages.SitesToCrawl,
		activities.Batch{Harvest: h.p.Harvest, After: h.s.After, Limit: hostsPerBatch}).Get(ctx, &batch)
	if err != nil {
		return err
	}
	// Pending crawls may have ended unheard: they come first, whatever the window.
	pending := func(host string) bool { return slices.Contains(h.s.Pending, host) }
	h.s.Next = append(each.Where(batch.Hosts, pending), slices.DeleteFunc(batch.Hosts, pending)...)
	if h.retries != retries {
		return nil
	}
	h.s.Listed = !batch.More
	if batch.Last != "" {
		h.s.After = batch.Last
	}
	return nil
}

// startsAtOnce bounds the crawls begun in one step, each of which takes three events and an
// answer of the server.
const startsAtOnce = 10

func (h *harvestRun) hasRoom() bool { return len(h.s.Pending) < windowOf(h.p.Harvest.Options.Window) }

// start begins the crawls of the next hosts, or joins those that are under way. A crawl that
// was pending is begun again where it ended without a signal, and a retry put URLs back.
func (h *harvestRun) start(ctx workflow.Context) (err error) {
	began := workflow.NewWaitGroup(ctx)
	n := 0
	for ; n < min(len(h.s.Next), startsAtOnce); n++ {
		host := h.s.Next[n]
		if !slices.Contains(h.s.Pending, host) {
			if !h.hasRoom() {
				break
			}
			h.s.Pending = append(h.s.Pending, host)
			h.s.Started++
		}
		h.look = 0
		began.Go(ctx, func(ctx workflow.Context) {
			_, e := startSite(ctx, host, h.p.Harvest.Venue, h.patience())
			err = cmp.Or(err, e)
		})
	}
	began.Wait(ctx)
	h.s.Next = h.s.Next[n:]
	return cmp.Or(err, h.refresh(ctx))
}

// startTries bounds how often a crawl is started that is running when it is started and has
// ended when it is signalled.
const startTries = 3

// startSite begins the crawl of a host as a child that outlives its parent and its parent's
// cancellation, since other harvests may join it. If the crawl is running, startSite wakes
// it and returns no future. venue is the goal for which it is crawled, "" for several.
func startSite(ctx workflow.Context, host, venue string, patience time.Duration) (workflow.ChildWorkflowFuture, error) {
	own, _ := workflow.NewDisconnectedContext(ctx)
	o := childOf(SiteID(host), DescribeSite(host))
	o.ParentClosePolicy = enumspb.PARENT_CLOSE_POLICY_ABANDON
	o.TypedSearchAttributes = indexed(venue, attrHost.ValueSet(host), attrStage.ValueSet(string(gleaner.SiteCrawling)))
	for try := 1; ; try++ {
		p := SiteParams{Host: host, Patience: patience, Venues: venuesOf(venue)}
		f := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(own, o), CrawlSite, p)
		err := f.GetChildWorkflowExecution().Get(own, nil)
		if err == nil {
			return f, nil
		}
		if !temporal.IsWorkflowExecutionAlreadyStartedError(err) {
			return nil, err
		}
		woken := workflow.SignalExternalWorkflow(own, SiteID(host), "", SignalWake, nil).Get(own, nil)
		if woken == nil || try == startTries {
			return nil, nil
		}
	}
}

// patience is short for open copies: a host that is down for long must not delay the search
// for homepages.
func (h *harvestRun) patience() time.Duration {
	if h.s.Stage == gleaner.StageCopies {
		return time.Minute
	}
	return sitePatience
}

// sitePatience is how long a crawl waits for a host by default.
const sitePatience = 5 * time.Minute

// look is the last wait for the end of a crawl before the record was read. It is reset to 0
// when a crawl ends or begins.
type look time.Duration

// wait waits until a condition holds, or until the record must be read.
func (l *look) wait(ctx workflow.Context, so func() bool) (bool, error) {
	*l = min(max(2**l, look(lookAround)), look(rarestLook))
	while := workflow.AwaitOptions{Timeout: time.Duration(*l)}
	return waitFor(ctx, "look which crawls ended, if none says so", while, so)
}

// awaitSite waits for the end of a site, a retry or a resume. After a while it reads from the record
// which crawls ended.
func (h *harvestRun) awaitSite(ctx workflow.Context) error {
	retries := h.retries
	signalled, err := h.look.wait(ctx, func() bool { return h.ended.Len() > 0 || h.retries != retries || h.s.Unheard })
	if err != nil {
		return err
	}
	if signalled { // wave receives the signal
		return h.refresh(ctx)
	}
	return h.lookEnded(ctx)
}

// lookEnded reads from the record which crawls ended.
func (h *harvestRun) lookEnded(ctx workflow.Context) error {
	h.s.Unheard = false // a resume during the activity sets it again
	var gone []string
	if err := workflow.ExecuteActivity(quick(ctx, "which crawls ended"), stages.Ended, h.s.Pending).Get(ctx, &gone); err != nil {
		return err
	}
	for _, host := range gone {
		h.siteEnded(host)
	}
	return h.refresh(ctx)
}

// drain receives the pending signals, so that none is lost when the run continues as new.
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
		h.look = 0
	}
}

// again continues as new, with the hosts that were listed and not started.
func (h *harvestRun) again(ctx workflow.Context) error {
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	h.drain()
	h.p.State = h.s
	return workflow.NewContinueAsNewError(ctx, HarvestVenue, h.p)
}

// takeUp lets a harvest repeat, once before its report, the unanswered requests of all
// stages: an outage that has ended must cost no paper. It reports whether there were any.
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

// takeUpRetry goes to the first stage with unanswered requests, for a retry.
func (h *harvestRun) takeUpRetry(ctx workflow.Context, what activities.Retry) error {
	var q activities.Questions
	if err := workflow.ExecuteActivity(quick(ctx, "what did not answer"), stages.StillOpen, h.p.Harvest.ID).Get(ctx, &q); err != nil {
		return err
	}
	if what.Host != "" || what.Reason != "" && !strings.HasPrefix(what.Reason, activities.ReasonUnanswered) { // these are of sites
		q.Papers, q.Copies = 0, 0
	}
	if h.s.Stage == FirstStage(h.p.Harvest.Goal) { // which comes to all that follow
		return nil
	}
	if q.Any() {
		h.goTo(firstOpen(q))
	}
	h.s.Again = h.s.Stage
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
