package crawl

import (
	"context"
	"errors"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/frontier"
	"gleaner/internal/page"
	"gleaner/internal/rank"
	"gleaner/internal/weburl"
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
func (s *slice) enterSitemaps(ctx context.Context) error {
	if !s.cfg.Sitemaps || s.crawl.Pages > 0 || len(s.scopes) == 0 {
		return nil
	}
	found, err := s.fetch.Sitemaps(ctx, s.site.Host)
	if stop := hostTrouble(err); stop != nil {
		return stop
	}
	var unread *fetch.Error
	if err != nil && (!errors.As(err, &unread) || unread.Outcome == fetch.Canceled) {
		return err
	}
	s.enterSitemapFiles("", found, 0)
	return s.flush(ctx, false)
}

func (s *slice) enterSitemapFiles(parent string, urls []string, depth int) {
	for i, u := range urls {
		e := frontier.Entry{Role: frontier.Lead, Candidate: rank.Candidate{Parent: parent, Depth: depth, Queue: sitemapQueue, Link: page.Link{URL: u, Position: i, Source: sourceSitemapFile}}}
		if weburl.Host(u) != s.site.Host {
			continue
		}
		if _, met := s.seen.known(e.Hash(), depth, e.Role); met {
			continue
		}
		if i >= maxSitemaps || depth >= maxSitemapLevels {
			s.skip(e, outcomeSitemaps)
			continue
		}
		s.seen.add(e.Hash(), depth, e.Role)
		s.batch.AddLink(e)
	}
}

// sitemap takes the links of a sitemap, at the priority that the strategy gives
// to what stands on no page.
func (s *slice) sitemap(e *frontier.Entry, v *frontier.Visit, resp *fetch.Response) {
	m, err := page.ParseSitemap(e.Link.URL, resp.Body)
	if err != nil {
		v.State, v.Outcome, v.Reason = frontier.Gone, outcomeKind, err.Error()
		return
	}
	v.State = frontier.Page
	v.Reason = leftOut(v.Reason, m.Truncated)
	var files []string
	for _, f := range m.Sitemaps {
		files = append(files, f.URL)
	}
	s.enterSitemapFiles(e.Link.URL, files, e.Depth+1)
	from := frontier.Entry{Candidate: rank.Candidate{Link: e.Link}}
	telling := tellsChanges(m.Pages)
	for i, u := range m.Pages {
		s.enter(&from, page.Link{URL: u.URL, Position: i, Source: page.SourceSitemap})
		if telling && !u.LastMod.IsZero() && u.LastMod.Before(v.At) && weburl.Host(u.URL) == s.site.Host {
			s.batch.Changed = append(s.batch.Changed, frontier.Changed{Hash: frontier.HashOf(u.URL), At: u.LastMod})
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
