package crawl

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/render"
	"gleaner/internal/web/weburl"
)

// shell is a page that is rendered.
type shell struct {
	entry  *frontier.Entry
	url    string
	names  []string        // the scripts that its HTML names
	halted gleaner.Outcome // why a request failed that may succeed later
	cut    bool            // a request was refused for a bound
	made   []part
}

// part is a part of a rendered page: its HTML, or an answer to its scripts.
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

// sameWithin bounds the time of checking the parts of a page, before it is rendered instead.
const sameWithin = 2 * time.Minute

// keep keeps an answer for rendered pages, with the header fields that are used and not too
// long. It returns nil if there is no room.
func (s *shells) keep(url string, r *fetch.Response) *render.Answer {
	a := &render.Answer{Status: r.Status, Header: http.Header{}}
	size := int64(len(r.Body))
	for _, name := range []string{"Content-Type", "Access-Control-Allow-Origin", "Link", "Etag", "Last-Modified"} {
		if v := r.Header.Get(name); v != "" && len(v) <= longestTag {
			a.Header.Set(name, v)
			size += int64(len(name) + len(v))
		}
	}
	if _, had := s.answers[url]; had || !s.cfg.Memory.Keep(weburl.Owner(s.site.Host), size) {
		return s.answers[url]
	}
	a.Body = bytes.Clone(r.Body)
	s.bytes += size
	s.answers[url] = a
	return a
}

// forget releases the kept answers.
func (s *shells) forget() {
	s.cfg.Memory.Forget(weburl.Owner(s.site.Host), s.bytes)
	s.bytes = 0
	clear(s.answers)
}

// partsUnchanged reports whether the parts of a page are those of its last rendering. It requests each
// part conditionally.
func (s *shells) partsUnchanged(ctx context.Context, w *shell, made []byte) bool {
	var parts []part
	if json.Unmarshal(made, &parts) != nil || len(parts) == 0 || !bytes.Equal(parts[0].Sum, w.made[0].Sum) {
		return false
	}
	within, cancel := context.WithTimeout(ctx, sameWithin)
	defer cancel()
	for _, was := range parts[1:] {
		now := s.part(within, w, was)
		if ended(ctx, within) {
			w.halted = ""
			return false
		}
		if w.halted != "" || !bytes.Equal(now.Sum, was.Sum) {
			return false
		}
	}
	return true
}

// ended reports whether the time of a page is over, and that of the slice is not.
func ended(slice, page context.Context) bool { return page.Err() != nil && slice.Err() == nil }

// part returns the present state of a part of a page.
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

// ask requests a part of a page, as the crawl requests a URL, and counts the request. The
// answer for an unchanged part has the status 304.
func (s *shells) ask(ctx context.Context, w *shell, was part) (*render.Answer, error) {
	if err := s.mayAsk(w, was.Request); err != nil {
		return nil, err
	}
	if err := s.note(ctx, w, was.URL); err != nil {
		return nil, err
	}
	if err := s.checkContinue(ctx); err != nil {
		if stop, ok := errors.AsType[*errStop](err); !ok || stop.ending != SliceFull {
			w.halted = outcomeUnshown
			return nil, err
		}
	}
	q := fetch.Request{URL: was.URL, ETag: was.ETag, LastModified: was.Modified, Largest: maxPart,
		Known: func(to string) bool { // redirects obey the same rules
			return s.mayAsk(w, render.Request{URL: to, Script: was.Script}) != nil || s.note(ctx, w, to) != nil
		}}
	resp, err := s.Source.(resources).resource(ctx, q, w.url)
	own := weburl.Host(was.URL) == s.site.Host
	if !own {
		s.failing[weburl.Host(was.URL)] = err != nil
	}
	switch fe, _ := errors.AsType[*fetch.Error](err); {
	case err == nil:
	case own && (!answers(err) || ctx.Err() != nil):
		w.halted = outcomeUnshown
		return nil, err
	case !answers(err) || ctx.Err() != nil:
		w.cut = true
		return nil, err
	case !fetch.Retryable(fe.Outcome) || fe.Outcome == fetch.EmptyBody:
		w.cut = w.cut || fe.Outcome == fetch.TooLarge || fe.Outcome == fetch.Inflated
		s.answers[was.URL] = &render.Answer{Status: http.StatusNotFound} // it is not asked for again
	case own && w.entry.Tries <= frontier.MaxDeaths:
		w.halted = fe.Outcome
	default:
		w.cut = true
	}
	s.progress.Requests++
	s.progress.URL = was.URL
	s.limits.used.Pages++
	if err != nil {
		return nil, err
	}
	defer resp.Release()
	s.progress.Bytes += resp.Bytes
	s.limits.countBytes(w.entry, max(resp.Bytes, int64(len(resp.Body))))
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

// notALink is the likeness of a part to a wanted title, which is less than that of any link.
const notALink = -1

// note counts the URL of a part on another host as a lead to it. It returns an error if that
// would exceed a limit.
func (s *shells) note(ctx context.Context, w *shell, url string) error {
	host, user := weburl.Host(url), weburl.UserDirectory(w.url)
	if host == s.site.Host || slices.Contains(s.site.Scopes, "/") && weburl.SameSite(w.url, url) {
		return nil
	}
	e := frontier.Entry{}
	e.Link.URL = url
	if _, again := s.links.leads.wanted[e.Hash()]; again {
		return nil
	}
	of, why := user+" "+host, s.links.leads.tooMany(host, &e)
	if why == "" && s.foreign[of] >= maxLeadsPerHost/sharedHost {
		why = outcomeLeadsPerHost
	}
	if why != "" {
		w.cut = true
		return errors.New(string(why))
	}
	s.foreign[of]++
	s.links.leads.note(e.Hash(), host, notALink)
	return s.Source.(resources).foreign(ctx, url)
}

var errNoRoom = errors.New("crawl: no memory for what a page asks for")

// mayAsk returns an error if a page may not request a URL. Data must be in the site's scope,
// or in its domain if the scope is the whole host: users of one host must not read one
// another's data through the crawl. Scripts on other hosts must be named by the page
// itself, and leads be allowed. Hosts that fail are not requested again.
func (s *shells) mayAsk(w *shell, r render.Request) error {
	if why := s.links.scope.shapeLimit(r.URL); why != "" {
		return errors.New(string(why))
	}
	if rule, _ := s.site.Rules.KeepsOut(r.URL, false); rule != "" {
		return errors.New(string(rule))
	}
	host := weburl.Host(r.URL)
	_, met := s.failing[host]
	whole := slices.Contains(s.site.Scopes, "/")
	named := r.Script && slices.Contains(w.names, r.URL)
	switch {
	case host == s.site.Host && (whole || weburl.InScope(r.URL, s.site.Scopes) || named):
		return nil
	case s.failing[host], host != s.site.Host && !met && len(s.failing) >= maxForeign:
		w.cut = true
		return errors.New("a host that fails, or one too many")
	case host != s.site.Host && whole && weburl.SameSite(w.url, r.URL):
		return nil
	case !named || s.site.ParentDomain || s.cfg.Policy == PolicyWhitelist || s.cfg.Leads == "none":
		return errors.New("not the page's own")
	}
	return nil
}
