package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/library/repository"
	"gleaner/internal/politeness"
	"gleaner/internal/rank"
	"gleaner/internal/record/store"
	"gleaner/internal/web/rules"
	"gleaner/internal/web/weburl"
)

// slice is the state of one call of Slice: the host's lease, and the loop that crawls under
// it.
type slice struct {
	*Crawler
	lease    *politeness.Lease
	site     store.Site
	loop     *loop
	attempts int // consecutive slices before this one that did not end regularly
	keeping  *repository.Keeping
	denied   string // why the policy does not allow the site, "" if it does
	searched bool   // a harvest that wants the site still searches for homepages
}

// Slice crawls a part of a site. report is called every few seconds and after
// each visit, and must not block. The error is the system's (the database is
// away, the lease was lost, ctx ended), never the site's.
func (c *Crawler) Slice(ctx context.Context, host string, report func(Progress)) (Result, error) {
	if paused, err := c.paused(ctx, host); err != nil || paused {
		return Result{Ending: Paused}, err // before the site is loaded, and before any wait
	}
	if err := c.coll.Ready(ctx); err != nil {
		return Result{}, fmt.Errorf("crawl %s: %w", host, err)
	}
	lease, err := c.keeper.AcquireWithin(ctx, host, c.patience)
	var busy *politeness.BusyError
	if errors.As(err, &busy) && busy.Paused != "" {
		return Result{Ending: Denied, Reason: gleaner.SitePaused}, nil
	}
	if errors.As(err, &busy) {
		return Result{Ending: Waiting, Reason: busy.Error(), Wait: busy.Wait}, nil
	}
	if err != nil {
		return Result{}, err
	}
	defer lease.Free(ctx)
	s := &slice{Crawler: c, lease: lease}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	renewed := lease.Renewed(ctx, func() { cancel(politeness.ErrLost) }) // since a large site takes long to load
	defer renewed()
	if s.site, err = s.db.Site(ctx, host); err != nil {
		return Result{}, fmt.Errorf("crawl %s: %w", host, err)
	}
	if err := s.load(ctx, report); errors.Is(context.Cause(ctx), politeness.ErrLost) {
		return Result{}, politeness.ErrLost
	} else if err != nil {
		return Result{}, err
	}
	if s.loop.cfg.WARC {
		s.keeping = c.coll.Repository().Keeping(host, fmt.Sprintf("crawl %d of %s", s.site.Crawl, host), c.log)
	}
	renewed()
	watching, over := context.WithCancel(context.WithoutCancel(ctx)) // a stopping worker finishes its request
	defer over()
	watched := guard.Go(func() { s.watch(watching, cancel) })
	attention, err := s.db.Attention(ctx, s.site.ID)
	if err == nil {
		s.checkControls(attention[s.site.ID])
		err = s.run(ctx)
	}
	defer func() { over(); <-watched }()
	r, err := s.finish(ctx, err)
	r.Crawl = s.site.Crawl
	return r, err
}

// paused reports whether all harvests that want a site are paused.
func (c *Crawler) paused(ctx context.Context, host string) (bool, error) {
	id, err := store.EnsureSite(ctx, c.db.Pool, host)
	if err != nil {
		return false, err
	}
	attention, err := c.db.Attention(ctx, id)
	a := attention[id]
	return a.Paused && !a.Cancelled, err
}

// shortWait is the longest wait of Slices for a host, since it notices a retry only after
// the wait.
const shortWait = 30 * time.Second

// Slices crawls slice after slice of a site. Each reads the site and the harvests that want
// it anew from the record. Slices ends if the next slice would have to wait for long or
// would do nothing, or if more returns false. It returns the result of the last slice, with
// the progress of all and the number of the last crawl.
func (c *Crawler) Slices(ctx context.Context, host string, tell func(Progress), more func(Ending) bool) (Result, error) {
	var before Progress
	for last := 0; ; {
		r, err := c.Slice(ctx, host, func(p Progress) { tell(before.Plus(p)) })
		before = before.Plus(r.Progress)
		r.Progress, r.Crawl = before, cmp.Or(r.Crawl, last)
		last = r.Crawl
		soon := r.Ending == SliceFull || r.Ending == Waiting && r.Wait <= shortWait
		// The lease is free for a second, for others that wait for the host.
		if err != nil || !soon || !more(r.Ending) || fetch.Wait(ctx, max(r.Wait, time.Second)) != nil {
			return r, err
		}
	}
}

