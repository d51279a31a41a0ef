package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/harvest"
)

// HomepagesParams starts or continues the search for authors' homepages.
type HomepagesParams struct {
	Harvest activities.Harvest `json:"harvest"`
	Pass    int                `json:"pass"`             // 1 or 2
	After   string             `json:"after"`            // the last author of the batches before
	Settled time.Time          `json:"settled,omitzero"` // when the first pass was settled
	Total   activities.Authors `json:"total"`

	Began    time.Time `json:"began,omitzero"`     // when the first run began
	Crawling []string  `json:"crawling,omitempty"` // hosts whose crawls were begun and may still run
}

// Searched is the result of a search for homepages.
type Searched struct {
	activities.Authors
	Crawling []string `json:"crawling,omitempty"` // as in HomepagesParams
}

// BatchesAtOnce is how many batches of authors run in parallel, on all workers.
const BatchesAtOnce = 4

const (
	authorsPerBatch = 48
	batchesPerList  = 50
	lastPass        = 2
)

// FindHomepages searches for the homepages of all authors in batches, each author alone, and
// then assigns each page to one author. A second pass searches for authors without a
// homepage, using the homepages of their co-authors, and assigns the pages again. The order
// matters: if a pass read what it writes, its result would depend on timing. Since no batch
// of a pass reads what another writes, some run in parallel.
func FindHomepages(ctx workflow.Context, p HomepagesParams) (Searched, error) {
	p.Pass = max(p.Pass, 1)
	early := &earlyCrawls{harvest: p.Harvest, crawling: p.Crawling, wake: signals(ctx, SignalWake)}
	if p.Began.IsZero() {
		p.Began = workflow.Now(ctx)
	}
	full, setFull := workflow.NewFuture(ctx)
	early.full = setFull
	workflow.Go(ctx, early.run)
	through, err := passes(ctx, &p, full)
	early.end(ctx)
	switch {
	case err != nil:
		return Searched{}, early.leave(ctx, err)
	case !through:
		for woken := true; woken; woken = drain(early.wake) { // a signal does not outlive this run
			wakeSites(ctx, early.crawling)
		}
		if ctx.Err() != nil {
			return Searched{}, early.leave(ctx, ctx.Err())
		}
		p.Crawling = early.crawling
		return Searched{}, workflow.NewContinueAsNewError(ctx, FindHomepages, p)
	}
	return Searched{Authors: p.Total, Crawling: early.crawling}, nil
}

// passes runs the remaining passes, and reports whether all are done. They are not if the run
// is full.
func passes(ctx workflow.Context, p *HomepagesParams, full workflow.Future) (through bool, err error) {
	for p.Pass <= lastPass {
		s := &search{p: *p, selector: workflow.NewSelector(ctx), early: full}
		through, err := s.pass(ctx)
		*p = s.p
		if !through && err == nil {
			err = ctx.Err() // a cancellation would be lost with this run
		}
		if err != nil || !through {
			return false, err
		}
		var settled harvest.Settled
		summary := fmt.Sprintf("pages given to several authors, pass %d", p.Pass)
		if err := workflow.ExecuteActivity(long(ctx, activities.QueueMetadata, summary), stages.SettleHomepages, p.Harvest).Get(ctx, &settled); err != nil {
			return false, err
		}
		p.Settled, p.After, p.Pass = settled.At, "", p.Pass+1
	}
	return true, nil
}

// search is one pass, or the part of it in one run.
type search struct {
	p        HomepagesParams // After is the last author of the batches begun
	next     []string        // the last authors of the batches to begin
	listed   bool            // next has all that are left
	running  int
	after    []string          // where the running batches began
	early    workflow.Future   // set when the run is full while no batch ends
	selector workflow.Selector // of the running batches
	failed   error
}

// pass searches for the authors of a pass, and reports whether it is done. It is not if the
// run is full. No batch is running when it returns.
func (s *search) pass(ctx workflow.Context) (through bool, err error) {
	ctx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	broken := false
	s.selector.AddFuture(s.early, func(workflow.Future) { broken = true })
	for full := false; !full && s.failed == nil; {
		for len(s.next) > 0 && s.running < BatchesAtOnce {
			s.begin(ctx)
		}
		switch {
		case len(s.next) == 0 && !s.listed:
			s.failed = s.list(ctx)
		case s.running > 0:
			s.selector.Select(ctx)
			// After a batch, so that every run makes progress.
			full = broken || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
		default:
			return true, nil
		}
	}
	for s.running > 0 && s.failed == nil && !broken {
		s.selector.Select(ctx)
	}
	if s.running > 0 && s.failed == nil { // the next run repeats these batches
		s.next, s.listed, s.p.After = nil, false, slices.Min(s.after)
		cancel()
		return false, s.drop(ctx)
	}
	if s.failed != nil {
		cancel()
	}
	for s.running > 0 {
		s.selector.Select(ctx)
	}
	return s.listed && len(s.next) == 0, s.failed
}

