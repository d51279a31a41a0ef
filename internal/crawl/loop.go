package crawl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/library/collection"
	"gleaner/internal/match"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/text"
	"gleaner/internal/web/page"
	"gleaner/internal/web/rules"
)

// Site is the site of a crawl.
type Site struct {
	ID           int
	Host         string
	Crawl        int             // number of its crawls, this one included
	Scopes       []string        // path prefixes of what is followed
	ParentDomain bool            // links are followed within its registrable domain, too
	Wanted       *match.Index    // papers
	Rules        rules.Sets      // exclusion lists of each harvest that wants it
	InVain       map[string]bool // domains whose leads to hosts of this domain recently gave nothing

	Sofar   store.CrawlProgress // of this crawl, in slices before this one
	Careful bool                // the slices before this one did not end regularly
	share   shares              // of the harvests that want it
}

// Parts are the parts of a crawl that callers provide.
type Parts struct {
	Source   Source
	Recorder Recorder
	Judge    Judge
	Strategy rank.Strategy
	Log      *slog.Logger
}

// Run crawls a site in one slice, as Crawler.Slice does with a site of the web. All that
// is known of the site are the waiting URLs of the recorder.
func Run(ctx context.Context, site Site, cfg Config, p Parts) (Result, error) {
	l := newLoop(site, cfg, p, func(Progress) {})
	return l.end(ctx, l.run(ctx))
}

// loop is one slice of the crawl of one site. It takes the most promising URL from the
// window, requests it from the source, turns the answer into links and documents, passes
// these to the recorder and to the judge, and learns from the verdict.
type loop struct {
	Parts
	site     Site
	cfg      Config
	report   func(Progress)
	stop     atomic.Value // Ending, set from outside
	latest   atomic.Pointer[Progress]
	progress Progress // of this slice

	limits *limits
	links  *enqueuer
	window *window
	misses misses
	shells *shells

	batch        frontier.Batch
	pages        []*page.Page     // of the batch, for the index
	kept         *collection.Kept // documents of the last visit, to be judged
	cached       bool             // the last answer came from the cache
	written      time.Time        // of the last batch
	stateWritten time.Time        // when the strategy's state was last written, by cfg.Now
	stateChanged bool             // the state changed since

	missedOut int // leads left out for the misses of others
}

func newLoop(site Site, cfg Config, p Parts, report func(Progress)) *loop {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	now := time.Now()
	l := &loop{Parts: p, site: site, cfg: cfg, report: report, written: now, stateWritten: cfg.Now(),
		window: &window{record: p.Recorder, size: cfg.Window}, misses: misses{}}
	l.limits = &limits{cfg: cfg, scopes: site.Scopes, sections: newSections(site.Sofar.Sections), share: site.share,
		used: site.Sofar, before: site.Sofar.Time, started: now}
	l.links = &enqueuer{scope: scope{site, cfg}, limits: l.limits, strategy: p.Strategy, batch: &l.batch,
		seen: newSeen(cfg.KnownURLs), leads: newLeads(), found: map[string]bool{}, fileRoom: maxSiteFiles}
	l.batch.Reset()
	l.shells = newShells(l)
	return l
}

// errStop ends the loop with an Ending; the package never returns it.
type errStop struct {
	ending Ending
	reason string
	wait   time.Duration
	by     string // the URL whose answer paused the host; "" for none
}

func (e *errStop) Error() string { return string(e.ending) + ": " + e.reason }

func (l *loop) run(ctx context.Context) error {
	if err := l.checkContinue(ctx); err != nil {
		return err
	}
	if err := l.enterSitemaps(ctx); err != nil {
		return err
	}
	for {
		if err := l.checkContinue(ctx); err != nil {
			return err
		}
		e, reason, err := l.next(ctx)
		if err != nil {
			return err
		}
		if err := l.visit(ctx, e, reason); err != nil {
			return err
		}
		if l.mustFlush() {
			if err := l.flush(ctx, end{}); err != nil {
				return err
			}
		}
		now := l.progress
		l.latest.Store(&now)
		l.report(now)
	}
}

// mustFlush reports whether the batch must be written before the next request. It is if the host
// is paced, so that a crash repeats only the request in flight. Otherwise visits are
// written in batches, unless the next request is for a link of the batch. After an answer
// from the cache the next request is chosen among its links, too.
func (l *loop) mustFlush() bool {
	return l.Source.Paced() || l.cached || l.site.Careful || len(l.batch.Visits) >= l.cfg.Batch || time.Since(l.written) >= time.Second || l.hasBetterLink()
}

