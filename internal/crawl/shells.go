package crawl

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/library/collection"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/render"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Bounds of rendering the pages of one site in a browser.
const (
	maxShown      = 300              // pages of one user in one crawl
	shownFailing  = 10               // pages that a failure counts as
	maxKeptScript = 8 << 20          // bytes of scripts and data kept for the next page
	maxReadScript = 4 << 20          // bytes of scripts kept for waiting pages
	maxForeign    = 10               // other hosts in one slice
	maxPart       = 4 << 20          // bytes of an answer to a page's script
	maxMadeOf     = 64 << 10         // bytes of the list of one page's requests
	maxBusy       = 6                // tries of a page while no browser is free
	busyWait      = 10 * time.Minute // between such tries
	showWait      = time.Minute      // for a browser, if nothing else waits
)

// Outcomes of pages that are to be shown.
const (
	outcomeUnshown gleaner.Outcome = "render-waiting" // it is rendered when nothing else waits
	outcomeShown   gleaner.Outcome = "render-pages"   // maxShown was reached
)

// shells renders the pages of a slice that scripts fill, in a browser. No browser is needed
// if a script that was read has a list of documents. A page that is not rendered yet is on
// record as a retryable failure. This slice requests it again when nothing else waits, or
// else a later one.
type shells struct {
	*loop
	waiting []waitingPage
	lists   map[string]bool           // scripts that were read, and whether one has documents
	answers map[string]*render.Answer // by URL, for later pages
	bytes   int64                     // of answers
	shown   map[string]int            // pages of this crawl by the user's directory
	failing map[string]bool           // other hosts with requests, and whether the last one failed
	foreign map[string]int            // URLs of other hosts requested in this slice, by user and host
}

// waitingPage is a page that waits for its scripts, with the records that are written if one of them has a list.
type waitingPage struct {
	visit frontier.Visit
	plain frontier.Reading
	names []string // its scripts
}

func newShells(l *loop) *shells {
	return &shells{loop: l, lists: map[string]bool{}, answers: map[string]*render.Answer{}, failing: map[string]bool{},
		shown: map[string]int{}, foreign: map[string]int{}}
}

// count counts rendered pages of the user with a URL.
func (s *shells) count(url string, pages int) { s.shown[weburl.UserDirectory(url)] += pages }

// limitReached reports whether the limit on rendered pages of a user, or of the host, is reached.
func (s *shells) limitReached(url string) bool {
	all := 0
	for _, pages := range s.shown {
		all += pages
	}
	return s.shown[weburl.UserDirectory(url)] >= maxShown || all >= maxShown*sharedHost
}

// needsBrowser reports whether a page needs a browser.
func (s *shells) needsBrowser(e *frontier.Entry, p *page.Page) bool {
	_, answers := s.Source.(resources)
	return p != nil && p.Shell && e.Role == frontier.Member && !p.NoFollow && answers
}

// mustRender reports whether an unchanged page must be rendered, since there was no browser at its
// last visit. Such a page has no tags on record.
func (s *shells) mustRender(ctx context.Context, e *frontier.Entry, v *frontier.Visit, a *Answer) bool {
	if e.ETag != "" || e.LastModified != "" || a.What() != collection.ContentPage {
		return false
	}
	p, _, _ := a.Parse(context.WithoutCancel(ctx))
	if !s.needsBrowser(e, p) {
		return false
	}
	v.ETag, v.LastModified = "", ""
	return s.cfg.Browser != nil
}