// load makes the loop from what the record knows of the site.
func (s *slice) load(ctx context.Context, report func(Progress)) (err error) {
	host := s.site.Host
	site, cfg, kept, err := s.describe(ctx)
	if err != nil {
		return err
	}
	if s.site.State != gleaner.SiteCrawling {
		s.site.State, s.site.Crawl = gleaner.SiteCrawling, s.site.Crawl+1
		if err = s.db.BeginCrawl(ctx, s.of()); err != nil {
			return lost(err)
		}
	}
	if err := s.reopen(ctx, view(site, cfg, kept)); err != nil {
		return err
	}
	site.Crawl = s.site.Crawl
	if s.attempts, site.Sofar, err = s.db.BeginSlice(ctx, s.of(), s.cfg.RetryBase); err != nil {
		return err
	}
	if site.Careful = s.attempts > 0; site.Careful {
		s.log.WarnContext(ctx, "this slice is careful: one before did not come to an end, or a process died over a URL that waits", "host", host, "in_a_row", s.attempts)
	}
	if len(site.Scopes) == 0 { // it is known only from links of other hosts
		if site.InVain, err = s.db.InVain(ctx, s.site.ID, weburl.Domain(host), maxVainHosts); err != nil {
			return err
		}
	}
	if site.Wanted, err = s.coll.Wanted(ctx); err != nil {
		return err
	}
	strategy, err := s.strategy(ctx, cfg)
	if err != nil {
		return err
	}
	if s.searched, err = s.db.Searched(ctx, s.site.ID); err != nil {
		return err
	}
	if s.searched {
		cfg.Index = nil // the search must not depend on this crawl
	}
	source, err := s.openWeb(ctx)
	if err != nil {
		return err
	}
	if cfg.HarvestBytes > 0 {
		if site.share, err = s.totals.of(ctx, s.db, s.site.ID); err != nil {
			return err
		}
	}
	s.loop = newLoop(site, cfg, Parts{Source: source, Recorder: record{s}, Judge: library{s}, Strategy: strategy, Log: s.log}, report)
	return record{s}.recall(ctx, s.loop)
}

// describe returns the site's present scope and lists, and the options of the harvests that
// want it.
func (s *slice) describe(ctx context.Context) (site Site, cfg Config, kept []rules.Lists, err error) {
	site = Site{ID: s.site.ID, Host: s.site.Host, Crawl: s.site.Crawl}
	if cfg, kept, err = s.harvestOptions(ctx); err != nil {
		return site, cfg, kept, err
	}
	if site.Rules, err = s.rules(ctx, kept); err != nil {
		return site, cfg, kept, err
	}
	if s.denied, site.ParentDomain, err = s.applyPolicy(ctx); err != nil {
		return site, cfg, kept, err
	}
	site.Scopes, err = s.db.Scopes(ctx, s.site.ID)
	return site, cfg, kept, err
}

// reopen takes links that earlier crawls did not take, if the options have changed since.
func (s *slice) reopen(ctx context.Context, now string) error {
	if s.site.View == now {
		return nil
	}
	if s.site.View == "" {
		return s.db.SetView(ctx, s.site.ID, now)
	}
	_, err := s.ReopenLinks(ctx, "", s.site.Host)
	return err
}

// harvestOptions applies the harvests' options to the worker's configuration, and returns the lists
// of each harvest. The lease has their delay already.
func (s *slice) harvestOptions(ctx context.Context) (Config, []rules.Lists, error) {
	c := s.cfg
	o, _, err := s.db.SiteOptions(ctx, s.site.ID, store.SiteOptions{MaxPages: c.MaxPages, Strategy: c.Strategy, Leads: c.Leads, Budget: c.Budget, WARC: c.WARC, Kept: []rules.Lists{c.Links}})
	c.MaxPages, c.Strategy, c.Leads, c.Budget, c.WARC = o.MaxPages, o.Strategy, o.Leads, o.Budget, o.WARC || s.site.WARC
	return c, o.Kept, err
}

