package crawl

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"golang.org/x/net/html"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/render"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Bounds of the pages of one site that a browser shows.
const (
	maxShown      = 300              // pages of one crawl
	shownFailing  = 10               // pages that a failure counts as
	maxKeptScript = 8 << 20          // bytes of scripts and data that are kept for the next page
	maxForeign    = 100              // scripts on other hosts in one slice
	maxMadeOf     = 64 << 10         // bytes of the list of what one page asked for
	maxBusy       = 6                // times that a page is asked for that finds no browser
	busyWait      = 10 * time.Minute // until a page is asked for again that found no browser
	showWait      = time.Minute      // for a browser, where nothing else waits
)

// Outcomes of pages that are to be shown.
const (
	outcomeUnshown gleaner.Outcome = "render-waiting" // until nothing else waits
	outcomeShown   gleaner.Outcome = "render-pages"   // maxShown was reached
)

// shells has a browser show the pages of a slice that scripts fill. Where a script was read
// and has a list of documents, no browser is needed. A page that is not shown yet has failed
// for now on the record, and is asked for again: by this slice where nothing else waits, or
// by whoever crawls the site next.
type shells struct {
	*loop
	waiting []*frontier.Entry
	lists   map[string]bool           // scripts that were read: whether one has documents
	answers map[string]*render.Answer // by URL, so that the next page does not ask for them
	bytes   int64                     // of answers
	shown   int                       // pages of this crawl
	foreign int                       // scripts of other hosts that were asked for
	failing map[string]bool           // other hosts that gave one no script
}

// shell is a page that is shown.
type shell struct {
	entry  *frontier.Entry
	url    string
	names  map[string]bool // the scripts that its HTML names
	halted gleaner.Outcome // why something was refused that may be had later
	cut    bool            // something was refused for its bound
	made   []part
}

// part is something that a page is made of: itself, or what its scripts asked for.
type part struct {
	render.Request
	ETag, Modified string
	Sum            []byte // of its content; nil where there was none
}

func partOf(r render.Request, a *render.Answer) part {
	if a == nil || a.Status != http.StatusOK {
		return part{Request: r}
	}
	sum := sha256.Sum256(a.Body)
	p := part{Request: r, ETag: a.Header.Get("Etag"), Modified: a.Header.Get("Last-Modified"), Sum: sum[:]}
	if len(p.ETag)+len(p.Modified) > longestTag {
		p.ETag, p.Modified = "", ""
	}
	return p
}

// is reports whether a page is one that a browser is to show.
func (s *shells) is(e *frontier.Entry, p *page.Page) bool {
	_, answers := s.Source.(resources)
	return p != nil && p.Shell && e.Role == frontier.Member && !p.NoFollow && s.cfg.Browser != nil && answers
}

// page reads a page as it came, has a browser show it where that is due, and reads what it
// shows.
func (s *shells) page(
	ctx context.Context, e *frontier.Entry, v *frontier.Visit, a *Answer, p *page.Page,
) (rank.Result, error) {
	before := len(s.batch.Read)
	r, err := s.readPage(ctx, e, v, a, p)
	unread, listed := s.scripts(ctx, p)
	if err != nil || listed {
		return r, err
	}
	plain, content := s.batch.Read[before], v.Content
	s.batch.Read = s.batch.Read[:before]
	v.ETag, v.LastModified, v.Content = "", "", nil // so that it comes whole
	e.ETag, e.LastModified = "", ""
	made, err := s.Source.(resources).madeOf(ctx, e.Hash())
	switch {
	case err != nil:
		return r, err
	case s.shown >= maxShown:
		return s.later(e, v, outcomeShown), nil
	case e.Tries == 1 && unread && made == nil:
		return s.later(e, v, outcomeUnshown), nil
	}
	e.Tries = max(e.Tries, 2)
	w := &shell{entry: e, url: a.URL, names: namedScripts(a.URL, a.Body)}
	w.made = []part{{Sum: content}}
	defer func() {
		if s.bytes > maxKeptScript || w.halted == render.Busy {
			s.forget()
		}
	}()
	if e.Was == frontier.Page && s.same(ctx, w, made) {
		s.progress.Pages--
		return s.unchanged(e, v), nil
	}
	seen := s.show(ctx, w, a)
	switch outcome := cmp.Or(w.halted, seen.Outcome); {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case seen.Outcome == render.Shut:
		s.batch.Read = append(s.batch.Read, plain)
		return s.later(e, v, render.Shut), nil
	case w.halted != "" || len(seen.HTML) == 0:
		return s.later(e, v, outcome), nil
	}
	return s.take(ctx, e, v, a, &plain, w, &seen)
}

