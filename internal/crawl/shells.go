package crawl

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/render"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Bounds of the pages of one slice that a browser shows.
const (
	maxShells     = 16          // pages that wait until their scripts were read
	maxShell      = 1 << 20     // bytes of one
	maxShown      = 50          // pages
	maxKeptScript = 16 << 20    // bytes of scripts that are kept for the next page
	showWait      = time.Minute // for a browser, where nothing else waits
)

// shells are the pages of a slice that scripts fill. Where a script was read and has a list
// of documents, no browser is needed; a page whose scripts have none is shown.
type shells struct {
	*loop
	waiting []*shell
	lists   map[string]bool           // scripts that were read: whether one has documents
	scripts map[string]*render.Answer // by URL, so that the next page does not ask for them
	bytes   int                       // of scripts
	shown   int
}

type shell struct {
	entry  frontier.Entry
	answer Answer
	unread map[string]bool // its scripts that wait for their visit
}

// is reports whether a page is one that may be shown.
func (s *shells) is(p *page.Page) bool {
	_, answers := s.Source.(resources)
	return p != nil && p.Shell && s.cfg.Browser != nil && answers
}

// note has a page wait for its scripts.
func (s *shells) note(ctx context.Context, e *frontier.Entry, a *Answer, p *page.Page) {
	if e.Role != frontier.Member || p.NoFollow || len(a.Body) > maxShell ||
		len(s.waiting) >= maxShells || s.shown+len(s.waiting) >= maxShown {
		return
	}
	resp := &fetch.Response{URL: a.URL, Header: a.Header, Body: bytes.Clone(a.Body), FetchedAt: a.FetchedAt}
	w := &shell{entry: *e, answer: Answer{Response: resp, Parent: e.Parent}, unread: map[string]bool{}}
	for i := range p.Links {
		to := p.Links[i].URL
		if p.Links[i].Source != page.SourceList {
			continue
		}
		has, read := s.lists[to]
		if has {
			return
		}
		_, taken := s.seen.known(frontier.HashOf(to), 0, 0)
		if taken && !read && e.Tries < 2 && !s.fetched(ctx, to) { // a page that waited in vain waits no more
			w.unread[to] = true
		}
	}
	s.waiting = append(s.waiting, w)
}

// read takes what a visit found in a script.
func (s *shells) read(e *frontier.Entry, a *Answer, p *page.Page) {
	url := e.Link.URL
	has := p != nil && slices.ContainsFunc(p.Links, func(l page.Link) bool {
		return l.Source == page.SourceList || weburl.IsDocumentName(l.URL)
	})
	s.waiting = slices.DeleteFunc(s.waiting, func(w *shell) bool {
		if !w.unread[url] {
			return false
		}
		s.lists[url] = has
		if delete(w.unread, url); !has && a != nil {
			s.keep(url, a.Response)
		}
		return has
	})
}

// keep keeps a script for the pages that are shown.
func (s *shells) keep(url string, r *fetch.Response) *render.Answer {
	a := &render.Answer{Status: r.Status, Header: r.Header, Body: bytes.Clone(r.Body)}
	if s.bytes+len(a.Body) <= maxKeptScript {
		s.bytes += len(a.Body)
		s.scripts[url] = a
	}
	return a
}

// show shows the pages whose scripts were read; all of them where nothing else waits.
func (s *shells) show(ctx context.Context, all bool) error {
	waiting, wait := s.waiting, time.Duration(0)
	if s.waiting = nil; all {
		wait = showWait
	}
	for i, w := range waiting {
		if !all && len(w.unread) > 0 {
			s.waiting = append(s.waiting, w)
			continue
		}
		p := render.Page{URL: w.answer.URL, Header: w.answer.Header, Body: w.answer.Body}
		seen := s.cfg.Browser.Show(ctx, p, wait, s.get(w))
		switch {
		case ctx.Err() != nil:
			s.waiting = append(s.waiting, waiting[i:]...)
			return context.Cause(ctx)
		case seen.Outcome == render.Busy && !all:
			s.waiting = append(s.waiting, w)
			continue
		case seen.Outcome == render.Shut:
			s.cfg.Browser, s.waiting = nil, nil
			return nil
		}
		s.shown++
		if err := s.take(ctx, w, &seen); err != nil {
			return fmt.Errorf("crawl %s: %w", w.answer.URL, err)
		}
	}
	return nil
}

