package crawl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/frontier"
	"gleaner/internal/match"
	"gleaner/internal/page"
	"gleaner/internal/politeness"
	"gleaner/internal/rank"
	"gleaner/internal/store"
)

// slice is one run of Slice: what it needs of the site, and what it did.
type slice struct {
	*Crawler
	cfg      Config
	lease    *politeness.Lease
	site     store.Site
	scopes   []string
	standing standing
	strategy rank.Strategy
	wanted   *match.Index
	seen     *seenSet
	cached   map[frontier.Hash]bool
	window   *window
	batch    frontier.Batch
	pages    []*page.Page        // of the batch, for the index
	crawl    store.CrawlProgress // so far, over all its slices
	progress Progress
	report   func(Progress)
	started  time.Time
	stop     atomic.Value // Ending, set by the watcher
	latest   atomic.Pointer[Progress]
	inFlight atomic.Pointer[context.CancelFunc] // breaks off the request that is under way
	orderly  bool                               // the slice came to an end of its own
	attempts int                                // slices before this one that did not come to an end
	unjudged []string                           // documents of the last visit

	leads   map[frontier.Hash]float64 // given to other hosts in this crawl, with their likeness to a wanted title
	leadsOf map[string]int            // how many, by host
	misses  misses                    // of leads that others gave to this site
	found   map[string]bool           // normalised titles of the papers found

	history rank.History // of this slice, for its budget
	share   int64        // that the site's harvests may still bring, where limited
	limited bool

	had bool // the last answer was fetched before the crawl

	lastFailure fetch.Outcome // of the host rather than of one URL

	written    time.Time // when the batch was
	learnt     time.Time // when the strategy's state was written last
	taught     bool      // it has changed since
	unrecorded int       // links that a limit kept out, beyond those recorded
	missedOut  int       // leads left out for the misses of others
}

// errStop ends the loop with an Ending; it never leaves the package.
type errStop struct {
	ending Ending
	reason string
	wait   time.Duration
}

func (e *errStop) Error() string { return string(e.ending) + ": " + e.reason }

// Slice crawls a part of a site. report is called every few seconds and after
// each visit, and must not block. The error is the system's (the database is
// away, the lease was lost, ctx ended), never the site's.
func (c *Crawler) Slice(ctx context.Context, host string, report func(Progress)) (Result, error) {
	if err := c.coll.Ready(ctx); err != nil {
		return Result{}, fmt.Errorf("crawl %s: %w", host, err)
	}
	lease, err := c.keeper.AcquireWithin(ctx, host, c.patience)
	var busy *politeness.BusyError
	if errors.As(err, &busy) {
		return Result{Ending: Waiting, Reason: busy.Error(), Wait: busy.Wait}, nil
	}
	if err != nil {
		return Result{}, err
	}
	defer func() {
		free, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = lease.Release(free) // else it runs out by itself
	}()
	s := &slice{Crawler: c, lease: lease, report: report, started: time.Now()}
	ctx, cancel := context.WithCancelCause(politeness.WithLease(ctx, lease))
	defer cancel(nil)
	if err := s.load(ctx, host); err != nil {
		return Result{}, err
	}
	watched := make(chan struct{})
	go func() { defer close(watched); s.watch(ctx, cancel) }()
	if err = s.heed(ctx); err == nil {
		err = s.run(ctx)
	}
	cancel(nil)
	<-watched
	return s.finish(ctx, err)
}

