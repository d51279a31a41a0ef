package crawl

import (
	"context"
	"errors"

	"gleaner/internal/fetch"
	"gleaner/internal/frontier"
	"gleaner/internal/page"
	"gleaner/internal/rank"
	"gleaner/internal/weburl"
)

// wantedLead is how like a wanted title the words of a link to another host must
// be for it to be taken (0 to 1).
const wantedLead = 0.8

// Outcomes of answers that came with status 200 and are not what was asked for.
const (
	outcomeSoftMissing fetch.Outcome = "soft-not-found"
	outcomeKind        fetch.Outcome = "wrong-mimetype"
)

func (s *slice) page(e *frontier.Entry, v *frontier.Visit, resp *fetch.Response) (rank.Result, error) {
	v.State = frontier.Page
	s.progress.Pages++
	p, err := page.Parse(resp.URL, resp.Header, resp.Body)
	if err != nil {
		v.Outcome, v.Reason = fetch.BadAnswer, err.Error()
		return rank.Result{Failed: true}, nil
	}
	if p.Wall != page.NoWall {
		v.State, v.Outcome = frontier.Gone, fetch.Outcome(p.Wall)
		return rank.Result{Page: p, Failed: true}, nil
	}
	if p.SoftMissing {
		v.State, v.Outcome = frontier.Gone, outcomeSoftMissing
		return rank.Result{Page: p, Failed: true}, nil
	}
	r := rank.Result{Page: p}
	if p.NoFollow {
		return r, nil
	}
	for _, l := range p.Links {
		isNew, isDoc := s.enter(e, l)
		if isNew {
			r.Found++
		}
		if isNew && isDoc {
			r.NewDocs++
		}
	}
	return r, nil
}

// enter gives a link of a page its role, and enters it if it has one. It reports
// whether the link was new on this site, and named like a document.
func (s *slice) enter(from *frontier.Entry, l page.Link) (isNew, isDoc bool) {
	if l.NoFollow || weburl.IsIgnoredType(l.URL) || weburl.Key(l.URL) == weburl.Key(from.Link.URL) {
		return false, false
	}
	host := weburl.Host(l.URL)
	here := host == s.site.Host
	e := frontier.Entry{Candidate: rank.Candidate{Link: l, Parent: from.Link.URL, Depth: from.Depth + 1, OffSite: !here,
		Document: weburl.IsDocumentName(l.URL) || l.Source == page.SourceCitation}}
	role, ok := s.role(from, &e, here)
	if !ok || e.Depth > s.cfg.MaxDepth || s.cfg.Limits.CheckShape(l.URL) != nil {
		return false, false
	}
	e.Role = role
	h := e.Hash()
	better, met := s.seen.known(h, e.Depth)
	if here && better {
		return false, false
	}
	if e.Wanted == 0 {
		e.Wanted = s.likeness(l)
	}
	s.strategy.Enter(&e.Candidate)
	if !here {
		s.batch.addLead(host, e)
		return false, false
	}
	s.seen.add(h, e.Depth)
	s.batch.add(e)
	return !met, e.Document
}

// role decides what may be done with a link. Pages are followed in scope alone;
// documents are taken wherever they are on the host, and one hop beyond it.
func (s *slice) role(from *frontier.Entry, e *frontier.Entry, here bool) (frontier.Role, bool) {
	forward := e.Link.Source == page.SourceRefresh || e.Link.Source == page.SourceFrame
	switch {
	case from.Role == frontier.Lead:
		// It was asked for as a document and a page came: its document is
		// taken where the page names it.
		return frontier.Lead, here && (e.Link.Source == page.SourceCitation || forward && e.Document)
	case from.Role == frontier.Landing:
		return frontier.Lead, here && (e.Document || forward)
	case here && weburl.InScope(e.Link.URL, s.scopes):
		return frontier.Member, true
	case here:
		return frontier.Lead, e.Document
	}
	return s.offSiteRole(e)
}

// offSiteRole: a document on another host is a lead; so is a page there whose
// link reads like a wanted title, for the document that it names.
func (s *slice) offSiteRole(e *frontier.Entry) (frontier.Role, bool) {
	if s.cfg.Leads == "none" || e.Link.Source == page.SourceScript || e.Link.Source == page.SourceSitemap {
		return 0, false
	}
	e.Wanted = s.likeness(e.Link)
	switch {
	case e.Document && (s.cfg.Leads == "all" || e.Wanted >= wantedLead):
		return frontier.Lead, true
	case !e.Document && s.wanted.Likeness(e.Link.Anchor) >= wantedLead:
		return frontier.Landing, true
	}
	return 0, false
}

func (s *slice) likeness(l page.Link) float64 {
	return max(s.wanted.Likeness(l.Anchor), s.wanted.Likeness(l.Context))
}

// enterSitemaps takes the links of a site's sitemaps once a crawl, at the lowest
// priority that the strategy gives.
func (s *slice) enterSitemaps(ctx context.Context) error {
	if !s.cfg.Sitemaps || s.site.CrawlPages > 0 || len(s.scopes) == 0 {
		return nil
	}
	todo, err := s.fetch.Sitemaps(ctx, s.site.Host)
	if trouble := hostTrouble(err); trouble != nil {
		return trouble
	}
	var unread *fetch.Error
	if err != nil && !errors.As(err, &unread) {
		return err
	}
	for n := 0; len(todo) > 0 && n < maxSitemaps; n++ {
		at := todo[0]
		todo = todo[1:]
		if weburl.Host(at) != s.site.Host {
			continue
		}
		resp, err := s.fetch.Fetch(ctx, fetch.Request{URL: at})
		if trouble := hostTrouble(err); trouble != nil {
			return trouble
		}
		var fe *fetch.Error
		if errors.As(err, &fe) {
			continue
		}
		if err != nil {
			return err
		}
		s.site.CrawlPages++
		s.progress.Requests++
		m, err := page.ParseSitemap(at, resp.Body)
		if err != nil {
			s.log.Info("sitemap cannot be read", "url", at, "error", err)
			continue
		}
		for _, other := range m.Sitemaps {
			todo = append(todo, other.URL)
		}
		for i, u := range m.Pages {
			s.enter(&frontier.Entry{Candidate: rank.Candidate{Link: page.Link{URL: at}}}, page.Link{URL: u.URL, Position: i, Source: page.SourceSitemap})
		}
	}
	return s.flush(ctx)
}

// maxSitemaps bounds how many sitemaps of one site are read in one crawl.
const maxSitemaps = 20
