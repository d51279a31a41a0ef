package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/gleaner"
)

// RecrawlParams starts or continues a recrawl.
type RecrawlParams struct {
	Due    activities.Due `json:"due"`
	Window int            `json:"window,omitempty"` // sites at a time; 0 is 50
	State  RecrawlState   `json:"state"`            // of the runs before

	Whitelist *activities.Whitelist `json:"whitelist,omitempty"` // seeds the frontier first; nil for none
}

// RecrawlState is passed from a run to the next, and returned by QueryStatus.
type RecrawlState struct {
	Seeded  bool                      `json:"seeded,omitempty"`  // the whitelist is in the frontier
	Listed  bool                      `json:"listed,omitempty"`  // every due site was listed
	Next    []string                  `json:"next,omitempty"`    // hosts that were put back and not started
	Pending []string                  `json:"pending,omitempty"` // hosts whose crawl has not ended
	Started int                       `json:"started"`
	Ended   map[gleaner.SiteState]int `json:"ended"` // sites by the state in which their crawl ended
}

// RecrawlResult counts the sites of a recrawl. The record has what the crawls found.
type RecrawlResult struct {
	Sites int                       `json:"sites"`
	Ended map[gleaner.SiteState]int `json:"ended"`
}

// RecrawlID is the workflow id of a recrawl: of a venue's sites, or of all that
// are due.
func RecrawlID(venue string) string {
	if venue == "" {
		return "recrawl/due"
	}
	return "recrawl/" + venue
}

// RecrawlDue crawls the sites that are due, as many at a time as the window allows. It ends
// when all have ended; a schedule starts the next recrawl.
func RecrawlDue(ctx workflow.Context, p RecrawlParams) (RecrawlResult, error) {
	r := &recrawlRun{p: p, s: p.State}
	if r.s.Ended == nil {
		r.s.Ended = map[gleaner.SiteState]int{}
	}
	if r.p.Due.Before.IsZero() {
		r.p.Due.Before = workflow.Now(ctx)
	}
	if err := query(ctx, QueryStatus, func() (RecrawlState, error) { return r.s, nil }); err != nil {
		return RecrawlResult{}, err
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, attrVenue.ValueSet(attribute(p.Due.Of.Venue)), attrVenues.ValueSet(venuesOf(p.Due.Of.Venue)), attrStage.ValueSet("recrawling")); err != nil {
		return RecrawlResult{}, err
	}
	if err := r.run(ctx); err != nil {
		if !workflow.IsContinueAsNewError(err) && ctx.Err() != nil {
			err = ctx.Err() // as in HarvestVenue
			r.endSites(ctx)
		}
		return RecrawlResult{}, err
	}
	return RecrawlResult{Sites: r.s.Started, Ended: r.s.Ended}, workflow.UpsertTypedSearchAttributes(ctx, attrStage.ValueSet(string(gleaner.StageComplete)), attrOutcome.ValueSet(string(gleaner.StageComplete)))
}

type recrawlRun struct {
	p    RecrawlParams
	s    RecrawlState
	look look
}

func (r *recrawlRun) run(ctx workflow.Context) error {
	window := windowOf(r.p.Window)
	for {
		var err error
		switch {
		case ctx.Err() != nil: // no further host is crawled
			return ctx.Err()
		case r.p.Whitelist != nil && !r.s.Seeded:
			err = workflow.ExecuteActivity(long(ctx, activities.QueueHarvest, "the whitelist's pages"), recrawls.SeedWhitelist, *r.p.Whitelist).Get(ctx, nil)
			r.s.Seeded = true
		case len(r.s.Next) == 0 && !r.s.Listed:
			err = r.list(ctx)
		case len(r.s.Next) > 0 && len(r.s.Pending) < window:
			err = r.start(ctx, r.s.Next[0])
			r.s.Next = r.s.Next[1:]
		case len(r.s.Next) == 0 && len(r.s.Pending) == 0:
			return nil
		default:
			err = r.wait(ctx)
		}
		if err != nil {
			return err
		}
		// After a step, so that every run makes progress.
		if runIsFull(ctx) {
			r.p.State = r.s
			return workflow.NewContinueAsNewError(ctx, RecrawlDue, r.p)
		}
	}
}

