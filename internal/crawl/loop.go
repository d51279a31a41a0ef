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
	Rules        rules.Sets      // lists of what is left out, of each harvest that wants it
	InVain       map[string]bool // domains that named hosts of its domain which gave nothing lately

	Sofar   store.CrawlProgress // of this crawl, in slices before this one
	Careful bool                // slices before this one did not come to an end
	share   shares              // of the harvests that want it
}

// Parts are what a crawl is made of.
type Parts struct {
	Source   Source
	Recorder Recorder
	Judge    Judge
	Strategy rank.Strategy
	Log      *slog.Logger
}

// Run crawls a site of which nothing is known but what the recorder has waiting,
// in one slice, as Crawler.Slice does with a site of the web.
func Run(ctx context.Context, site Site, cfg Config, p Parts) (Result, error) {
	l := newLoop(site, cfg, p, func(Progress) {})
	return l.end(ctx, l.run(ctx))
}

// loop is one slice of the crawl of one site. It takes the URL that promises most
// from the window, asks the source for it, turns the answer into links and
// documents, hands these to the recorder and to the judge, and learns from the
// verdict.
type loop struct {
	Parts
	site   Site
	cfg    Config
	scope  scope
	report func(Progress)
	stop   atomic.Value // Ending, set from outside
	latest atomic.Pointer[Progress]

	progress Progress            // of this slice
	crawl    store.CrawlProgress // of the crawl, over all its slices
	history  rank.History        // of this slice, for its budget
	started  time.Time
	took     time.Duration // by the slices of the crawl before this one, with their waits

	window    *window
	seen      *seenSet
	leads     leads
	misses    misses
	shells    *shells
	sections  sections
	keptBytes int             // of links that were not taken, over all pages of the site
	passed    bool            // what waits is to be looked at: it is new, or a section reached a limit
	found     map[string]bool // normalised titles of the papers found on the site
	share     shares

	batch   frontier.Batch
	pages   []*page.Page     // of the batch, for the index
	kept    *collection.Kept // documents of the last visit, to be judged
	cached  bool             // the last answer took no request
	written time.Time        // when the batch was
	learnt  time.Time        // when the strategy's state was written, by cfg.Now
	taught  bool             // it has changed since

	unrecorded int // links that a limit kept out, beyond those recorded
	missedOut  int // leads left out for the misses of others
	pruned     int // links left out for their words
}

func newLoop(site Site, cfg Config, p Parts, report func(Progress)) *loop {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	now := time.Now()
	l := &loop{Parts: p, site: site, cfg: cfg, scope: scope{site, cfg}, report: report,
		crawl: site.Sofar, took: site.Sofar.Time, share: site.share, started: now, written: now, learnt: cfg.Now(), window: &window{record: p.Recorder, size: cfg.Window}, seen: newSeen(cfg.KnownURLs),
		leads: newLeads(), misses: misses{}, sections: newSections(site.Sofar.Sections), found: map[string]bool{}}
	l.batch.Reset()
	l.shells = newShells(l)
	return l
}

// errStop ends the loop with an Ending; it never leaves the package.
type errStop struct {
	ending Ending
	reason string
	wait   time.Duration
	by     string // the URL whose answer had the host paused; "" for none
}

func (e *errStop) Error() string { return string(e.ending) + ": " + e.reason }

func (l *loop) run(ctx context.Context) error {
	if err := l.mayGoOn(ctx); err != nil {
		return err
	}
	if err := l.enterSitemaps(ctx); err != nil {
		return err
	}
	for {
		if err := l.mayGoOn(ctx); err != nil {
			return err
		}
		e, reason, err := l.next(ctx)
		if err != nil {
			return err
		}
		if err := l.visit(ctx, e, reason); err != nil {
			return err
		}
		if l.due() {
			if err := l.flush(ctx, end{}); err != nil {
				return err
			}
		}
		now := l.progress
		l.latest.Store(&now)
		l.report(now)
	}
}

// due reports whether what was done is to be written before the next request. It is if the
// host is paced, so that a crash repeats only what was in flight. Otherwise visits are
// written in batches, unless the next request is for a link of the batch. After an answer
// from the cache the next request is chosen among its links, too.
func (l *loop) due() bool {
	return l.Source.Paced() || l.cached || l.site.Careful || len(l.batch.Visits) >= l.cfg.Batch || time.Since(l.written) >= time.Second || l.better()
}

// better reports whether a link that is not in the window yet is in a higher queue than
// all that are: it is asked for next.
func (l *loop) better() bool {
	fresh := -1
	for i := range l.batch.Links {
		if e := &l.batch.Links[i]; e.Skip == "" {
			fresh = max(fresh, e.Queue)
		}
	}
	if fresh <= 0 {
		return false
	}
	for i := range l.window.candidates {
		if l.window.candidates[i].Queue >= fresh {
			return false
		}
	}
	return true
}

func (l *loop) mayGoOn(ctx context.Context) error {
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
		return fmt.Errorf("crawl %s: %w", l.site.Host, err) // what is fetched could not be kept
	}
	if err := l.Source.Ready(ctx); err != nil {
		return err
	}
	if l.crawl.Pages >= l.cfg.MaxPages {
		return &errStop{ending: PageLimit, reason: text.Count(l.crawl.Pages, "request") + " in this crawl, the limit"}
	}
	if err := errors.Join(l.overBytes(), l.overTime(), l.overBudget()); err != nil {
		return err
	}
	if l.progress.Requests >= l.cfg.SlicePages || time.Since(l.started) >= l.cfg.SliceTime {
		return &errStop{ending: SliceFull}
	}
	return nil
}

