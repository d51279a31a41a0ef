package crawl

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/library/collection"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// visit requests one URL and processes the answer according to its kind. An error ends
// the slice: ctx ended, the system failed, or the whole host is not available. The entry
// still waits then.
func (l *loop) visit(ctx context.Context, e *frontier.Entry, reason string) error {
	a, err := l.Source.Ask(ctx, e, func(url string) bool { return l.fetched(ctx, url) })
	defer a.Release()
	defer l.release()
	if stop, ok := errors.AsType[*errStop](err); ok {
		return stop
	}
	if err != nil && ctx.Err() != nil && !answers(err) {
		return context.Cause(ctx)
	}
	broken := guard.Panicked(err)
	if err != nil && !answers(err) && !broken {
		return fmt.Errorf("crawl %s: %w", e.Link.URL, err) // of the lease or the database
	}
	if err := l.Recorder.Hold(ctx); err != nil {
		return err
	}
	l.cached = a != nil && a.Cached
	l.progress.Requests++
	l.progress.URL = e.Link.URL
	l.limits.used.Pages++
	v := frontier.Visit{Entry: e, Reason: reason, Crawl: l.site.Crawl, At: time.Now()}
	if l.cached {
		v.At = a.FetchedAt
	}
	e.Tries++
	result, err := l.outcome(ctx, e, &v, a, err)
	if err != nil {
		return fmt.Errorf("crawl %s: %w", e.Link.URL, err)
	}
	l.schedule(e, &v, result)
	if e.Was == frontier.Page && v.State != frontier.Page && v.State != frontier.Failed {
		l.batch.Read = append(l.batch.Read, frontier.Reading{Page: e.Hash(), Again: true})
	}
	from := giverDomain(l.site.Host, e)
	if l.misses.count(from, &v); l.misses.over(from) != "" {
		defer l.leaveOut()
	}
	l.batch.Visits = append(l.batch.Visits, v)
	l.shells.read(e, a, result.Page)
	if broken {
		return &errStop{ending: SliceFull} // the record has the host's next turn, this lease does not
	}
	if l.kept != nil {
		// The document is stored; after a crash it need not be fetched again.
		if err := l.flush(ctx, end{}); err != nil {
			return err
		}
		if result, err = l.judge(ctx, a.URL); err != nil {
			return err
		}
	}
	l.learn(ctx, &v, result)
	return nil
}

// learn passes the result of a visit to the strategy.
func (l *loop) learn(ctx context.Context, v *frontier.Visit, r rank.Result) {
	if v.Unchanged() || v.Outcome == outcomeUnshown || v.Entry.Link.Source == sourceSitemapFile {
		return
	}
	l.stateChanged = true
	l.limits.history.Add(r)
	_ = guard.Logged(ctx, l.Log, v.Entry.Link.URL, func() error { l.Strategy.Observe(v.Entry.Candidate, r); return nil })
}

// answers reports whether an error of a request is the outcome of its URL.
func answers(err error) bool {
	var fe *fetch.Error
	return errors.As(err, &fe) && fe.Outcome != fetch.Canceled
}

// outcome processes the answer or the error of a request. The error it returns is the
// system's, never the URL's.
func (l *loop) outcome(ctx context.Context, e *frontier.Entry, v *frontier.Visit, a *Answer, err error) (result rank.Result, _ error) {
	if fe, ok := errors.AsType[*fetch.Error](err); ok {
		return l.failed(e, v, fe), nil
	}
	if err != nil {
		l.progress.Failed++
		return rank.Result{Failed: true}, setAside(v, err)
	}
	err = guard.Logged(ctx, l.Log, e.Link.URL, func() (err error) {
		result, err = l.answered(ctx, e, v, a)
		return err
	})
	if err == nil {
		return result, nil
	}
	l.release()
	l.progress.Failed++
	return rank.Result{Failed: true}, setAside(v, err)
}

// fetched reports whether a URL of this site was fetched in this crawl. A redirect to it
// need not be followed then.
func (l *loop) fetched(ctx context.Context, url string) bool {
	h := frontier.HashOf(url)
	for i := range l.batch.Visits {
		if v := &l.batch.Visits[i]; v.Entry.Hash() == h {
			return v.State == frontier.Page || v.State == frontier.Document
		}
	}
	return slices.ContainsFunc(l.batch.Aliases, func(e frontier.Entry) bool { return e.Hash() == h }) ||
		l.Recorder.Fetched(ctx, h)
}