// scripts reports whether scripts of a page are still to be read, and whether one that was
// read has a list of documents.
func (s *shells) scripts(ctx context.Context, p *page.Page) (unread, listed bool) {
	for i := range p.Links {
		to := p.Links[i].URL
		if p.Links[i].Source != page.SourceList {
			continue
		}
		has, read := s.lists[to]
		_, taken := s.seen.known(frontier.HashOf(to), 0, 0)
		listed = listed || has
		unread = unread || taken && !read && !s.fetched(ctx, to)
	}
	return unread, listed
}

// later leaves a page on record as one that is still to be shown, in this crawl or, where
// that was tried often enough, in the next.
func (s *shells) later(e *frontier.Entry, v *frontier.Visit, why gleaner.Outcome) rank.Result {
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
		tries, wait = frontier.MaxDeaths, s.cfg.RetryBase
		s.shown += shownFailing
	}
	if e.Tries > tries {
		s.progress.Failed++
		return rank.Result{Failed: true}
	}
	if v.NextTry = v.At.Add(wait); v.Outcome == outcomeUnshown {
		s.waiting = append(s.waiting, e)
	}
	return rank.Result{}
}

// again puts the first page that waits among those that are asked for.
func (s *shells) again() {
	s.window.put(s.waiting[0])
	s.waiting = s.waiting[1:]
}

// read takes what a visit found in a script, as long as a page waits.
func (s *shells) read(e *frontier.Entry, a *Answer, p *page.Page) {
	if len(s.waiting) == 0 || e.Link.Source != page.SourceList {
		return
	}
	has := p != nil && slices.ContainsFunc(p.Links, func(l page.Link) bool {
		return l.Source == page.SourceList || weburl.IsDocumentName(l.URL)
	})
	s.lists[e.Link.URL] = has
	if !has && a != nil && a.Status == http.StatusOK { // not what is as it was
		s.keep(e.Link.URL, a.Response)
	}
}

// keep keeps an answer for the pages that are shown; nil says that it has no room.
func (s *shells) keep(url string, r *fetch.Response) *render.Answer {
	if _, had := s.answers[url]; had || !s.cfg.Memory.Keep(int64(len(r.Body))) {
		return s.answers[url]
	}
	a := &render.Answer{Status: r.Status, Header: r.Header, Body: bytes.Clone(r.Body)}
	s.bytes += int64(len(a.Body))
	s.answers[url] = a
	return a
}

// forget gives back what was kept.
func (s *shells) forget() {
	s.cfg.Memory.Forget(s.bytes)
	s.bytes = 0
	clear(s.answers)
}

// same reports whether a page is made of what it was made of when it was shown last: each
// part is asked for anew, and comes only where it is another.
func (s *shells) same(ctx context.Context, w *shell, made []byte) bool {
	var parts []part
	if json.Unmarshal(made, &parts) != nil || len(parts) == 0 || !bytes.Equal(parts[0].Sum, w.made[0].Sum) {
		return false
	}
	for _, was := range parts[1:] {
		if now := s.part(ctx, w, was); w.halted != "" || !bytes.Equal(now.Sum, was.Sum) {
			return false
		}
	}
	return true
}

