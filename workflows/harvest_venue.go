package workflows

import (
	"cmp"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/harvest/report"
)

// Signals and updates of a harvest.
const (
	SignalSiteEnded = activities.SignalSiteEnded
	UpdatePause     = "pause"
	UpdateResume    = "resume"
	UpdateRetryWhat = "retry-what" // argument: activities.Retry
	QueryStatus     = "status"
)

// HarvestParams starts or continues a harvest.
type HarvestParams struct {
	Harvest activities.Harvest `json:"harvest"`
	Stage   gleaner.Stage      `json:"stage,omitempty"` // to begin with; "" is the first
	Retry   *activities.Retry  `json:"retry,omitempty"` // put this back among the waiting first
	State   HarvestState       `json:"state"`           // of the runs before
}

// HarvestState is passed from a run to the next, and returned by QueryStatus.
type HarvestState struct {
	Stage     gleaner.Stage      `json:"stage"`
	Paused    bool               `json:"paused,omitempty"`
	Wave      int                `json:"wave,omitempty"`
	Started   int                `json:"started,omitempty"` // crawls of the wave, begun or joined
	After     string             `json:"after,omitempty"`   // last host of the wave that was listed
	Listed    bool               `json:"listed,omitempty"`  // every host of the wave was listed
	Next      []string           `json:"next,omitempty"`    // hosts that were listed and not started
	Pending   []string           `json:"pending,omitempty"` // hosts whose crawl has not ended
	Unheard   bool               `json:"unheard,omitempty"` // crawls of Pending may have ended without a signal
	Retried   bool               `json:"retried,omitempty"` // URLs that a retry put back were not listed yet
	Stalled   bool               `json:"stalled,omitempty"` // documents that a retry took up were not judged yet
	Located   bool               `json:"located,omitempty"` // open copies were located
	Papers    activities.Listed  `json:"papers"`
	Copies    harvest.Seeded     `json:"copies"`
	Authors   activities.Authors `json:"authors"`
	Homepages harvest.Seeded     `json:"homepages"`
	Sites     int                `json:"sites"` // crawls that ended
	// Links counts the links on record that the harvest took, of pages read before
	// LinksAsOf.
	Links     activities.LinkCounts `json:"links"`
	LinksAsOf time.Time             `json:"links_as_of,omitzero"`
	// Again is the stage from which the harvest repeats unanswered requests; "" before it
	// does.
	Again gleaner.Stage `json:"again,omitempty"`
}

// HarvestResult is the result of a harvest.
type HarvestResult struct {
	State   HarvestState   `json:"state"`
	Summary report.Summary `json:"summary"`
}

// HarvestVenue completes the collection of a venue, or of another goal: papers, copies,
// homepages, crawls, report. All data is in the record; the workflow carries only counts.
func HarvestVenue(ctx workflow.Context, p HarvestParams) (HarvestResult, error) {
	h := &harvestRun{p: p, s: p.State, ended: signals(ctx, SignalSiteEnded), pausing: workflow.NewMutex(ctx)}
	h.s.Stage = cmp.Or(h.s.Stage, p.Stage)
	h.s.Started = max(h.s.Started, len(h.s.Pending)) // a run before may not have counted
	if err := h.listen(ctx); err != nil {
		return HarvestResult{}, err
	}
	for {
		summary, err := h.run(ctx)
		if workflow.IsContinueAsNewError(err) {
			return HarvestResult{}, err
		}
		if err != nil && ctx.Err() != nil {
			err = ctx.Err() // the error of the interrupted activity need not be a cancellation
		}
		if err = h.finish(ctx, summary, err); err == nil {
			err = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
		}
		if err != nil || !h.s.Retried {
			return HarvestResult{State: h.s, Summary: summary}, err
		}
		h.goTo(gleaner.StageCrawl) // a retry came while the end was recorded
	}
}

type harvestRun struct {
	p       HarvestParams
	s       HarvestState
	ended   workflow.ReceiveChannel
	pausing workflow.Mutex // held while the harvest is paused or resumed
	counts  activities.Counts
	shown   time.Time // when the counts were shown last
	look    look

	retries int // received by this run
}

