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

	Whitelist *activities.Whitelist `json:"whitelist,omitempty"` // to be given to the frontier first; nil for not
}

// RecrawlState is what a run hands to the next, and what QueryStatus tells.
type RecrawlState struct {
	Seeded  bool                      `json:"seeded,omitempty"`  // the whitelist was given to the frontier
	Listed  bool                      `json:"listed,omitempty"`  // every due site was listed
	Next    []string                  `json:"next,omitempty"`    // hosts that were put back and not started
	Pending []string                  `json:"pending,omitempty"` // hosts whose crawl has not ended
	Started int                       `json:"started"`
	Ended   map[gleaner.SiteState]int `json:"ended"` // sites by the state in which their crawl ended
}

// RecrawlResult counts a recrawl. What the crawls found is in the record.
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

// RecrawlDue crawls the sites whose rest is over, as many at a time as the window
// allows. It ends when all have ended; a schedule starts the next one.
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
	window := r.p.Window
	if window <= 0 {
		window = DefaultWindow
	}
	for {
		var err error
		switch {
		case ctx.Err() != nil: // no host is asked any more
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
		// After a step, so that every run goes on by one at least.
		if runIsFull(ctx) {
			r.p.State = r.s
			return workflow.NewContinueAsNewError(ctx, RecrawlDue, r.p)
		}
	}
}

// list lists the next due sites, and then puts back what is due there: a second
// attempt at that meets the same sites, though they are not due any more.
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

// start begins a site's crawl and hears of its end from the child itself; a
// crawl that another started is asked after in wait.
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

// wait waits until a site ends, or a while; then the record says which did.
func (r *recrawlRun) wait(ctx workflow.Context) error {
	n := len(r.s.Pending)
	heard, err := r.look.wait(ctx, func() bool { return len(r.s.Pending) < n })
	if err != nil || heard {
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

// endSites leaves the crawls that are under way for a recrawl that was cancelled:
// those that nobody else wants end. What they did is kept, and what they left waits
// for the next.
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