func (s *slice) load(ctx context.Context, host string) (err error) {
	if s.site, err = s.db.Site(ctx, host); err != nil {
		return fmt.Errorf("crawl %s: %w", host, err)
	}
	if s.cfg, err = s.asked(ctx); err != nil {
		return err
	}
	if s.site.State != "crawling" {
		s.site.State, s.site.Crawl = "crawling", s.site.Crawl+1
		if err = s.db.BeginCrawl(ctx, s.site.ID, s.site.Crawl); err != nil {
			return err
		}
	}
	if err = s.beginAttempt(ctx); err != nil {
		return err
	}
	if err = s.loadStanding(ctx); err != nil {
		return err
	}
	if err = s.loadShare(ctx); err != nil {
		return err
	}
	if s.scopes, err = s.db.Scopes(ctx, s.site.ID); err != nil {
		return err
	}
	if s.strategy, err = rank.New(s.cfg.Strategy, s.cfg.Rank); err != nil {
		return err
	}
	s.strategy = s.wrap(s.strategy)
	if len(s.site.Learnt) > 0 {
		if err := s.strategy.Restore(s.site.Learnt); err != nil {
			s.log.WarnContext(ctx, "what was learnt of the site cannot be read; learning anew", "host", host, "error", err)
		}
	}
	if s.wanted, err = s.coll.Wanted(ctx); err != nil {
		return err
	}
	if s.seen, err = loadSeen(ctx, s.db.Pool, s.site.ID, s.site.Crawl, s.known); err != nil {
		return err
	}
	if err = errors.Join(s.loadLeads(ctx), s.loadMisses(ctx)); err != nil {
		return err
	}
	s.found = map[string]bool{}
	titles, err := s.db.TitlesFound(ctx, s.site.ID)
	if err != nil {
		return err
	}
	s.noteFound(titles)
	if s.cached, err = s.loadCached(ctx); err != nil {
		return err
	}
	if _, err = frontier.RetryDue(ctx, s.db.Pool, s.site.ID); err != nil {
		return err
	}
	s.window = &window{site: s.site.ID, record: s.db.Pool}
	s.batch.Reset()
	s.learnt, s.written = s.now(), time.Now()
	return nil
}

// asked lays what the harvests ask now over the worker's configuration. Their
// delay is the lease's already.
func (s *slice) asked(ctx context.Context) (Config, error) {
	c := s.Crawler.cfg
	o, _, err := s.db.SiteOptions(ctx, s.site.ID, store.SiteOptions{MaxPages: c.MaxPages, Strategy: c.Strategy, Leads: c.Leads, Budget: c.Budget})
	c.MaxPages, c.Strategy, c.Leads, c.Budget = o.MaxPages, o.Strategy, o.Leads, o.Budget
	return c, err
}

// heed looks whether anybody wants the crawl, before anything is asked and while
// it goes on.
func (s *slice) heed(ctx context.Context) error {
	paused, cancelled, err := s.db.Attention(ctx, s.site.ID)
	switch {
	case err != nil:
	case cancelled:
		s.stop.Store(Cancelled)
	case paused:
		s.stop.Store(Paused)
	}
	return err
}

func (s *slice) run(ctx context.Context) error {
	if err := s.mayGoOn(ctx); err != nil {
		return err
	}
	if err := s.mayAsk(); err != nil {
		return err
	}
	if err := s.enterSitemaps(ctx); err != nil {
		return err
	}
	for {
		if err := s.mayGoOn(ctx); err != nil {
			return err
		}
		var e *frontier.Entry
		var reason string
		err := s.patiently(ctx, func() (err error) {
			e, reason, err = s.next(ctx)
			return err
		})
		if err != nil {
			return err
		}
		if err := s.visit(ctx, e, reason); err != nil {
			return err
		}
		if s.due() {
			if err := s.flush(ctx, false); err != nil {
				return err
			}
		}
		now := s.progress
		s.latest.Store(&now)
		s.report(now)
	}
}

// due reports whether what was done is to be written before the next request.
// Where a host is paced it always is, so that a crash repeats what was in flight
// and no more; without a pace, visits are written in batches. An answer that was
// had before took no request, but the next one does, and it is chosen among the
// links of that answer, too.
func (s *slice) due() bool {
	return s.lease.Paced() || s.had || s.attempts > 0 || len(s.batch.Visits) >= s.cfg.Batch || time.Since(s.written) >= time.Second
}

func (s *slice) mayGoOn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if e, ok := s.stop.Load().(Ending); ok {
		return &errStop{ending: e, reason: "as the harvest says"}
	}
	if err := s.coll.Ready(ctx); err != nil {
		return fmt.Errorf("crawl %s: %w", s.site.Host, err) // what is fetched could not be kept
	}
	if parked := s.lease.ParkedFor(); parked > 0 {
		return &errStop{ending: Waiting, wait: parked, reason: s.parkedBecause(parked)}
	}
	if s.crawl.Pages >= s.cfg.MaxPages {
		return &errStop{ending: PageLimit, reason: fmt.Sprintf("%d requests in this crawl, the limit", s.crawl.Pages)}
	}
	if err := errors.Join(s.overBytes(), s.overBudget()); err != nil {
		return err
	}
	if s.progress.Requests >= s.cfg.SlicePages || time.Since(s.started) >= s.cfg.SliceTime {
		return &errStop{ending: SliceFull}
	}
	return nil
}

