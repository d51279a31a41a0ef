package crawl

import (
	"context"
	"errors"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/guard"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// sourceSitemapFile marks a sitemap itself. It waits in the frontier like any URL, so that
// it is fetched once a crawl, retried, and later requested with its validators.
const sourceSitemapFile page.Source = "sitemap-file"

// sitemapQueue is below all queues of strategies, so that sitemaps take no room from links in
// the window.
const sitemapQueue = -1

const (
	maxSitemaps      = 20 // named by robots.txt, or by one index
	maxSitemapLevels = 3  // index within index
)

// enterSitemaps enters the sitemaps that robots.txt names, when a crawl begins.
func (l *loop) enterSitemaps(ctx context.Context) error {
	if !l.cfg.Sitemaps || l.limits.used.Pages > 0 || len(l.links.scope.Scopes) == 0 {
		return nil
	}
	var found []string
	err := guard.Logged(ctx, l.Log, l.site.Host, func() (err error) { found, err = l.Source.Sitemaps(ctx); return err })
	var unread *fetch.Error
	if err != nil && !guard.Panicked(err) && (!errors.As(err, &unread) || unread.Outcome == fetch.Canceled) {
		return err
	}
	l.links.enterSitemapFiles("", found, 0)
	return l.flush(ctx, end{})
}

func (q *enqueuer) enterSitemapFiles(parent string, urls []string, depth int) {
	for i, u := range urls {
		e := frontier.Entry{Role: frontier.Lead, Candidate: page.Candidate{Parent: parent, Depth: depth, Queue: sitemapQueue, Link: page.Link{URL: u, Position: i, Source: sourceSitemapFile}}}
		if weburl.Host(u) != q.scope.Host {
			continue
		}
		if _, met := q.seen.known(e.Hash(), depth, e.Role); met {
			continue
		}
		if i >= maxSitemaps || depth >= maxSitemapLevels {
			q.skip(e, outcomeSitemaps)
			continue
		}
		q.seen.add(e.Hash(), depth, e.Role)
		q.batch.AddLink(e)
	}
}

// sitemap takes the links of a sitemap, with the strategy's priority for links of no page.
func (l *loop) sitemap(e *frontier.Entry, v *frontier.Visit, a *Answer) {
	m, err := page.ParseSitemap(e.Link.URL, a.Body)
	if err != nil {
		v.State, v.Outcome, v.Reason = frontier.Gone, WrongKind, err.Error()
		return
	}
	v.State = frontier.Page
	v.Reason = leftOut(v.Reason, m.Truncated)
	files := each.Of(m.Sitemaps, func(f page.SitemapEntry) string { return f.URL })
	l.links.enterSitemapFiles(e.Link.URL, files, e.Depth+1)
	from := frontier.Entry{Candidate: page.Candidate{Link: e.Link}}
	telling := tellsChanges(m.Pages)
	for i, u := range m.Pages {
		l.links.enter(&from, page.Link{URL: u.URL, Position: i, Source: page.SourceSitemap})
		if telling && !u.LastMod.IsZero() && u.LastMod.Before(v.At) && weburl.Host(u.URL) == l.site.Host {
			l.batch.Changed = append(l.batch.Changed, frontier.Changed{Hash: frontier.HashOf(u.URL), At: u.LastMod})
		}
	}
}

// tellsChanges reports whether the times of a sitemap differ between pages. Many programs
// write the time of their own run for all of them.
func tellsChanges(entries []page.SitemapEntry) bool {
	dated, times := 0, map[time.Time]bool{}
	for _, e := range entries {
		if !e.LastMod.IsZero() {
			dated++
			times[e.LastMod] = true
		}
	}
	return dated == 1 || len(times) > 1
}
