package crawl

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"time"

	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/library/collection"
	"gleaner/internal/politeness"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
)

// web is the Source of a host, under its lease.
type web struct {
	*slice
	cached map[frontier.Hash]bool // answers in the page cache, fetched for the search for homepages
	room   int                    // bytes that the page cache may take of further answers
	last   string                 // the URL requested last; "" for none yet

	failed struct { // the last retryable failure
		url     string
		outcome gleaner.Outcome
	}
}

func (s *slice) openWeb(ctx context.Context) (*web, error) {
	hashes, bytes, err := s.db.CachedOn(ctx, s.site.Host, cacheAge)
	w := &web{slice: s, cached: make(map[frontier.Hash]bool, len(hashes)), room: maxCachedHost - bytes}
	for _, h := range hashes {
		w.cached[frontier.Hash(h)] = true
	}
	return w, err
}

func (w *web) Ready(context.Context) error {
	wait := w.lease.ParkedFor()
	if wait <= 0 {
		return nil
	}
	return &errStop{ending: Waiting, wait: wait, by: w.last,
		reason: fmt.Sprintf("the host is parked until %s: %s in a row, the last one %s (%s)",
			time.Now().Add(wait).UTC().Format(time.RFC3339),
			text.Count(w.lease.Failures(), "failure"), w.failed.outcome, w.failed.url)}
}

// terms returns the terms of every request: the host's lease, and the slice's WARC file.
func (w *web) terms() fetch.Terms {
	return fetch.Terms{Gate: w.keeper.Under(w.lease), Tape: w.keeping.Tape()}
}

func (w *web) Paced() bool { return w.lease.Paced() }

func (w *web) Sitemaps(ctx context.Context) ([]string, error) {
	urls, err := w.fetch.Sitemaps(ctx, w.site.Host, w.terms())
	if err := w.keeping.Write(ctx, "", "", -1); err != nil {
		return nil, err
	}
	return urls, w.hostTrouble(err)
}

// Ask implements Source. It takes the answer from the page cache, or fetches it. If the
// slice before this one died, Ask records the URL first, so that a URL that kills the
// process is identified.
func (w *web) Ask(ctx context.Context, e *frontier.Entry, known func(string) bool) (*Answer, error) {
	if w.attempts > 0 {
		if err := w.patiently(ctx, func() error { return w.db.Handling(context.WithoutCancel(ctx), w.of(), e.Hash()) }); err != nil {
			return nil, err
		}
	}
	if h := e.Hash(); w.cached[h] && e.Content == nil {
		delete(w.cached, h)
		if a := CachedAnswer(ctx, w.db, h); a != nil {
			return a, w.keeping.Cached(ctx, a.Response)
		}
	}
	resp, err := w.send(ctx, fetch.Request{Terms: w.terms(), URL: e.Link.URL, ETag: e.ETag, LastModified: e.LastModified,
		Known: func(to string) bool { return w.cached[frontier.HashOf(to)] || known(to) }, Unwanted: w.unwanted()})
	if err := w.keeping.Write(ctx, e.Link.URL, e.Parent, e.Depth); err != nil {
		resp.Release()
		return nil, err
	}
	var fe *fetch.Error
	if errors.As(err, &fe) && fetch.Retryable(fe.Outcome) {
		w.failed.url, w.failed.outcome = e.Link.URL, fe.Outcome
	}
	if err = w.hostTrouble(err); err != nil {
		resp.Release()
	}
	var stop *errStop
	if !errors.As(err, &stop) {
		w.last = e.Link.URL
		if fe != nil && fe.Status == 0 { // the host did not answer: no user's directory is the cause
			w.last = ""
		}
	}
	if err != nil {
		return nil, err
	}
	a := &Answer{Response: resp}
	if w.searched && resp.Status == http.StatusOK && len(resp.Body) <= min(maxCachedPage, w.room) && a.What() != collection.ContentDocument {
		w.cachePage(ctx, e.Link.URL, resp)
	}
	return a, nil
}

// resource implements resources. It fetches as Ask does, under the same lease, but only
// media types that scripts can read.
func (w *web) resource(ctx context.Context, r fetch.Request, parent string) (*fetch.Response, error) {
	foreign := !weburl.SameSite(parent, r.URL)
	r.Terms, r.Unwanted = w.terms(), func(h http.Header, _ int64) error {
		media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
		if !readByScripts.MatchString(media) || foreign && media == "text/html" {
			return errors.New("not what a script reads")
		}
		return nil
	}
	w.last = parent // the page counts as the cause of a pause
	resp, err := w.send(ctx, r)
	if err := w.keeping.Write(ctx, r.URL, parent, -1); err != nil {
		resp.Release()
		return nil, err
	}
	return resp, w.hostTrouble(err)
}