func (h *harvestRun) run(ctx workflow.Context) (report.Summary, error) {
	var summary report.Summary
	if h.s.Stage == "" || h.p.Retry != nil {
		if err := h.begin(ctx); err != nil {
			return summary, err
		}
	}
	for {
		for again := true; again; {
			err := h.stages(ctx)
			if err == nil {
				again, err = h.takeUp(ctx)
			}
			if err != nil {
				return summary, err
			}
		}
		if err := h.judgeStalled(ctx); err != nil {
			return summary, err
		}
		if err := h.enter(ctx); err != nil {
			return summary, err
		}
		if err := workflow.ExecuteActivity(long(ctx, activities.QueueHarvest, "report"), stages.Report, h.p.Harvest).Get(ctx, &summary); err != nil {
			return summary, err
		}
		if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil || !h.s.Retried {
			return summary, err
		}
		h.goTo(gleaner.StageCrawl) // a retry came after the last list
	}
}

// stages runs the remaining stages, up to the report.
func (h *harvestRun) stages(ctx workflow.Context) error {
	for _, stage := range []struct {
		name, next gleaner.Stage
		do         func(workflow.Context) error
	}{
		{gleaner.StagePapers, gleaner.StageHeld, h.papers},
		{gleaner.StageHeld, gleaner.StageCopies, h.held},
		{gleaner.StageCopies, gleaner.StageHomepages, h.copies},
		{gleaner.StageHomepages, gleaner.StageCrawl, h.homepages},
		{gleaner.StageCrawl, gleaner.StageReport, h.crawl},
	} {
		if h.s.Stage != stage.name {
			continue
		}
		if err := h.enter(ctx); err != nil {
			return err
		}
		if err := stage.do(ctx); err != nil {
			return err
		}
		h.goTo(stage.next)
	}
	return nil
}

func (h *harvestRun) goTo(stage gleaner.Stage) {
	// Crawls still running were begun early. Their leads belong to the next wave, too.
	h.s.Stage, h.s.Wave, h.s.Started, h.s.After, h.s.Listed, h.s.Located = stage, 0, len(h.s.Pending), "", false, false
}

func (h *harvestRun) begin(ctx workflow.Context) error {
	if err := h.pausing.Lock(ctx); err != nil { // a harvest that begins is not paused on record
		return err
	}
	err := workflow.ExecuteActivity(quick(ctx, "begin "+h.p.Harvest.ID), stages.Begin, h.p.Harvest).Get(ctx, nil)
	if err == nil && h.s.Paused { // it was started again since its workflow was lost
		err = h.setPaused(ctx, true)
	}
	h.pausing.Unlock()
	if err != nil {
		return err
	}
	if h.p.Retry != nil {
		if _, err := h.requeue(ctx, *h.p.Retry); err != nil {
			return err
		}
		if err := h.takeUpRetry(ctx, *h.p.Retry); err != nil {
			return err
		}
		h.p.Retry = nil
	}
	if h.s.Stage == "" {
		h.s.Stage = FirstStage(h.p.Harvest.Goal)
	}
	return nil
}

// FirstStage returns the first stage of a harvest. A site needs neither a list of papers nor
// open copies.
func FirstStage(of gleaner.Goal) gleaner.Stage {
	if of.Site != "" {
		return gleaner.StageHomepages
	}
	return gleaner.StagePapers
}

// enter waits while the harvest is paused, and records the stage.
func (h *harvestRun) enter(ctx workflow.Context) error {
	if err := workflow.Await(ctx, func() bool { return !h.s.Paused }); err != nil {
		return err
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, attrVenue.ValueSet(attribute(h.p.Harvest.Venue)), attrVenues.ValueSet(venuesOf(h.p.Harvest.Venue)), attrStage.ValueSet(string(h.s.Stage))); err != nil {
		return err
	}
	stage := activities.Stage{Harvest: h.p.Harvest.ID, Stage: h.s.Stage}
	if err := workflow.ExecuteActivity(quick(ctx, "stage: "+string(h.s.Stage)), stages.SetStage, stage).Get(ctx, nil); err != nil {
		return err
	}
	return h.show(ctx)
}

func (h *harvestRun) papers(ctx workflow.Context) error {
	return workflow.ExecuteActivity(long(ctx, activities.QueueMetadata, h.p.Harvest.ID), stages.ListPapers, h.p.Harvest).Get(ctx, &h.s.Papers)
}

func (h *harvestRun) held(ctx workflow.Context) error {
	if err := h.matchHeld(ctx); err != nil {
		return err
	}
	return h.findLinks(ctx)
}

