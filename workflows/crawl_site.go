package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl"
)

// SiteParams starts or continues the crawl of one site.
type SiteParams struct {
	Host string `json:"host"`
	// Patience is how long the crawl waits, at a time, for a host that cannot be
	// asked now; a longer wait ends it, to be taken up by a later run. 0 is
	// five minutes.
	Patience time.Duration  `json:"patience,omitempty"`
	Total    crawl.Progress `json:"total"` // of the runs before
}

// Signals of a site.
const (
	SignalWake = "wake" // look again: it was resumed, retried, or given new URLs
)

// slicesPerRun bounds the history of one run of CrawlSite.
const slicesPerRun = 200

// CrawlSite crawls one host in slices until nothing waits there, and tells the
// harvests that want it. The host is the workflow id, so there is one at a time.
func CrawlSite(ctx workflow.Context, p SiteParams) (activities.SiteEnd, error) {
	if err := workflow.UpsertTypedSearchAttributes(ctx, attrHost.ValueSet(p.Host), attrStage.ValueSet("crawling")); err != nil {
		return activities.SiteEnd{}, err
	}
	if p.Patience == 0 {
		p.Patience = 5 * time.Minute
	}
	total := p.Total
	if err := workflow.SetQueryHandler(ctx, "progress", func() (crawl.Progress, error) { return total, nil }); err != nil {
		return activities.SiteEnd{}, err
	}
	wake := workflow.GetSignalChannel(ctx, SignalWake)
	for n := 0; ; n++ {
		if n == slicesPerRun || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			p.Total = total
			return activities.SiteEnd{}, workflow.NewContinueAsNewError(ctx, CrawlSite, p)
		}
		var s activities.Slice
		err := workflow.ExecuteActivity(on(ctx, activities.QueueCrawl, p.Host, 30*time.Minute), crawler.CrawlSlice, p.Host).Get(ctx, &s)
		if err != nil {
			return endSite(ctx, activities.SiteEnd{Host: p.Host, State: "stopped", Reason: reasonOf(err)})
		}
		total = sum(total, s.Progress)
		next := afterSlice(s, p.Patience)
		if woken := drain(wake); woken && next.state == "done" {
			next = step{} // URLs may have come after it looked
		}
		workflow.SetCurrentDetails(ctx, siteDetails(p.Host, total, s, next))
		if next.state != "" {
			end, err := endSite(ctx, activities.SiteEnd{Host: p.Host, State: next.state, Reason: s.Reason})
			drain(wake) // what comes this late is listed again by the next wave
			return end, err
		}
		if next.wait > 0 {
			wake.ReceiveWithTimeout(ctx, next.wait, nil)
		}
	}
}

// drain takes the signals that have come, and reports whether there were any.
func drain(signals workflow.ReceiveChannel) (some bool) {
	for signals.ReceiveAsync(nil) {
		some = true
	}
	return some
}

// step is what follows a slice: another one, at once or after a wait, or the
// crawl's end in a state.
type step struct {
	wait  time.Duration
	state string
}

func afterSlice(s activities.Slice, patience time.Duration) step {
	switch s.Ending {
	case crawl.SliceFull:
		return step{}
	case crawl.Exhausted:
		return step{state: "done"}
	case crawl.Paused:
		return step{wait: 30 * time.Second}
	case crawl.Waiting:
		if s.Wait <= patience {
			return step{wait: max(s.Wait, time.Second)}
		}
		return step{state: "stopped"}
	case crawl.Refused:
		return step{state: "refused"}
	case crawl.Trap:
		return step{state: "trap"}
	}
	return step{state: "stopped"}
}

// endSite examines what was not, records the end, and tells who waits. It does
// so for a cancelled crawl, too.
func endSite(ctx workflow.Context, end activities.SiteEnd) (activities.SiteEnd, error) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	var n int
	err := workflow.ExecuteActivity(on(ctx, activities.QueueDocuments, "documents of "+end.Host, time.Hour), documents.FilterDocuments, end.Host).Get(ctx, &n)
	if err != nil {
		return end, err
	}
	var watchers []string
	if err := workflow.ExecuteActivity(quick(ctx, end.Host+": "+end.State), stages.EndSite, end).Get(ctx, &watchers); err != nil {
		return end, err
	}
	for _, h := range watchers {
		// A harvest that is over has no ear; that is no failure.
		_ = workflow.SignalExternalWorkflow(ctx, HarvestID(h), "", SignalSiteEnded, end).Get(ctx, nil)
	}
	return end, workflow.UpsertTypedSearchAttributes(ctx, attrStage.ValueSet(end.State))
}

func reasonOf(err error) string {
	if temporal.IsCanceledError(err) {
		return "cancelled"
	}
	return err.Error()
}

func sum(a, b crawl.Progress) crawl.Progress {
	return crawl.Progress{Requests: a.Requests + b.Requests, Pages: a.Pages + b.Pages, Documents: a.Documents + b.Documents, Accepted: a.Accepted + b.Accepted,
		Found: a.Found + b.Found, Failed: a.Failed + b.Failed, Bytes: a.Bytes + b.Bytes, URL: b.URL}
}

func siteDetails(host string, t crawl.Progress, s activities.Slice, next step) string {
	d := fmt.Sprintf("### %s\n\n| pages | documents | accepted | wanted found | failed | MB |\n|--:|--:|--:|--:|--:|--:|\n| %d | %d | %d | %d | %d | %.1f |\n",
		host, t.Pages, t.Documents, t.Accepted, t.Found, t.Failed, float64(t.Bytes)/1e6)
	switch {
	case next.state != "":
		d += fmt.Sprintf("\n**%s** %s\n", next.state, s.Reason)
	case next.wait > 0:
		d += fmt.Sprintf("\nwaiting %s: %s\n", next.wait.Round(time.Second), s.Reason)
	}
	return d
}