// take reads a page that was shown as any other. It stands on record as read twice; why not
// all of it was shown is why not all of its links were looked at.
func (s *shells) take(ctx context.Context, w *shell, seen *render.Shown) error {
	s.Log.InfoContext(ctx, "a page was shown in a browser", "url", w.answer.URL, "requests", seen.Requests,
		"refused", seen.Refused, "took", seen.Took, "outcome", seen.Outcome)
	if err := s.flush(ctx, end{}); err != nil { // which has its first reading
		return err
	}
	e, sum := &w.entry, sha256.Sum256(seen.HTML)
	v := frontier.Visit{Entry: e, Crawl: s.site.Crawl, At: time.Now(), State: frontier.Page, Content: sum[:]}
	e.Was = frontier.Page
	raw, header := w.answer.Body, w.answer.Header
	w.answer.Body, w.answer.Header = seen.HTML, http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	p, outcome, _ := w.answer.Parse(context.WithoutCancel(ctx))
	if dir := s.seen.around(w.answer.URL, v.Content); dir != "" && outcome == "" {
		outcome = outcomeLoop
	}
	if len(seen.HTML) == 0 || outcome != "" {
		w.answer.Body, w.answer.Header = raw, header
		p, _, _ = w.answer.Parse(context.WithoutCancel(ctx))
	}
	for _, why := range []gleaner.Outcome{outcome, seen.Outcome} {
		if why != "" && p != nil {
			p.Truncated = append(p.Truncated, string(why))
		}
	}
	if p == nil {
		return nil
	}
	r, err := s.readPage(ctx, e, &v, &w.answer, p)
	if err == nil && r.NewDocs > 0 {
		s.learn(ctx, &v, r)
	}
	return err
}

// get answers the requests of a page by the crawl's own way, and counts them as the site's.
func (s *shells) get(w *shell) render.Get {
	return func(ctx context.Context, r render.Request) (*render.Answer, error) {
		if a := s.scripts[r.URL]; a != nil {
			return a, nil
		}
		if err := s.mayAsk(w.answer.URL, r); err != nil {
			return nil, err
		}
		if err := s.mayGoOn(ctx); err != nil {
			if stop, ok := errors.AsType[*errStop](err); !ok || stop.ending != SliceFull {
				return nil, err
			}
		}
		resp, err := s.Source.(resources).resource(ctx, r.URL, w.answer.URL)
		if err == nil || answers(err) {
			s.progress.Requests++
			s.progress.URL = r.URL
			s.crawl.Pages++
		}
		if err != nil {
			return nil, err
		}
		defer resp.Release()
		s.progress.Bytes += resp.Bytes
		s.brings(&w.entry, max(resp.Bytes, int64(len(resp.Body))))
		if r.Script {
			return s.keep(r.URL, resp), nil
		}
		return &render.Answer{Status: resp.Status, Header: resp.Header, Body: bytes.Clone(resp.Body)}, nil
	}
}

// mayAsk reports why a page may not have something: data lies in its own domain, and
// scripts on other hosts only where the policy lets these be asked.
func (s *shells) mayAsk(from string, r render.Request) error {
	if why := s.scope.misshapen(r.URL); why != "" {
		return errors.New(string(why))
	}
	if !weburl.SameSite(from, r.URL) && (!r.Script || s.site.ParentDomain || s.cfg.Policy == PolicyWhitelist) {
		return errors.New("another domain")
	}
	return nil
}

// postpone has the pages that still wait asked for in the next slice.
func (s *shells) postpone(ctx context.Context) error {
	if len(s.waiting) == 0 {
		return nil
	}
	if err := s.flush(ctx, end{}); err != nil {
		return err
	}
	for _, w := range s.waiting {
		now := time.Now()
		s.batch.Visits = append(s.batch.Visits, frontier.Visit{Entry: &w.entry, Crawl: s.site.Crawl, At: now,
			State: frontier.Failed, Outcome: render.Busy,
			Reason: "its scripts were not read yet", NextTry: now, Content: []byte{}}) // so that it is read again
	}
	s.waiting = nil
	return nil
}