// hasBetterLink reports whether a link of the batch, which is not in the window yet, is in a
// higher queue than all of the window: it is requested next.
func (l *loop) hasBetterLink() bool {
	fresh := -1
	for i := range l.batch.Links {
		if e := &l.batch.Links[i]; e.Skip == "" {
			fresh = max(fresh, e.Queue)
		}
	}
	if fresh <= 0 {
		return false
	}
	return !slices.ContainsFunc(l.window.candidates, func(c page.Candidate) bool { return c.Queue >= fresh })
}

func (l *loop) checkContinue(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if e, ok := l.stop.Load().(Ending); ok && e == Waiting {
		return &errStop{ending: Waiting, wait: time.Second, reason: "somebody waits for a page of the host"}
	} else if ok {
		why := map[Ending]string{Paused: "as the harvest says", Cancelled: store.NotWanted, Denied: gleaner.SitePaused}
		return &errStop{ending: e, reason: why[e]}
	}
	if err := l.Judge.Ready(ctx); err != nil {
		return fmt.Errorf("crawl %s: %w", l.site.Host, err) // documents could not be stored
	}
	if err := l.Source.Ready(ctx); err != nil {
		return err
	}
	if l.limits.used.Pages >= l.cfg.MaxPages {
		return &errStop{ending: PageLimit, reason: text.Count(l.limits.used.Pages, "request") + " in this crawl, the limit"}
	}
	if err := errors.Join(l.limits.overBytes(), l.limits.overTime(), l.limits.overBudget(l.Strategy, l.window.candidates)); err != nil {
		return err
	}
	if l.progress.Requests >= l.cfg.SlicePages || time.Since(l.limits.started) >= l.cfg.SliceTime {
		return &errStop{ending: SliceFull}
	}
	return nil
}

// next picks the next entry to request. If none waits, it returns an errStop with the time of the next.
func (l *loop) next(ctx context.Context) (*frontier.Entry, string, error) {
	low := l.window.low() || l.window.stale() && l.Source.Paced()
	if low || l.window.bare() {
		// Links enter the window when they are written.
		if err := l.flush(ctx, end{}); err != nil {
			return nil, "", err
		}
	}
	if low || l.window.low() {
		if err := l.window.fill(ctx); err != nil {
			return nil, "", err
		}
		l.enterSeeds(ctx)
		l.window.reweigh(&l.links.scope, l.links.found)
		l.limits.recheck = true
	}
	if l.limits.recheck {
		l.limits.recheck = false
		l.leaveOut()
	}
	if l.window.empty() && !l.window.all {
		return l.next(ctx) // all entries were left out
	}
	if l.window.empty() {
		if err := l.exhausted(ctx); err != nil {
			return nil, "", err
		}
		return l.next(ctx)
	}
	if err := l.limits.trapped(l.window.entries); err != nil { // needs the refilled window
		return nil, "", err
	}
	i, reason := l.choose(ctx)
	return l.window.take(i), reason, nil
}

// enterSeeds passes seeds to the strategy, which marks them. They were put into the
// record without it, and their outcome must not count for other links.
func (l *loop) enterSeeds(ctx context.Context) {
	for i, e := range l.window.entries {
		if e.Parent == "" && e.Link.Source == page.SourceSeed {
			c := e.Candidate
			_ = guard.Logged(ctx, l.Log, e.Link.URL, func() error { l.Strategy.Enter(&c); return nil })
			e.Mark, l.window.candidates[i].Mark = c.Mark, c.Mark
		}
	}
}

// choose lets the strategy pick an entry of the window. Lists of papers come first and
// sitemaps last: on a small site a sitemap costs a request and has nothing new, and links
// on pages come with words that a sitemap lacks. Entries in the directory of a user whose
// answers paused the host come after all others.
func (l *loop) choose(ctx context.Context) (int, string) {
	paused := l.limits.sections.anyPaused()
	if i := l.window.listing(); i >= 0 && !l.limits.sections.paused(l.window.entries[i]) {
		return i, "the directory of several pages that catalogues name: it may list their documents"
	}
	named, poor := l.named(), l.limits.poor()
	if l.window.sitemaps == 0 && !named && !poor && !paused {
		return l.pick(ctx, l.window.candidates)
	}
	fits := func(e *frontier.Entry) bool {
		return e.Link.Source != sourceSitemapFile && (!named || !landingSeed(e)) && (!poor || worthIt(e))
	}
	calm := func(e *frontier.Entry) bool { return fits(e) && !l.limits.sections.paused(e) }
	from := fits
	if paused && slices.ContainsFunc(l.window.entries, calm) {
		from = calm
	}
	var rest []page.Candidate
	var place []int
	for i, c := range l.window.candidates {
		if from(l.window.entries[i]) {
			rest, place = append(rest, c), append(place, i)
		}
	}
	if len(rest) == 0 && poor {
		return slices.IndexFunc(l.window.entries, worthIt), "a landing page, before the crawl of a poor site ends"
	}
	if len(rest) == 0 {
		return 0, "a sitemap, when nothing else waits"
	}
	i, reason := l.pick(ctx, rest)
	return place[i], reason
}