// next picks what to ask for; where nothing waits it says when something will.
func (l *loop) next(ctx context.Context) (*frontier.Entry, string, error) {
	low := l.window.low() || l.window.stale() && l.Source.Paced()
	if low || l.window.bare() {
		// What was found and not yet written is not in the window either.
		if err := l.flush(ctx, end{}); err != nil {
			return nil, "", err
		}
	}
	if low || l.window.low() {
		if err := l.window.fill(ctx); err != nil {
			return nil, "", err
		}
		l.enterSeeds(ctx)
		l.window.reweigh(&l.scope, l.found)
		l.passed = true // nobody has looked at these
	}
	if l.passed {
		l.passed = false
		l.leaveOut()
	}
	if l.window.empty() && !l.window.all {
		return l.next(ctx) // all of it was left out
	}
	if l.window.empty() {
		if err := l.exhausted(ctx); err != nil {
			return nil, "", err
		}
		return l.next(ctx)
	}
	if err := l.trapped(); err != nil { // now that what waits is known
		return nil, "", err
	}
	i, reason := l.choose(ctx)
	return l.window.take(i), reason, nil
}

// enterSeeds lets the strategy say what seeds are like: whoever put them into the
// record did not ask it, and what becomes of them is not to count for other links.
func (l *loop) enterSeeds(ctx context.Context) {
	for i, e := range l.window.entries {
		if e.Parent == "" && e.Link.Source == page.SourceSeed {
			c := e.Candidate
			_ = guard.Logged(ctx, l.Log, e.Link.URL, func() error { l.Strategy.Enter(&c); return nil })
			e.Mark, l.window.candidates[i].Mark = c.Mark, c.Mark
		}
	}
}

// choose lets the strategy pick among what waits. Sitemaps come last: on a small
// site they cost a request and tell nothing new, and a link met on a page comes
// with words that a sitemap does not have. Lists of papers come first. What lies in the
// directory of a user whose answers had the host paused comes after what does not.
func (l *loop) choose(ctx context.Context) (int, string) {
	paused := l.sections.anyPaused()
	if i := l.window.listing(); i >= 0 && !l.sections.paused(l.window.entries[i]) {
		return i, "the directory of several pages that catalogues name: it may list their documents"
	}
	named, poor := l.named(), l.poor()
	if l.window.sitemaps == 0 && !named && !poor && !paused {
		return l.pick(ctx, l.window.candidates)
	}
	fits := func(e *frontier.Entry) bool {
		return e.Link.Source != sourceSitemapFile && (!named || !landingSeed(e)) && (!poor || worthIt(e))
	}
	calm := func(e *frontier.Entry) bool { return fits(e) && !l.sections.paused(e) }
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

// exhausted ends the slice where nothing waits, or returns nil where something
// waits after all.
func (l *loop) exhausted(ctx context.Context) error {
	relaxed, at, err := l.Recorder.Left(ctx, l.cfg.MaxDepth)
	switch {
	case err != nil:
		return err
	case relaxed > 0:
		l.window.filled = false
		return nil
	case len(l.shells.waiting) > 0:
		l.shells.again()
		return nil
	case !at.IsZero():
		return &errStop{ending: Waiting, wait: max(time.Second, time.Until(at)), reason: "failed URLs wait for their next try"}
	}
	return &errStop{ending: Exhausted, reason: l.leftAside()}
}

// end is how a slice ends, where it does.
type end struct{ last, orderly bool }

// learntEvery is how often what was learnt is written: it may be a quarter of a
// megabyte, and is written when a slice ends; a crash costs no more than what the
// last minute taught.
const learntEvery = time.Minute

// flush hands the batch to the recorder. New links enter the window here, when
// they have their place in the order of discovery.
func (l *loop) flush(ctx context.Context, as end) error {
	if l.batch.Empty() && !as.last {
		return nil
	}
	var learnt json.RawMessage // nil leaves what is written
	if l.taught && (as.last || l.cfg.Now().Sub(l.learnt) >= learntEvery) {
		var err error
		if learnt, err = l.Strategy.State(); err != nil {
			return fmt.Errorf("crawl %s: %w", l.site.Host, err)
		}
	}
	l.crawl.Time, l.crawl.Sections = l.took+time.Since(l.started), l.sections.changed()
	w, err := l.Recorder.Write(ctx, store.SliceWrite{Batch: &l.batch, Progress: l.crawl, Learnt: learnt, Last: as.last, Orderly: as.orderly})
	if err != nil {
		return fmt.Errorf("crawl %s: write: %w", l.site.Host, err)
	}
	l.written = time.Now()
	clear(l.seen.since)
	if learnt != nil {
		l.learnt, l.taught = l.cfg.Now(), false
	}
	l.window.filled = l.window.filled && !w.Repeated // what was new the first time is not told again
	l.window.all = l.window.all && w.Again == 0
	for i := range l.batch.Aliases { // fetched, whatever link to it is new
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

// end writes what is left and says how the slice ended.
func (l *loop) end(ctx context.Context, err error) (Result, error) {
	l.release()
	r := Result{Progress: l.progress}
	var stop *errStop
	if errors.As(err, &stop) && stop.ending == Waiting {
		l.took += stop.wait
		l.sections.pause(stop.by)
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