// page reads a page as received, renders it in a browser if necessary, and reads the result.
func (s *shells) page(
	ctx context.Context, e *frontier.Entry, v *frontier.Visit, a *Answer, p *page.Page,
) (rank.Result, error) {
	before := len(s.batch.Read)
	r, err := s.readPage(ctx, e, v, a, p)
	names, unread, listed := s.scripts(ctx, p)
	if err != nil || listed {
		return r, err
	}
	plain, content := s.batch.Read[before], v.Content
	waits := waitingPage{*v, plain, names}
	s.batch.Read = s.batch.Read[:before]
	v.ETag, v.LastModified, v.Content = "", "", nil // so that the next answer is a full one
	e.ETag, e.LastModified = "", ""
	made, err := s.Source.(resources).madeOf(ctx, e.Hash())
	switch {
	case err != nil:
		return r, err
	case s.limitReached(e.Link.URL):
		return s.postpone(e, v, outcomeShown), nil
	case e.Tries == 1 && unread && made == nil:
		s.waiting = append(s.waiting, waits)
		return s.postpone(e, v, outcomeUnshown), nil
	}
	e.Tries = max(e.Tries, 2)
	w := &shell{entry: e, url: a.URL, names: p.Scripts}
	w.made = []part{{Sum: content}}
	defer func() {
		if s.bytes > maxKeptScript || w.halted == render.Busy {
			s.forget()
		}
	}()
	if e.Was == frontier.Page && s.partsUnchanged(ctx, w, made) {
		s.progress.Pages--
		return s.unchanged(e, v), nil
	}
	seen := s.show(ctx, w, a)
	switch outcome := cmp.Or(w.halted, seen.Outcome); {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case seen.Outcome == render.Shut:
		s.batch.Read = append(s.batch.Read, plain)
		return s.postpone(e, v, render.Shut), nil
	case w.halted != "" || len(seen.HTML) == 0:
		if s.postpone(e, v, outcome); v.Outcome == outcomeUnshown && !v.NextTry.IsZero() {
			s.waiting = append(s.waiting, waits)
		}
		return rank.Result{Failed: v.NextTry.IsZero()}, nil
	}
	return s.take(ctx, e, v, a, &plain, w, &seen)
}

// scripts returns the scripts of a page, whether some are not read yet, and whether one that
// was read has a list of documents.
func (s *shells) scripts(ctx context.Context, p *page.Page) (names []string, unread, listed bool) {
	for i := range p.Links {
		to := p.Links[i].URL
		if p.Links[i].Source != page.SourceList {
			continue
		}
		names = append(names, to)
		has, read := s.lists[to]
		_, taken := s.links.seen.known(frontier.HashOf(to), 0, 0)
		listed = listed || has
		unread = unread || taken && !read && !s.fetched(ctx, to)
	}
	return names, unread, listed
}

// postpone records a page as one that must still be rendered, in this crawl or, after too many
// tries, in the next.
func (s *shells) postpone(e *frontier.Entry, v *frontier.Visit, why gleaner.Outcome) rank.Result {
	v.State, v.Outcome = frontier.Failed, why
	tries, wait := maxBusy, time.Duration(0)
	switch why {
	case outcomeUnshown:
	case outcomeShown, render.Shut:
		tries = 0
	case render.Busy:
		if wait = busyWait; !s.window.empty() {
			v.Outcome, wait = outcomeUnshown, 0
		}
	default:
		if tries, wait = frontier.MaxDeaths, s.cfg.RetryBase; !fetch.Retryable(why) {
			s.count(e.Link.URL, shownFailing)
		}
	}
	if e.Tries > tries {
		s.progress.Failed++
		return rank.Result{Failed: true}
	}
	v.NextTry = v.At.Add(wait)
	return rank.Result{}
}

// retryNext puts the first waiting page into the window.
func (s *shells) retryNext() {
	s.window.put(s.waiting[0].visit.Entry)
	s.waiting = s.waiting[1:]
}

// read notes whether a script has a list of documents, if a page waits for it.
func (s *shells) read(e *frontier.Entry, a *Answer, p *page.Page) {
	if len(s.waiting) == 0 || e.Link.Source != page.SourceList {
		return
	}
	has := p != nil && slices.ContainsFunc(p.Links, func(l page.Link) bool {
		return l.Source == page.SourceList || weburl.IsDocumentName(l.URL)
	})
	s.lists[e.Link.URL] = has
	if has {
		s.waiting = slices.DeleteFunc(s.waiting, func(w waitingPage) bool {
			return slices.Contains(w.names, e.Link.URL) && s.recordUnrendered(&w)
		})
	}
	ok := a != nil && a.Status == http.StatusOK // not 304
	if !has && ok && s.bytes+int64(len(a.Body)) <= maxReadScript {
		s.keep(e.Link.URL, a.Response)
	}
}

