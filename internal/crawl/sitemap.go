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

// sourceSitemapFile marks a sitemap itself. It waits in the frontier as any URL
// does, so that it is fetched once a crawl, tried again, and asked for with its
// validators later.
const sourceSitemapFile page.Source = "sitemap-file"

// sitemapQueue is below every strategy's, so that sitemaps take no place in the
// window from links.
const sitemapQueue = -1

const (
	maxSitemaps      = 20 // named by robots.txt, or by one index
	maxSitemapLevels = 3  // index within index
)

// enterSitemaps enters the sitemaps that robots.txt names, when a crawl begins.
func (l *loop) enterSitemaps(ctx context.Context) error {
	if !l.cfg.Sitemaps || l.crawl.Pages > 0 || len(l.scope.Scopes) == 0 {
		return nil
	}
	var found []string
	err := guard.Logged(ctx, l.Log, l.site.Host, func() (err error) { found, err = l.Source.Sitemaps(ctx); return err })
	var unread *fetch.Error
	if err != nil && !guard.Panicked(err) && (!errors.As(err, &unread) || unread.Outcome == fetch.Canceled) {
		return err
	}
	l.enterSitemapFiles("", found, 0)
	return l.flush(ctx, end{})
}

func (l *loop) enterSitemapFiles(parent string, urls []string, depth int) {
	for i, u := range urls {
		e := frontier.Entry{Role: frontier.Lead, Candidate: page.Candidate{Parent: parent, Depth: depth, Queue: sitemapQueue, Link: page.Link{URL: u, Position: i, Source: sourceSitemapFile}}}
		if weburl.Host(u) != l.site.Host {
			continue
		}
		if _, met := l.seen.known(e.Hash(), depth, e.Role); met {
			continue
		}
		if i >= maxSitemaps || depth >= maxSitemapLevels {
			l.skip(e, outcomeSitemaps)
			continue
		}
		l.seen.add(e.Hash(), depth, e.Role)
		l.batch.AddLink(e)
	}
}

// sitemap takes the links of a sitemap, at the priority that the strategy gives
// to what stands on no page.
func (l *loop) sitemap(e *frontier.Entry, v *frontier.Visit, a *Answer) {
	m, err := page.ParseSitemap(e.Link.URL, a.Body)
	if err != nil {
		v.State, v.Outcome, v.Reason = frontier.Gone, WrongKind, err.Error()
		return
	}
	v.State = frontier.Page
	v.Reason = leftOut(v.Reason, m.Truncated)
	files := each.Of(m.Sitemaps, func(f page.SitemapEntry) string { return f.URL })
	l.enterSitemapFiles(e.Link.URL, files, e.Depth+1)
	from := frontier.Entry{Candidate: page.Candidate{Link: e.Link}}
	telling := tellsChanges(m.Pages)
	for i, u := range m.Pages {
		l.enter(&from, page.Link{URL: u.URL, Position: i, Source: page.SourceSitemap})
		if telling && !u.LastMod.IsZero() && u.LastMod.Before(v.At) && weburl.Host(u.URL) == l.site.Host {
			l.batch.Changed = append(l.batch.Changed, frontier.Changed{Hash: frontier.HashOf(u.URL), At: u.LastMod})
		}
	}
}

// tellsChanges reports whether the times of a sitemap tell one page from
// another: many programs write the time of their own run beside all of them.
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
