package crawl

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"gleaner/internal/collection"
	"gleaner/internal/fetch"
	"gleaner/internal/frontier"
	"gleaner/internal/page"
	"gleaner/internal/rank"
	"gleaner/internal/weburl"
)

// visit asks for one URL and does with the answer what its kind calls for. An
// error ends the slice: ctx ended, the system failed, or the host as a whole
// cannot be asked; the entry then still waits.
func (s *slice) visit(ctx context.Context, e *frontier.Entry, reason string) error {
	resp, err := s.get(ctx, e)
	defer resp.Release()
	if trouble := hostTrouble(err); trouble != nil {
		return trouble
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var broken *panicked
	if err != nil && !answers(err) && !errors.As(err, &broken) {
		return fmt.Errorf("crawl %s: %w", e.Link.URL, err) // the system's: the lease, the database
	}
	if err := errors.Join(s.hold(ctx), s.handle(ctx, e)); err != nil {
		return err
	}
	s.progress.Requests++
	s.progress.URL = e.Link.URL
	s.crawl.Pages++
	v := frontier.Visit{Entry: e, Reason: reason, Crawl: s.site.Crawl, At: time.Now()}
	e.Tries++
	result, err := s.outcome(ctx, e, &v, resp, err)
	if err != nil {
		return fmt.Errorf("crawl %s: %w", e.Link.URL, err)
	}
	s.schedule(e, &v, result)
	if from := s.giver(e); from != "" {
		if s.misses.count(from, &v); s.misses[from] >= maxMisses {
			defer s.leaveOut()
		}
	}
	s.batch.Visits = append(s.batch.Visits, v)
	if broken != nil {
		return &errStop{ending: SliceFull} // when the host may be asked next the record knows, not this lease
	}
	if len(s.unjudged) > 0 {
		// A document is kept by now: who comes after a crash need not fetch it again.
		if err := s.flush(ctx, false); err != nil {
			return err
		}
		if result, err = s.judge(ctx, resp.URL); err != nil {
			return err
		}
	}
	if !v.Unchanged() && e.Link.Source != sourceSitemapFile {
		s.taught = true
		s.history.Add(rank.OutcomeOf(result), time.Since(v.At))
		_ = s.guarded(ctx, e.Link.URL, func() error { s.strategy.Observe(e.Candidate, result); return nil })
	}
	return nil
}

// answers reports whether an error of a request says what became of its URL.
func answers(err error) bool {
	var fe *fetch.Error
	return errors.As(err, &fe) && fe.Outcome != fetch.Canceled
}

// outcome works on what came back for a URL. The error is the system's, never
// the URL's.
func (s *slice) outcome(ctx context.Context, e *frontier.Entry, v *frontier.Visit, resp *fetch.Response, err error) (result rank.Result, _ error) {
	var fe *fetch.Error
	if errors.As(err, &fe) {
		return s.failed(e, v, fe), nil
	}
	if err != nil {
		s.progress.Failed++
		return rank.Result{Failed: true}, setAside(v, err)
	}
	err = s.guarded(ctx, e.Link.URL, func() (err error) {
		s.read(e.Link.URL)
		result, err = s.answered(ctx, e, v, resp)
		return err
	})
	if err == nil {
		return result, nil
	}
	s.unjudged = nil
	s.progress.Failed++
	return rank.Result{Failed: true}, setAside(v, err)
}

// get fetches, or takes the answer that was fetched lately to look for a
// homepage.
func (s *slice) get(ctx context.Context, e *frontier.Entry) (*fetch.Response, error) {
	s.had = false
	if h := e.Hash(); s.cached[h] && e.Content == nil {
		delete(s.cached, h)
		p, ok, err := s.db.CachedPage(ctx, h[:], cacheAge)
		if err == nil && ok && p.Outcome == string(fetch.OK) {
			s.had = true
			return &fetch.Response{URL: p.FinalURL, Status: p.Status, Header: p.Header, Body: p.Body, FetchedAt: p.At}, nil
		}
	}
	return s.ask(ctx, fetch.Request{URL: e.Link.URL, ETag: e.ETag, LastModified: e.LastModified,
		Known: func(to string) bool { return s.fetched(ctx, to) }})
}

// fetched reports whether a URL of this site was fetched in this crawl (or just
// before it), so that a redirect to it need not be followed.
func (s *slice) fetched(ctx context.Context, url string) bool {
	h := frontier.HashOf(url)
	if s.cached[h] {
		return true
	}
	for i := range s.batch.Visits {
		if v := &s.batch.Visits[i]; v.Entry.Hash() == h {
			return v.State == frontier.Page || v.State == frontier.Document
		}
	}
	done, err := frontier.Fetched(ctx, s.db.Pool, s.site.ID, h, s.site.Crawl)
	return done && err == nil
}

// cacheAge is how old an answer fetched outside the crawl may be.
const cacheAge = 24 * time.Hour

func (s *slice) loadCached(ctx context.Context) (map[frontier.Hash]bool, error) {
	hashes, err := s.db.CachedOn(ctx, s.site.Host, cacheAge)
	if err != nil {
		return nil, err
	}
	out := make(map[frontier.Hash]bool, len(hashes))
	for _, h := range hashes {
		out[frontier.Hash(h)] = true
	}
	return out, nil
}

// failed decides whether a URL is asked for again.
func (s *slice) failed(e *frontier.Entry, v *frontier.Visit, fe *fetch.Error) rank.Result {
	v.Outcome, v.Status = fe.Outcome, fe.Status
	v.ETag, v.LastModified = e.ETag, e.LastModified
	s.brings(fe.Bytes)
	switch {
	case fe.Outcome == fetch.RedirectKnown:
		v.State, v.Reason = frontier.Moved, "redirects to "+fe.Location+", which was fetched already"
		to := *e // if what was fetched is not this crawl's yet, it still has to be read
		to.Link.URL, to.Parent, to.Tries = fe.Location, e.Link.URL, 0
		s.batch.AddLink(to)
		return rank.Result{}
	case fe.Outcome == fetch.RedirectOffHost:
		v.State = frontier.Moved
		if why := s.redirected(e, fe.Location); why != "" {
			v.State, v.Outcome, v.Reason = frontier.Gone, why, "redirects to "+fe.Location
			s.progress.Failed++
			return rank.Result{Failed: true}
		}
		return rank.Result{}
	case fetch.Retryable(fe.Outcome):
		v.State, s.lastFailure = frontier.Failed, fe.Outcome
		if e.Tries < s.cfg.MaxTries {
			v.NextTry = v.At.Add(max(fe.RetryAfter, s.cfg.RetryBase<<(2*(e.Tries-1))))
		}
	default:
		v.State = frontier.Gone
	}
	s.progress.Failed++
	return rank.Result{Failed: true}
}

// redirected gives the target of a redirect to the host it is on, with the role
// and the words of the link that led there, unless it names a limit.
func (s *slice) redirected(e *frontier.Entry, location string) (limit fetch.Outcome) {
	if why := s.misshapen(location); why != "" {
		return why
	}
	to := *e
	to.Link.URL, to.Link.Source, to.Parent = location, page.SourceRedirect, e.Link.URL
	to.Tries, to.ETag, to.LastModified, to.Content, to.Was, to.Interval = 0, "", "", nil, frontier.Waiting, 0
	host := weburl.Host(location)
	if host == "" {
		return "" // the fetcher refuses such a Location, so there is none
	}
	// A homepage that moved to another host is a new site with a scope of its
	// own; that is for the search for homepages, so here it is one page.
	if to.Role == frontier.Member {
		to.Role = frontier.Landing
	}
	to.Derive()
	return s.give(host, &to)
}

func (s *slice) answered(ctx context.Context, e *frontier.Entry, v *frontier.Visit, resp *fetch.Response) (rank.Result, error) {
	v.Outcome, v.Status, v.Bytes = fetch.OK, resp.Status, resp.Bytes
	v.ETag, v.LastModified = resp.Header.Get("Etag"), resp.Header.Get("Last-Modified")
	s.progress.Bytes += resp.Bytes
	s.received(resp)
	if resp.Status == 304 {
		return s.unchanged(e, v), nil
	}
	sum := sha256.Sum256(resp.Body)
	v.Content = sum[:]
	if e.Was != frontier.Waiting && bytes.Equal(v.Content, e.Content) {
		return s.unchanged(e, v), nil
	}
	if resp.URL != e.Link.URL {
		s.alias(e, resp.URL)
	}
	if e.Link.Source == sourceSitemapFile {
		s.sitemap(e, v, resp)
		return rank.Result{}, nil
	}
	switch collection.Sniff(resp.URL, resp.Header.Get("Content-Type"), resp.Body) {
	case collection.AFile:
		return s.document(ctx, e, v, resp)
	case collection.APage:
		r, err := s.page(ctx, e, v, resp)
		if err != nil {
			return r, err
		}
		return s.paperPage(ctx, e, v, resp, r)
	}
	v.State, v.Outcome = frontier.Gone, outcomeKind
	return rank.Result{Failed: true}, nil
}

// alias notes where a redirect on the host ended, so that a link to it does not
// fetch the same page again. It is entered as fetched, beside the visit.
func (s *slice) alias(e *frontier.Entry, final string) {
	if weburl.Key(final) == weburl.Key(e.Link.URL) {
		return
	}
	to := *e
	to.Link.URL, to.Parent, to.Link.Source = final, e.Link.URL, page.SourceRedirect
	s.batch.Aliases = append(s.batch.Aliases, to)
	s.seen.add(to.Hash(), 0, frontier.Member)
	s.window.drop(to.Hash())
}