// recordUnrendered records that a waiting page was read as received.
func (s *shells) recordUnrendered(w *waitingPage) bool {
	s.schedule(w.visit.Entry, &w.visit, rank.Result{})
	s.batch.Read = append(s.batch.Read, w.plain)
	h := w.visit.Entry.Hash()
	at := slices.IndexFunc(s.batch.Visits, func(v frontier.Visit) bool { return v.Entry.Hash() == h })
	if at < 0 {
		s.batch.Visits = append(s.batch.Visits, w.visit)
	} else {
		s.batch.Visits[at] = w.visit
	}
	return true
}

// show renders a page in the browser.
func (s *shells) show(ctx context.Context, w *shell, a *Answer) (seen render.Shown) {
	if w.halted != "" {
		return seen
	}
	wait := time.Duration(0)
	if s.window.empty() {
		wait = showWait
	}
	p := render.Page{URL: a.URL, Header: a.Header, Body: a.Body}
	seen = s.cfg.Browser.Show(ctx, p, wait, func(serving context.Context, r render.Request) (*render.Answer, error) {
		got, err := s.answers[r.URL], error(nil)
		if got == nil {
			got, err = s.ask(serving, w, part{Request: r})
		}
		if err != nil && ended(ctx, serving) { // the page was read without it
			w.halted, w.cut = "", true
		}
		if got != nil || answers(err) {
			w.made = append(w.made, partOf(r, got))
		}
		return got, err
	})
	s.Log.InfoContext(ctx, "a page was shown in a browser", "url", a.URL, "requests", seen.Requests,
		"refused", seen.Refused, "took", seen.Took, "outcome", seen.Outcome)
	return seen
}

// take reads a rendered page like any other. If the result is no page, the page as received
// counts. A limit that cut the rendering is recorded as the reason for missing links.
func (s *shells) take(ctx context.Context, e *frontier.Entry, v *frontier.Visit, a *Answer,
	plain *frontier.Reading, w *shell, seen *render.Shown) (r rank.Result, err error) {
	pages := 1
	if seen.Outcome == render.Limit {
		pages = shownFailing
	}
	s.count(e.Link.URL, pages)
	sum := sha256.Sum256(seen.HTML)
	v.Content = sum[:]
	html := &fetch.Response{URL: a.URL, Status: a.Status, Body: seen.HTML, FetchedAt: a.FetchedAt,
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}}
	p, outcome, _ := (&Answer{Response: html, Parent: a.Parent}).Parse(context.WithoutCancel(ctx))
	if outcome == "" && s.links.seen.around(a.URL, v.Content) != "" {
		outcome = outcomeLoop
	}
	why := seen.Outcome
	if w.cut && why == "" {
		why = render.Cut
	}
	if outcome != "" {
		plain.Unread = string(outcome)
		s.batch.Read = append(s.batch.Read, *plain)
	} else {
		if why != "" {
			p.Truncated = append(p.Truncated, string(why))
		}
		a.Body, a.Header = html.Body, html.Header
		r, err = s.readPage(ctx, e, v, a, p)
	}
	if e.Was == frontier.Page && bytes.Equal(v.Content, e.Content) {
		v.Outcome = gleaner.NotModified
	}
	last := &s.batch.Read[len(s.batch.Read)-1]
	if made, failed := json.Marshal(w.made); failed == nil && why == "" {
		last.MadeOf = made
		if len(made) > maxMadeOf {
			last.MadeOf = []byte("[]") // it is always rendered again
		}
	}
	if last.Kept == nil && !last.NoRoom {
		last.Kept, _ = packLinks(nil)
	}
	return r, err
}