// next picks what to ask for; where nothing waits it says when something will.
func (s *slice) next(ctx context.Context) (*frontier.Entry, string, error) {
	if s.window.low() || s.window.bare() {
		// What was found and not yet written is not in the window either.
		if err := s.flush(ctx, false); err != nil {
			return nil, "", err
		}
	}
	if s.window.low() {
		if err := s.window.fill(ctx); err != nil {
			return nil, "", err
		}
		s.leaveOut()
	}
	if s.window.empty() && !s.window.all {
		return s.next(ctx) // all of it was left out
	}
	if s.window.empty() {
		if err := s.exhausted(ctx); err != nil {
			return nil, "", err
		}
		return s.next(ctx)
	}
	if err := s.trapped(); err != nil { // now that what waits is known
		return nil, "", err
	}
	i, reason := s.choose(ctx)
	return s.window.take(i), reason, nil
}

// choose lets the strategy pick among what waits. Sitemaps come last: on a small
// site they cost a request and tell nothing new, and a link met on a page comes
// with words that a sitemap does not have. Lists of papers come first.
func (s *slice) choose(ctx context.Context) (int, string) {
	if i := s.window.listing(); i >= 0 {
		return i, "the directory of several pages that catalogues name: it may list their documents"
	}
	named, poor := s.named(), s.poor()
	if s.window.sitemaps == 0 && !named && !poor {
		return s.pick(ctx, s.window.candidates)
	}
	var rest []rank.Candidate
	var place []int
	for i, c := range s.window.candidates {
		if c.Link.Source != sourceSitemapFile && (!named || !landingSeed(s.window.entries[i])) && (!poor || worthIt(s.window.entries[i])) {
			rest, place = append(rest, c), append(place, i)
		}
	}
	if len(rest) == 0 && poor {
		return slices.IndexFunc(s.window.entries, worthIt), "a landing page, before the crawl of a poor site ends"
	}
	if len(rest) == 0 {
		return 0, "a sitemap, when nothing else waits"
	}
	i, reason := s.pick(ctx, rest)
	return place[i], reason
}

// exhausted ends the slice where nothing waits, or returns nil where something
// waits after all.
func (s *slice) exhausted(ctx context.Context) error {
	relaxed, err := frontier.Relax(ctx, s.db.Pool, s.site.ID, s.cfg.MaxDepth)
	if err != nil {
		return err
	}
	if relaxed > 0 {
		s.window.filled = false
		return nil
	}
	at, err := frontier.NextTry(ctx, s.db.Pool, s.site.ID)
	if err != nil {
		return err
	}
	if !at.IsZero() {
		return &errStop{ending: Waiting, wait: max(time.Second, time.Until(at)), reason: "failed URLs wait for their next try"}
	}
	return &errStop{ending: Exhausted, reason: s.leftAside()}
}

// finish writes what is left and says how the slice ended.
func (s *slice) finish(ctx context.Context, err error) (Result, error) {
	r := Result{Progress: s.progress}
	if errors.Is(err, politeness.ErrLost) || errors.Is(context.Cause(ctx), politeness.ErrLost) {
		return r, politeness.ErrLost // whoever has the lease now writes
	}
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	var stop *errStop
	s.orderly = errors.As(err, &stop) || orderly(err)
	if ferr := s.flush(write, true); ferr != nil {
		return r, errors.Join(err, ferr)
	}
	if stop == nil {
		return r, err
	}
	r.Ending, r.Reason, r.Wait = stop.ending, stop.reason, stop.wait
	return r, nil
}

// hostTrouble turns what ails the host rather than one URL into a stop.
func hostTrouble(err error) *errStop {
	var busy *politeness.BusyError
	if errors.As(err, &busy) {
		return &errStop{ending: Waiting, wait: busy.Wait, reason: busy.Error()}
	}
	var fe *fetch.Error
	if !errors.As(err, &fe) {
		return nil
	}
	switch fe.Outcome {
	case fetch.RobotsUnavailable:
		return &errStop{ending: Refused, wait: fe.RetryAfter, reason: "robots.txt cannot be read, so nothing may be fetched: " + fe.Error()}
	case fetch.NoContact:
		return &errStop{ending: Refused, reason: fe.Error()}
	}
	return nil
}