// matchHeld looks for the missing papers among the documents on record, in slices, since
// other work waits on the queue.
func (h *harvestRun) matchHeld(ctx workflow.Context) error {
	ctx = long(ctx, activities.QueueDocuments, "documents found before")
	for at := (activities.HeldPosition{More: true}); at.More; {
		search := activities.HeldSearch{Harvest: h.p.Harvest.ID, From: at}
		at = activities.HeldPosition{}
		if err := workflow.ExecuteActivity(ctx, documents.MatchHeld, search).Get(ctx, &at); err != nil {
			return err
		}
	}
	return nil
}

// copies fetches open copies before homepages: they are cheap, and their authors need no
// homepage.
func (h *harvestRun) copies(ctx workflow.Context) error {
	if !h.s.Located && h.s.Wave == 0 {
		locate := stages.LocateCopies
		if h.s.Again != "" && h.s.Again != gleaner.StagePapers { // all papers were located, but not by all sources
			locate = stages.LocateAgain
		}
		var some harvest.Seeded
		if err := workflow.ExecuteActivity(long(ctx, activities.QueueMetadata, "open copies"), locate, h.p.Harvest).Get(ctx, &some); err != nil {
			return err
		}
		h.s.Copies.Hosts, h.s.Copies.URLs = h.s.Copies.Hosts+some.Hosts, h.s.Copies.URLs+some.URLs
		h.s.Located = true
	}
	return h.waves(ctx, 1)
}

// homepages finds the homepages of the authors, and seeds the frontier with them, or with the
// site of the goal.
func (h *harvestRun) homepages(ctx workflow.Context) error {
	if site := h.p.Harvest.Goal.Site; site != "" {
		err := workflow.ExecuteActivity(long(ctx, activities.QueueHarvest, "give the site to the frontier"), stages.SeedHomepages, h.p.Harvest).Get(ctx, &h.s.Homepages)
		if err != nil {
			return err
		}
		return h.reopenLinks(ctx)
	}
	o := childOf(activities.HomepagesID(HarvestID(h.p.Harvest.ID)), DescribeHomepages(h.p.Harvest))
	o.TypedSearchAttributes = indexed(h.p.Harvest.Venue)
	var end Searched
	p := HomepagesParams{Harvest: h.p.Harvest, Total: h.s.Authors}
	err := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, o), FindHomepages, p).Get(ctx, &end)
	if err != nil {
		h.s.Pending = append(h.s.Pending, crawlsOf(err)...)
		return err
	}
	h.s.Authors, h.s.Pending = end.Authors, end.Crawling
	if len(h.s.Pending) > 0 { // before seeding marks ended sites as waiting for a crawl
		if err := h.lookEnded(ctx); err != nil {
			return err
		}
	}
	h.s.Unheard = len(h.s.Pending) > 0 // some may end before the first wave
	if err := workflow.ExecuteActivity(long(ctx, activities.QueueHarvest, "give the homepages to the frontier"), stages.SeedHomepages, h.p.Harvest).Get(ctx, &h.s.Homepages); err != nil {
		return err
	}
	// Documents at homepages found now may match by their titles alone.
	if err := h.matchHeld(ctx); err != nil {
		return err
	}
	if err := h.reopenLinks(ctx); err != nil {
		return err
	}
	h.wakeSites(ctx) // a crawl that ended without the new URLs would be missing in the first wave
	return nil
}

func (h *harvestRun) crawl(ctx workflow.Context) error {
	n := h.p.Harvest.Options.MaxWaves
	if n <= 0 {
		n = 4
	}
	return h.waves(ctx, n)
}

// finish records how the harvest ended, also when it was cancelled.
func (h *harvestRun) finish(ctx workflow.Context, summary report.Summary, err error) error {
	end := activities.Stage{Harvest: h.p.Harvest.ID, Stage: gleaner.StageComplete}
	switch {
	case temporal.IsCanceledError(err):
		end.Stage, end.Note = gleaner.StageCancelled, "in stage "+string(h.s.Stage)
	case err != nil:
		end.Stage, end.Note = gleaner.StageFailed, "in stage "+string(h.s.Stage)+": "+rootCause(err)
	}
	h.s.Stage = end.Stage
	workflow.SetCurrentDetails(ctx, endDetails(h.p.Harvest, h.s, h.counts, summary, end.Note))
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	if serr := workflow.ExecuteActivity(quick(ctx, string(end.Stage)), stages.SetStage, end).Get(ctx, nil); serr != nil && err == nil {
		return serr
	}
	if serr := workflow.UpsertTypedSearchAttributes(ctx, attrStage.ValueSet(string(end.Stage)), attrOutcome.ValueSet(string(end.Stage))); serr != nil && err == nil {
		return serr
	}
	h.wakeSites(ctx)
	return err
}