// drop waits for the cancelled batches.
func (s *search) drop(ctx workflow.Context) error {
	for s.running > 0 {
		s.selector.Select(ctx)
	}
	if temporal.IsCanceledError(s.failed) && ctx.Err() != nil {
		s.failed = nil
	}
	return s.failed
}

// list reads where the next batches end.
func (s *search) list(ctx workflow.Context) error {
	var b activities.AuthorBatches
	in := s.batch()
	in.Limit = batchesPerList
	summary := fmt.Sprintf("authors after %q, pass %d", s.p.After, s.p.Pass)
	if err := workflow.ExecuteActivity(quick(ctx, summary), stages.AuthorBatches, in, authorsPerBatch).Get(ctx, &b); err != nil {
		return err
	}
	s.next, s.listed = b.Last, !b.More
	return nil
}

// begin begins the next batch.
func (s *search) begin(ctx workflow.Context) {
	b := s.batch()
	b.UpTo = s.next[0]
	s.next = s.next[1:]
	s.p.After = b.UpTo
	summary := fmt.Sprintf("authors after %q, pass %d", b.After, b.Pass)
	f := workflow.ExecuteActivity(on(ctx, activities.QueueMetadata, summary, time.Hour), stages.FindHomepages, b)
	s.running++
	s.after = append(s.after, b.After)
	s.selector.AddFuture(f, func(f workflow.Future) {
		s.running--
		i := slices.Index(s.after, b.After)
		s.after = slices.Delete(s.after, i, i+1)
		var found activities.Authors
		if err := f.Get(ctx, &found); err != nil {
			s.failed = cmp.Or(s.failed, err)
			return
		}
		s.ended(ctx, found)
	})
}

func (s *search) batch() activities.Batch {
	return activities.Batch{Harvest: s.p.Harvest, After: s.p.After, Pass: s.p.Pass, Settled: s.p.Settled, AsOf: s.p.Began}
}

func (s *search) ended(ctx workflow.Context, b activities.Authors) {
	t := &s.p.Total
	t.Looked, t.Found, t.Searches, t.Fetches = t.Looked+b.Looked, t.Found+b.Found, t.Searches+b.Searches, t.Fetches+b.Fetches
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("pass %d: %d authors looked for, %d homepages found (%d searches, %d pages fetched)",
		s.p.Pass, t.Looked, t.Found, t.Searches, t.Fetches))
}

// earlyCrawls begins crawls of sites that are found while a search for homepages runs, since
// nearly all of its time is the pace of the search engine. The crawls count in the harvest's
// window and go on when the search ends; the harvest checks which have ended. The waves
// crawl all other sites, and the leads off these.
type earlyCrawls struct {
	harvest  activities.Harvest
	crawling []string          // begun, and may still run
	paused   bool              // at the last look
	starting bool              // a crawl is being begun
	over     bool              // no further crawl may begin
	full     workflow.Settable // set when the run must continue as new
	wake     workflow.ReceiveChannel
}

// Bounds of the time between two looks for sites that were found. Most are found soon.
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

// look begins crawls of sites that were found since the last look, as far as the window
// allows, and reports whether there may be more.
func (e *earlyCrawls) look(ctx workflow.Context) (more bool, err error) {
	window := windowOf(e.harvest.Options.Window)
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

// end stops the beginning of crawls, and waits for the one that is being begun. If the parent
// ended first, the child would not start and the harvest would wait for it.
func (e *earlyCrawls) end(ctx workflow.Context) {
	e.over = true
	own, _ := workflow.NewDisconnectedContext(ctx)
	_ = workflow.Await(own, func() bool { return !e.starting })
}

// leave wakes the running crawls when the search fails, since they may wait in a paused
// harvest. A cancelled search lists them in its error instead: they check who wants them,
// and the harvest is not yet recorded as cancelled.
func (e *earlyCrawls) leave(ctx workflow.Context, err error) error {
	if temporal.IsCanceledError(err) || ctx.Err() != nil {
		return temporal.NewCanceledError(e.crawling)
	}
	wakeSites(ctx, e.crawling)
	return err
}

// crawlsOf returns the running crawls from the error of a cancelled search.
func crawlsOf(err error) (hosts []string) {
	if cancelled, ok := errors.AsType[*temporal.CanceledError](err); ok && cancelled.HasDetails() {
		_ = cancelled.Details(&hosts)
	}
	return hosts
}
