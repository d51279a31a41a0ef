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

	"golang.org/x/net/html"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/record/frontier"
	"gleaner/internal/render"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Bounds of the pages of one slice that a browser shows.
const (
	maxShells     = 16               // pages that wait until their scripts were read
	maxShell      = 128 << 10        // bytes of one
	maxShown      = 50               // pages
	maxKeptScript = 8 << 20          // bytes of scripts and data that are kept for the next page
	maxForeign    = 100              // scripts on other hosts
	maxPostponed  = 5                // times that a page is asked for anew to be shown
	busyWait      = 10 * time.Minute // until a page is asked for again that found no browser
	showWait      = time.Minute      // for a browser, where nothing else waits
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
	foreign int             // scripts of other hosts that were asked for
	failing map[string]bool // other hosts that gave one no script
}

type shell struct {
	entry  frontier.Entry
	answer Answer
	unread map[string]bool // its scripts that wait for their visit
	names  map[string]bool // the scripts that its HTML names
	halted bool            // something was refused since the crawl is to end or to wait
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
	w := &shell{entry: *e, answer: Answer{Response: resp, Parent: e.Parent}, unread: map[string]bool{}, names: namedScripts(a.URL, a.Body)}
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
		if delete(w.unread, url); !has && a != nil && a.Status == http.StatusOK { // not what is as it was
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
		var stop *errStop
		if err := s.mayGoOn(ctx); err != nil && (i > 0 || !errors.As(err, &stop) || stop.ending != SliceFull) {
			s.waiting = append(s.waiting, waiting[i:]...)
			return err
		}
		p := render.Page{URL: w.answer.URL, Header: w.answer.Header, Body: w.answer.Body}
		seen := s.cfg.Browser.Show(ctx, p, wait, s.get(w))
		switch {
		case ctx.Err() != nil:
			s.waiting = append(s.waiting, waiting[i:]...)
			return context.Cause(ctx)
		case w.halted || seen.Outcome == render.Busy && (!all || w.entry.Tries < 3):
			w.halted, s.waiting = false, append(s.waiting, w)
			if seen.Outcome == render.Busy && all {
				s.waiting = append(s.waiting, waiting[i+1:]...)
				return s.postpone(ctx, busyWait)
			}
			continue
		case seen.Outcome == render.Shut:
			s.cfg.Browser, s.waiting = nil, nil
			return nil
		}
		s.shown++
		err := guard.Logged(ctx, s.Log, w.answer.URL, func() error { return s.take(ctx, w, &seen) })
		if err != nil && !guard.Panicked(err) {
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
		if err := s.mayAsk(w, r); err != nil {
			return nil, err
		}
		if err := s.mayGoOn(ctx); err != nil {
			if stop, ok := errors.AsType[*errStop](err); !ok || stop.ending != SliceFull {
				w.halted = true
				return nil, err
			}
		}
		resp, err := s.Source.(resources).resource(ctx, r.URL, w.answer.URL)
		if host := weburl.Host(r.URL); host != s.site.Host {
			s.foreign++
			s.failing[host] = err != nil || resp.Status != http.StatusOK
		}
		if err == nil || answers(err) {
			s.progress.Requests++
			s.progress.URL = r.URL
			s.crawl.Pages++
		}
		if err != nil {
			if answers(err) {
				s.scripts[r.URL] = &render.Answer{Status: http.StatusNotFound} // it is not asked for again
			}
			return nil, err
		}
		defer resp.Release()
		s.progress.Bytes += resp.Bytes
		s.brings(&w.entry, max(resp.Bytes, int64(len(resp.Body))))
		return s.keep(r.URL, resp), nil
	}
}

// mayAsk reports why a page may not have something. Data lies in the site's scope, or, where
// that is the whole host, in its domain: users of one host are not to read one another's
// through the crawl. Scripts on other hosts are those that the page itself names, where leads
// may go to others, and a host that fails is left alone.
func (s *shells) mayAsk(w *shell, r render.Request) error {
	if why := s.scope.misshapen(r.URL); why != "" {
		return errors.New(string(why))
	}
	if rule, _ := s.site.Rules.KeepsOut(r.URL, false); rule != "" {
		return errors.New(string(rule))
	}
	host := weburl.Host(r.URL)
	whole := slices.Contains(s.site.Scopes, "/")
	switch {
	case host == s.site.Host && (whole || weburl.InScope(r.URL, s.site.Scopes) || r.Script && w.names[r.URL]):
		return nil
	case s.failing[host] || s.foreign >= maxForeign:
		return errors.New("enough of other hosts")
	case host != s.site.Host && whole && weburl.SameSite(w.answer.URL, r.URL):
		return nil
	case !r.Script || !w.names[r.URL] || s.site.ParentDomain || s.cfg.Policy == PolicyWhitelist || s.cfg.Leads == "none":
		return errors.New("not the page's own")
	}
	return nil
}

// namedScripts are the scripts that a page's HTML names.
func namedScripts(base string, body []byte) map[string]bool {
	names := map[string]bool{}
	for t := html.NewTokenizer(bytes.NewReader(body)); t.Next() != html.ErrorToken; {
		token := t.Token()
		for _, a := range token.Attr {
			if token.Data == "script" && a.Key == "src" || token.Data == "link" && a.Key == "href" {
				if abs, err := weburl.Canonical(base, a.Val); err == nil {
					names[abs] = true
				}
			}
		}
	}
	return names
}

// postpone has the pages that still wait asked for in a later slice.
func (s *shells) postpone(ctx context.Context, wait time.Duration) error {
	if len(s.waiting) == 0 {
		return nil
	}
	if err := s.flush(ctx, end{}); err != nil {
		return err
	}
	for _, w := range s.waiting {
		if w.entry.Tries >= maxPostponed {
			continue
		}
		now := time.Now()
		s.batch.Visits = append(s.batch.Visits, frontier.Visit{Entry: &w.entry, Crawl: s.site.Crawl, At: now,
			State: frontier.Failed, Outcome: render.Busy,
			Reason: "its scripts were not read yet", NextTry: now.Add(wait), Content: []byte{}}) // so that it is read again
	}
	s.waiting = nil
	return nil
}