// list lists the next due sites, and then puts their due URLs back. A second attempt at that
// has the same list, though the sites are no longer due.
func (r *recrawlRun) list(ctx workflow.Context) error {
	d := r.p.Due
	d.Limit = hostsPerBatch
	var batch activities.Sites
	if err := workflow.ExecuteActivity(long(ctx, activities.QueueHarvest, "due sites after "+d.After), recrawls.ListDue, d).Get(ctx, &batch); err != nil {
		return err
	}
	r.s.Next = batch.Hosts
	if len(batch.Hosts) > 0 {
		back := activities.PutBack{Due: d, Hosts: batch.Hosts}
		if err := workflow.ExecuteActivity(long(ctx, activities.QueueHarvest, "what is due there"), recrawls.PutBack, back).Get(ctx, &r.s.Next); err != nil {
			return err
		}
	}
	r.s.Listed, r.p.Due.After = !batch.More, batch.Last
	return nil
}

// start begins a site's crawl and waits for its end as a child. wait checks crawls that others
// started.
func (r *recrawlRun) start(ctx workflow.Context, host string) error {
	f, err := startSite(ctx, host, r.p.Due.Of.Venue, 5*time.Minute)
	if err != nil {
		return err
	}
	r.s.Started++
	r.look = 0
	r.s.Pending = append(r.s.Pending, host)
	if f == nil {
		return nil
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		end := activities.SiteEnd{Host: host}
		if err := f.Get(ctx, &end); err != nil {
			end.State = gleaner.SiteState(crawl.Cancelled)
		}
		r.ended(ctx, host, end.State)
	})
	return nil
}

func (r *recrawlRun) ended(ctx workflow.Context, host string, state gleaner.SiteState) {
	i := slices.Index(r.s.Pending, host)
	if i < 0 {
		return
	}
	r.s.Pending = slices.Delete(r.s.Pending, i, i+1)
	r.s.Ended[state]++
	r.look = 0
	workflow.SetCurrentDetails(ctx, r.details())
}

// wait waits until a site ends, or after a while reads from the record which did.
func (r *recrawlRun) wait(ctx workflow.Context) error {
	n := len(r.s.Pending)
	ended, err := r.look.wait(ctx, func() bool { return len(r.s.Pending) < n })
	if err != nil || ended {
		return err
	}
	var gone []string
	if err := workflow.ExecuteActivity(quick(ctx, "which crawls ended"), stages.Ended, r.s.Pending).Get(ctx, &gone); err != nil {
		return err
	}
	for _, host := range gone {
		r.ended(ctx, host, gleaner.SiteDone)
	}
	return nil
}

// endSites ends the running crawls of a cancelled recrawl that nobody else wants. Their
// results are kept; the remaining URLs wait for the next recrawl.
func (r *recrawlRun) endSites(ctx workflow.Context) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	_ = workflow.UpsertTypedSearchAttributes(ctx, attrStage.ValueSet(string(gleaner.StageCancelled)), attrOutcome.ValueSet(string(gleaner.StageCancelled)))
	left := slices.Concat(r.s.Pending, r.s.Next)
	if err := workflow.ExecuteActivity(quick(ctx, "leave the sites"), recrawls.Leave, left).Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Warn("the crawls of a cancelled recrawl go on", "error", err)
	}
	wakeSites(ctx, r.s.Pending)
}

func (r *recrawlRun) details() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### recrawl\n\n| started | under way |\n|--:|--:|\n| %d | %d |\n\n", r.s.Started, len(r.s.Pending))
	for _, state := range []gleaner.SiteState{gleaner.SiteDone, gleaner.SiteRefused, gleaner.SiteStopped, gleaner.SiteTrap, gleaner.SiteState(crawl.Cancelled)} {
		if n := r.s.Ended[state]; n > 0 {
			fmt.Fprintf(&b, "- %s: %d\n", state, n)
		}
	}
	return b.String()
}