// rules prepares the lists of the harvests, with the stop directories on record.
func (s *slice) rules(ctx context.Context, kept []rules.Lists) (sets rules.Sets, err error) {
	var learnt []string
	if slices.ContainsFunc(kept, rules.Lists.Learns) {
		if learnt, err = s.db.StopNames(ctx, s.cfg.StopSites, s.cfg.StopShare); err != nil {
			return nil, fmt.Errorf("crawl %s: stop directories: %w", s.site.Host, err)
		}
	}
	for _, l := range kept {
		sets = append(sets, rules.New(l, learnt))
	}
	return sets, nil
}

// strategy returns the site's strategy, with its state from earlier slices.
func (s *slice) strategy(ctx context.Context, cfg Config) (rank.Strategy, error) {
	strategy, err := rank.New(cfg.Strategy, cfg.Rank)
	if err != nil {
		return nil, err
	}
	strategy = s.wrap(strategy)
	if len(s.site.Learnt) > 0 {
		if err := strategy.Restore(s.site.Learnt); err != nil {
			s.log.WarnContext(ctx, "what was learnt of the site cannot be read; learning anew", "host", s.site.Host, "error", err)
		}
	}
	return strategy, nil
}

// checkControls ends the crawl if it is no longer wanted, or paused.
func (s *slice) checkControls(a store.Attention) {
	switch {
	case a.Cancelled:
		s.loop.stop.Store(Cancelled)
	case a.Stopped:
		s.loop.stop.Store(Denied)
	case a.Paused:
		s.loop.stop.Store(Paused)
	}
}

func (s *slice) run(ctx context.Context) error {
	if err := s.loop.checkContinue(ctx); err != nil {
		return err
	}
	if s.denied != "" {
		return &errStop{ending: Denied, reason: s.denied}
	}
	return s.loop.run(ctx)
}

// finish writes the last batch and returns how the slice ended. The WARC file is closed last.
func (s *slice) finish(ctx context.Context, err error) (Result, error) {
	defer s.keeping.Close(ctx)
	defer s.loop.shells.forget()
	if errors.Is(err, politeness.ErrLost) || errors.Is(context.Cause(ctx), politeness.ErrLost) {
		s.loop.release()
		return Result{Progress: s.loop.progress}, politeness.ErrLost // only the holder of the lease may write
	}
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	return s.loop.end(write, err)
}

// Policies on which sites may be crawled (Wu et al., WebSci 2012, section 3).
const (
	// PolicyBlacklist allows every site that a harvest wants, except hosts on the
	// blacklist.
	PolicyBlacklist = "blacklist"
	// PolicyWhitelist allows only domains on the whitelist, and there follows links
	// that stay in the parent's domain, two steps from a listed page.
	PolicyWhitelist = "whitelist"
	// PolicyHybrid treats domains on the whitelist as PolicyWhitelist does, and
	// all others as PolicyBlacklist does.
	PolicyHybrid = "hybrid"
)

// Denied is the ending of a crawl that the policy does not allow, or that a person has paused.
const Denied Ending = "denied"

// applyPolicy applies the policy to the site. It returns why the site may not be crawled, ""
// if it may, and whether links are followed within its registrable domain.
func (s *slice) applyPolicy(ctx context.Context) (denied string, parentDomain bool, err error) {
	at, err := s.db.ListStatus(ctx, s.site.Host, weburl.Domain(s.site.Host))
	if err != nil {
		return "", false, fmt.Errorf("crawl %s: %w", s.site.Host, err)
	}
	policy := s.Crawler.cfg.Policy
	switch {
	case at.Blocked:
		denied = gleaner.Blacklisted
		if at.Reason != "" {
			denied += ": " + at.Reason
		}
	case policy == PolicyWhitelist && !at.Listed:
		denied = gleaner.NotListed
	}
	return denied, at.Listed && policy != PolicyBlacklist && policy != "", nil
}