// exhausted is called if the window is empty. It ends the slice, or returns nil if some
// entries can be requested after all.
func (l *loop) exhausted(ctx context.Context) error {
	relaxed, at, err := l.Recorder.Left(ctx, l.cfg.MaxDepth)
	switch {
	case err != nil:
		return err
	case relaxed > 0:
		l.window.filled = false
		return nil
	case len(l.shells.waiting) > 0:
		l.shells.retryNext()
		return nil
	case !at.IsZero():
		return &errStop{ending: Waiting, wait: max(time.Second, time.Until(at)), reason: "failed URLs wait for their next try"}
	}
	return &errStop{ending: Exhausted, reason: l.leftOutSummary()}
}

// end is how a slice ends, where it does.
type end struct{ last, orderly bool }

// learntEvery is how often the strategy's state is written within a slice, beside its end.
// The state may be a quarter of a megabyte; a crash loses at most a minute of training.
const learntEvery = time.Minute

// flush writes the batch to the recorder. New links enter the window afterwards, since
// the recorder assigns their place in the order of discovery.
func (l *loop) flush(ctx context.Context, as end) error {
	if l.batch.Empty() && !as.last {
		return nil
	}
	var learnt json.RawMessage // nil keeps the state on record
	if l.stateChanged && (as.last || l.cfg.Now().Sub(l.stateWritten) >= learntEvery) {
		var err error
		if learnt, err = l.Strategy.State(); err != nil {
			return fmt.Errorf("crawl %s: %w", l.site.Host, err)
		}
	}
	l.limits.used.Time = l.limits.before + time.Since(l.limits.started)
	l.limits.used.Sections = l.limits.sections.changed()
	w, err := l.Recorder.Write(ctx, store.SliceWrite{Batch: &l.batch, Progress: l.limits.used, Learnt: learnt, Last: as.last, Orderly: as.orderly})
	if err != nil {
		return fmt.Errorf("crawl %s: write: %w", l.site.Host, err)
	}
	l.written = time.Now()
	clear(l.links.seen.since)
	if learnt != nil {
		l.stateWritten, l.stateChanged = l.cfg.Now(), false
	}
	l.window.filled = l.window.filled && !w.Repeated // a repeated write does not return which links were new
	l.window.all = l.window.all && w.Again == 0
	for i := range l.batch.Aliases { // fetched already
		delete(w.Added, l.batch.Aliases[i].Hash())
	}
	for i := range l.batch.Links {
		e := l.batch.Links[i]
		if a := w.Added[e.Hash()]; a.Waiting {
			e.ID = a.Seq
			l.window.enter(&e, a.New)
		}
	}
	if len(l.pages) > 0 {
		err := guard.Logged(ctx, l.Log, l.site.Host, func() error { return l.cfg.Index(ctx, l.pages) })
		if err != nil && ctx.Err() == nil {
			l.Log.WarnContext(ctx, "pages could not be indexed", "host", l.site.Host, "error", err)
		}
	}
	l.batch.Reset()
	l.pages = nil
	return nil
}

// end writes the last batch and returns how the slice ended.
func (l *loop) end(ctx context.Context, err error) (Result, error) {
	l.release()
	r := Result{Progress: l.progress}
	var stop *errStop
	if errors.As(err, &stop) && stop.ending == Waiting {
		l.limits.before += stop.wait
		l.limits.sections.pause(stop.by)
	}
	if ferr := l.flush(ctx, end{last: true, orderly: stop != nil || orderly(err)}); ferr != nil {
		return r, errors.Join(err, ferr)
	}
	if stop == nil {
		return r, err
	}
	r.Ending, r.Reason, r.Wait = stop.ending, stop.reason, stop.wait
	return r, nil
}
