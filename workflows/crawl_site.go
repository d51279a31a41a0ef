package workflows

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// SiteParams starts or continues the crawl of one site.
type SiteParams struct {
	Host string `json:"host"`
	// Patience is the longest wait for a host that is not available. A longer one ends the
	// crawl, and a later crawl continues. 0 is five minutes.
	Patience time.Duration  `json:"patience,omitempty"`
	Total    crawl.Progress `json:"total"`           // of the runs before
	Crawl    int            `json:"crawl,omitempty"` // its number, from its slices; 0 if its end is on record
	Trouble  Trouble        `json:"trouble,omitzero"`
	Venues   []string       `json:"venues,omitempty"` // that are shown
}

// SignalWake wakes a crawl: it was resumed, retried, or has new URLs.
const SignalWake = "wake"

// pausedLook is the time between two looks at a paused harvest. A resume signals the crawls,
// so the looks are only for lost signals.
const pausedLook = 24 * time.Hour

// QueryProgress returns the progress of a crawl.
const QueryProgress = "progress"

// CrawlSite crawls one host in slices until nothing waits there, and signals the harvests that
// want it. The host is the workflow id, so there is one crawl at a time.
func CrawlSite(ctx workflow.Context, p SiteParams) (activities.SiteEnd, error) {
	if p.Patience == 0 {
		p.Patience = sitePatience
	}
	c := &siteRun{p: p, wake: signals(ctx, SignalWake)}
	if err := query(ctx, QueryProgress, func() (crawl.Progress, error) { return c.p.Total, nil }); err != nil {
		return activities.SiteEnd{}, err
	}
	for {
		end, err := c.crawl(ctx)
		if err != nil {
			return end, err
		}
		watchers, err := c.endSite(ctx, end)
		if err != nil {
			return end, err
		}
		// A workflow that woke it while its end was recorded counts it as running, and
		// must get no signal before the real end.
		woken := drain(c.wake)
		if !woken || ctx.Err() != nil {
			if err := notifyHarvests(ctx, watchers, end); err != nil {
				return end, err
			}
			woken = drain(c.wake) || woken
		}
		if !woken || ctx.Err() != nil {
			return end, nil
		}
	}
}

type siteRun struct {
	p    SiteParams
	wake workflow.ReceiveChannel
	last activities.Slice // zero if it failed
}

// crawl runs slices until the crawl's end, or until the run is full.
func (c *siteRun) crawl(ctx workflow.Context) (activities.SiteEnd, error) {
	for {
		if runIsFull(ctx) {
			return activities.SiteEnd{}, workflow.NewContinueAsNewError(ctx, CrawlSite, c.p)
		}
		s, err := c.slice(ctx)
		c.last = s
		c.p.Crawl = cmp.Or(s.Crawl, c.p.Crawl)
		var next step
		if err != nil {
			next = c.afterFailure(ctx, err)
		} else {
			next = afterSlice(s, c.p.Patience)
		}
		if drain(c.wake) && next.state != gleaner.SiteTrap && ctx.Err() == nil {
			if s.Ended {
				c.p.Crawl = 0 // its end is on record
			}
			next = step{} // there may be new URLs, a resume or a retry since the slice ended
		}
		workflow.SetCurrentDetails(ctx, siteDetails(c.p, next))
		if next.state != "" {
			return activities.SiteEnd{Host: c.p.Host, State: next.state, Reason: next.reason, Crawl: c.p.Crawl}, nil
		}
		if next.wait > 0 {
			if woken, _ := waitFor(ctx, "before the next slice: "+next.reason, workflow.AwaitOptions{Timeout: next.wait}, func() bool { return c.wake.Len() > 0 }); woken {
				c.wake.ReceiveAsync(nil)
			}
		}
	}
}

// wakeSites wakes the crawls of hosts. Some may have ended.
func wakeSites(ctx workflow.Context, hosts []string) {
	for _, host := range slices.Clone(hosts) {
		_ = workflow.SignalExternalWorkflow(ctx, SiteID(host), "", SignalWake, nil).Get(ctx, nil)
	}
}

// drain receives the pending signals, and reports whether there were any.
func drain(signals workflow.ReceiveChannel) (some bool) {
	for signals.ReceiveAsync(nil) {
		some = true
	}
	return some
}

// step is the next step after a slice: another slice, at once or after a wait, or the crawl's
// end in a state.
type step struct {
	wait   time.Duration
	state  gleaner.SiteState
	reason string
}

func afterSlice(s activities.Slice, patience time.Duration) step {
	next := step{reason: s.Reason}
	switch s.Ending {
	case crawl.SliceFull:
	case crawl.Exhausted:
		next.state = gleaner.SiteDone
	case crawl.Paused:
		next.wait = pausedLook
	case crawl.Refused:
		next.state = gleaner.SiteRefused
	case crawl.Trap:
		next.state = gleaner.SiteTrap
	default:
		if next.state = gleaner.SiteStopped; s.Ending == crawl.Waiting && s.Wait <= patience {
			next.state, next.wait = "", max(s.Wait, time.Second)
		}
	}
	return next
}

// endSite judges the remaining documents, records the end, and returns the harvests that wait
// for it, also for a cancelled crawl. If all documents are judged, it does not wait for the
// queue of documents.
func (c *siteRun) endSite(ctx workflow.Context, end activities.SiteEnd) (watchers []string, err error) {
	defer func() { c.p.Crawl = 0 }()
	if c.last.Ended {
		return c.last.Watchers, nil
	}
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	if !c.last.Examined {
		o := on(ctx, activities.QueueDocuments, "documents of "+end.Host, time.Hour)
		if _, _, err := judge(o, never, documents.FilterDocuments, end.Host); err != nil {
			return nil, err
		}
	}
	err = workflow.ExecuteActivity(long(ctx, activities.QueueHarvest, end.Host+": "+string(end.State)), stages.EndSite, end).Get(ctx, &watchers)
	return watchers, err
}

// notifyHarvests signals harvests that a crawl has ended.
func notifyHarvests(ctx workflow.Context, watchers []string, end activities.SiteEnd) error {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	if ids := each.Of(watchers, HarvestID); len(ids) > 0 {
		// A local activity takes one event of the history, and does not wait in a queue.
		o := workflow.LocalActivityOptions{ScheduleToCloseTimeout: time.Minute, Summary: summary("tell of the end")}
		ctx := workflow.WithLocalActivityOptions(ctx, o)
		_ = workflow.ExecuteLocalActivity(ctx, stages.TellEnd, ids, end).Get(ctx, nil) // harvests without the signal read the record
	}
	return workflow.UpsertTypedSearchAttributes(ctx, attrStage.ValueSet(string(end.State)), attrOutcome.ValueSet(string(end.State)))
}

func siteDetails(p SiteParams, next step) string {
	t := p.Total
	d := fmt.Sprintf("### %s\n\n| pages | documents | accepted | wanted found | failed | MB |\n|--:|--:|--:|--:|--:|--:|\n| %d | %d | %d | %d | %d | %.1f |\n",
		p.Host, t.Pages, t.Documents, t.Accepted, t.Found, t.Failed, float64(t.Bytes)/1e6)
	switch {
	case next.state != "":
		d += fmt.Sprintf("\n**%s** %s\n", next.state, next.reason)
	case p.Trouble.Attempt > 0:
		d += fmt.Sprintf("\n**failing** %s\n", p.Trouble)
	case next.wait > 0:
		d += fmt.Sprintf("\nwaiting %s: %s\n", next.wait.Round(time.Second), next.reason)
	}
	return d
}