// foreign implements resources.
func (w *web) foreign(ctx context.Context, url string) error {
	return w.patiently(ctx, func() error {
		to, err := store.EnsureSite(ctx, w.db.Pool, weburl.Host(url))
		if err != nil {
			return err
		}
		return frontier.NoteLead(ctx, w.db.Pool, w.site.ID, to, frontier.HashOf(url))
	})
}

// madeOf implements resources.
func (w *web) madeOf(ctx context.Context, page frontier.Hash) (made []byte, err error) {
	err = w.patiently(ctx, func() error {
		made, err = frontier.MadeOf(ctx, w.db.Pool, w.site.ID, page)
		return err
	})
	return made, err
}

// readByScripts matches the media types of scripts, pages and data.
var readByScripts = regexp.MustCompile(`^text/|[/+](json|xml|javascript|x-javascript|ecmascript|x-bibtex)$`)

// maxCachedPage bounds a page in the page cache, and maxCachedHost those of one host, in bytes.
const (
	maxCachedPage = 1 << 20
	maxCachedHost = 64 << 20
)

// cachePage saves a page in the page cache, for the search for homepages that runs meanwhile. If
// it cannot be saved, the search fetches it.
func (w *web) cachePage(ctx context.Context, url string, r *fetch.Response) {
	for _, u := range slices.Compact([]string{url, r.URL}) {
		w.room -= len(r.Body)
		h := frontier.HashOf(u)
		err := w.db.SavePage(ctx, store.CachedPage{Hash: h[:], Host: weburl.Host(u), URL: u, FinalURL: r.URL, Outcome: string(gleaner.OK), Status: r.Status,
			Header: r.Header, Body: r.Body, At: r.FetchedAt, Crawled: true})
		if err != nil {
			w.log.WarnContext(ctx, "a page could not be saved in the page cache", "url", u, "error", err)
			return
		}
	}
}

// unwanted returns a function that rejects an answer by its header: for a file name that
// no paper has, or a PDF too small for one. It returns nil if nothing is rejected.
func (w *web) unwanted() func(http.Header, int64) error {
	if !w.Crawler.cfg.Names {
		return nil
	}
	return func(h http.Header, promised int64) error {
		_, disposition, _ := mime.ParseMediaType(h.Get("Content-Disposition"))
		if media, _, _ := mime.ParseMediaType(h.Get("Content-Type")); media != "application/pdf" {
			promised = 0
		}
		if why, is := document.UnwelcomeName(disposition["filename"], int(promised)); is {
			return errors.New(why)
		}
		return nil
	}
}

// send sends a request under the lease. It repeats the request if the record was
// unavailable before it was sent, or the lease ran out meanwhile.
func (w *web) send(ctx context.Context, r fetch.Request) (resp *fetch.Response, err error) {
	for {
		err = w.patiently(ctx, func() error {
			return guard.Logged(ctx, w.log, r.URL, func() error {
				resp, err = w.fetch.Fetch(ctx, r)
				return err
			})
		})
		if err == nil || ctx.Err() != nil || answers(err) || !w.lease.Lapsed() && !errors.Is(err, politeness.ErrLapsed) {
			return resp, err
		}
		if err := w.hold(ctx); err != nil {
			return nil, err
		}
	}
}

// hostTrouble turns an error of the whole host into an errStop. The last URL counts as the
// cause of a pause.
func (w *web) hostTrouble(err error) error {
	last := w.last
	if busy, ok := errors.AsType[*politeness.BusyError](err); ok {
		if busy.Paused != "" && busy.Of(w.site.Host) {
			return &errStop{ending: Denied, reason: gleaner.SitePaused}
		}
		if !busy.Asked && busy.Failures == 0 {
			last = ""
		}
		return &errStop{ending: Waiting, wait: busy.Wait, by: last, reason: busy.Error()}
	}
	var fe *fetch.Error
	if !errors.As(err, &fe) {
		return err
	}
	switch fe.Outcome {
	case fetch.RobotsUnavailable:
		return &errStop{ending: Refused, wait: fe.RetryAfter, reason: fmt.Sprintf("%v, so nothing may be fetched", fe.Err)}
	case fetch.Blacklisted: // since the slice began
		return &errStop{ending: Denied, reason: fe.Err.Error()}
	case fetch.NoContact:
		return &errStop{ending: Refused, reason: fe.Error()}
	}
	return err
}