// part is what a part of a page is now.
func (s *shells) part(ctx context.Context, w *shell, was part) part {
	a := s.answers[was.URL]
	if a == nil {
		a, _ = s.ask(ctx, w, was)
	}
	if a != nil && a.Status == http.StatusNotModified {
		return was
	}
	return partOf(was.Request, a)
}

// show has the browser show a page.
func (s *shells) show(ctx context.Context, w *shell, a *Answer) (seen render.Shown) {
	if w.halted != "" {
		return seen
	}
	wait := time.Duration(0)
	if s.window.empty() {
		wait = showWait
	}
	p := render.Page{URL: a.URL, Header: a.Header, Body: a.Body}
	seen = s.cfg.Browser.Show(ctx, p, wait, func(ctx context.Context, r render.Request) (*render.Answer, error) {
		got, err := s.answers[r.URL], error(nil)
		if got == nil {
			got, err = s.ask(ctx, w, part{Request: r})
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

// take reads a page that was shown as any other. Where what is shown is no page, it is read
// as it came. Why not all of it was shown is why not all of its links were looked at.
func (s *shells) take(ctx context.Context, e *frontier.Entry, v *frontier.Visit, a *Answer,
	plain *frontier.Reading, w *shell, seen *render.Shown) (r rank.Result, err error) {
	s.shown++
	sum := sha256.Sum256(seen.HTML)
	v.Content = sum[:]
	html := &fetch.Response{URL: a.URL, Status: a.Status, Body: seen.HTML, FetchedAt: a.FetchedAt,
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}}
	p, outcome, _ := (&Answer{Response: html, Parent: a.Parent}).Parse(context.WithoutCancel(ctx))
	if outcome == "" && s.seen.around(a.URL, v.Content) != "" {
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
	if made, failed := json.Marshal(w.made); failed == nil && why == "" && len(made) <= maxMadeOf {
		last.MadeOf = made
	}
	if last.Kept == nil && !last.NoRoom {
		last.Kept, _ = packLinks(nil)
	}
	return r, err
}

// ask asks for something of a page by the crawl's own way, and counts it as the site's. An
// answer that it is as it was has the status 304.
func (s *shells) ask(ctx context.Context, w *shell, was part) (*render.Answer, error) {
	if err := s.mayAsk(w, was.Request); err != nil {
		return nil, err
	}
	if err := s.mayGoOn(ctx); err != nil {
		if stop, ok := errors.AsType[*errStop](err); !ok || stop.ending != SliceFull {
			w.halted = outcomeUnshown
			return nil, err
		}
	}
	q := fetch.Request{URL: was.URL, ETag: was.ETag, LastModified: was.Modified}
	resp, err := s.Source.(resources).resource(ctx, q, w.url)
	host := weburl.Host(was.URL)
	if host != s.site.Host {
		s.foreign++
		s.failing[host] = err != nil
	}
	switch {
	case err == nil:
	case answers(err):
		s.answers[was.URL] = &render.Answer{Status: http.StatusNotFound} // it is not asked for again
	case host == s.site.Host:
		w.halted = outcomeUnshown
		return nil, err
	default:
		w.cut = true
		return nil, err
	}
	s.progress.Requests++
	s.progress.URL = was.URL
	s.crawl.Pages++
	if err != nil {
		return nil, err
	}
	defer resp.Release()
	s.progress.Bytes += resp.Bytes
	s.brings(w.entry, max(resp.Bytes, int64(len(resp.Body))))
	if resp.Status == http.StatusNotModified {
		return &render.Answer{Status: resp.Status}, nil
	}
	a := s.keep(was.URL, resp)
	if a == nil {
		w.halted = render.Busy
		return nil, errNoRoom
	}
	return a, nil
}

var errNoRoom = errors.New("crawl: no memory for what a page asks for")

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
	case s.failing[host]:
		return errors.New("a host that fails")
	case s.foreign >= maxForeign:
		w.cut = true
		return errors.New("enough of other hosts")
	case host != s.site.Host && whole && weburl.SameSite(w.url, r.URL):
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