// failed decides whether a failed request is repeated.
func (l *loop) failed(e *frontier.Entry, v *frontier.Visit, fe *fetch.Error) rank.Result {
	v.Outcome, v.Status = fe.Outcome, fe.Status
	if fe.Outcome == fetch.Unwanted {
		v.Reason = v.Reason + "; " + fe.Err.Error()
	}
	v.ETag, v.LastModified = e.ETag, e.LastModified
	l.limits.countBytes(e, fe.Bytes)
	switch {
	case fe.Outcome == fetch.RedirectKnown:
		v.State, v.Reason = frontier.Moved, "redirects to "+fe.Location
		l.batch.AddLink(target(e, fe.Location)) // it is fetched unless it was in this crawl
		return rank.Result{}
	case fe.Outcome == fetch.RedirectOffHost:
		v.State = frontier.Moved
		if why := l.links.redirected(e, fe.Location); why != "" {
			v.State, v.Outcome, v.Reason = frontier.Gone, why, "redirects to "+fe.Location
			l.progress.Failed++
			return rank.Result{Failed: true}
		}
		return rank.Result{}
	case fetch.Retryable(fe.Outcome):
		v.State = frontier.Failed
		v.NextTry = Again(fe, v.At, e.Tries, l.cfg.MaxTries, l.cfg.RetryBase)
	default:
		v.State = frontier.Gone
	}
	l.progress.Failed++
	return rank.Result{Failed: true}
}

// Again returns when a request that failed at a time is repeated, zero for never. The wait
// grows fourfold with each of at most most tries.
func Again(fe *fetch.Error, at time.Time, tries, most int, base time.Duration) (next time.Time) {
	if fetch.Retryable(fe.Outcome) && tries < most {
		next = at.Add(max(fe.RetryAfter, base<<(2*(tries-1))))
	}
	return next
}

// target returns the entry of the URL to which an entry redirects. It has the same place,
// and nothing from earlier answers.
func target(e *frontier.Entry, location string) frontier.Entry {
	to := *e
	to.Link.URL, to.Parent, to.Tries, to.ETag, to.LastModified = location, e.Link.URL, 0, "", ""
	to.Content, to.Was, to.Interval, to.Visited = nil, frontier.Waiting, 0, time.Time{}
	return to
}

// redirected gives the target of a redirect to another host as a lead, with the role and
// the words of the link that led there. It returns the limit that excludes it, "" for none.
func (q *enqueuer) redirected(e *frontier.Entry, location string) (limit gleaner.Outcome) {
	if why := q.scope.shapeLimit(location); why != "" {
		return why
	}
	to := target(e, location)
	to.Link.Source = page.SourceRedirect
	host := weburl.Host(location)
	if host == "" {
		return "" // unreachable: the fetcher refuses such a Location
	}
	// A homepage on another host is a new site with a scope of its own, which only the
	// search for homepages assigns. Here it is a single page.
	if to.Role == frontier.Member {
		to.Role = frontier.Landing
	}
	to.Derive()
	return q.give(host, &to)
}

// longestTag bounds ETag and Last-Modified together, in bytes. They are stored for each URL
// and sent with its next request.
const longestTag = 1 << 10

func (l *loop) answered(ctx context.Context, e *frontier.Entry, v *frontier.Visit, a *Answer) (rank.Result, error) {
	v.Outcome, v.Status, v.Bytes = gleaner.OK, a.Status, a.Bytes
	if tag, modified := a.Header.Get("Etag"), a.Header.Get("Last-Modified"); len(tag)+len(modified) <= longestTag {
		v.ETag, v.LastModified = tag, modified
	}
	l.progress.Bytes += a.Bytes
	l.limits.countBytes(e, max(a.Bytes, int64(len(a.Body))))
	if a.Status == 304 {
		return l.unchanged(e, v), nil
	}
	sum := sha256.Sum256(a.Body)
	v.Content = sum[:]
	if e.Was != frontier.Waiting && bytes.Equal(v.Content, e.Content) && !l.shells.mustRender(ctx, e, v, a) {
		return l.unchanged(e, v), nil
	}
	if a.URL != e.Link.URL {
		l.alias(e, a.URL)
	}
	if e.Link.Source == sourceSitemapFile {
		l.sitemap(e, v, a)
		return rank.Result{}, nil
	}
	switch a.What() {
	case collection.ContentDocument:
		return l.document(ctx, e, v, a)
	case collection.ContentPage:
		r, err := l.page(ctx, e, v, a)
		if err == nil {
			err = l.paperPage(ctx, e, v, a, r)
		}
		return r, err
	}
	v.State, v.Outcome = frontier.Gone, WrongKind
	return rank.Result{Failed: true}, nil
}

// alias records the target of a redirect on the host as fetched, so that a link to it does
// not fetch the same page again.
func (l *loop) alias(e *frontier.Entry, final string) {
	if weburl.Key(final) == weburl.Key(e.Link.URL) {
		return
	}
	to := *e
	to.Link.URL, to.Parent, to.Link.Source = final, e.Link.URL, page.SourceRedirect
	l.batch.Aliases = append(l.batch.Aliases, to)
	l.links.seen.add(to.Hash(), 0, frontier.Member)
	l.window.drop(to.Hash())
}
