package crawl

import (
	"context"
	"slices"
	"strings"

	"gleaner/internal/fetch"
	"gleaner/internal/frontier"
	"gleaner/internal/page"
	"gleaner/internal/rank"
	"gleaner/internal/weburl"
)

// wantedLead is how like a wanted title the words of a link to another host must
// be for it to be taken (0 to 1).
const wantedLead = 0.8

// indexedDepth is how many links from a homepage pages are indexed: further down
// there are papers, not people.
const indexedDepth = 2

// Outcomes of answers that came with status 200 and are not what was asked for.
const (
	outcomeSoftMissing fetch.Outcome = "soft-not-found"
	outcomeKind        fetch.Outcome = "wrong-mimetype"
	outcomeLoop        fetch.Outcome = "link-loop"
)

func (s *slice) page(ctx context.Context, e *frontier.Entry, v *frontier.Visit, resp *fetch.Response) (rank.Result, error) {
	v.State = frontier.Page
	s.progress.Pages++
	p, err := page.Parse(resp.URL, resp.Header, resp.Body)
	if err != nil {
		v.State, v.Outcome, v.Reason = frontier.Gone, outcomeKind, err.Error()
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
	if dir := s.seen.around(resp.URL, v.Content); dir != "" && e.Role == frontier.Member && !forwards(p) {
		v.State, v.Outcome, v.Reason = frontier.Gone, outcomeLoop, "the same page as one in "+dir
		return rank.Result{Page: p, Failed: true}, nil
	}
	v.Reason = leftOut(v.Reason, p.Truncated)
	if s.cfg.Index != nil && e.Role == frontier.Member && e.Depth <= indexedDepth && !p.NoIndex {
		s.pages = append(s.pages, p)
	}
	r := rank.Result{Page: p}
	if p.NoFollow {
		return r, nil
	}
	if err := s.patiently(ctx, func() error { return s.seen.learn(context.WithoutCancel(ctx), s.db.Pool, s.site.ID, p.Links) }); err != nil {
		return r, err
	}
	relevant := false
	for i := range p.Links {
		l := &p.Links[i]
		if e.Role == frontier.Landing && l.Heading == "" {
			l.Heading = p.Title // the paper's, where the link says "PDF"
		}
		citeAs(p, l)
		isNew, isDoc := s.enter(e, *l)
		relevant = relevant || isDoc
		if isNew {
			r.Found++
		}
		if isNew && isDoc {
			r.NewDocs++
		}
	}
	if e.Role == frontier.Member {
		s.seen.addContent(resp.URL, v.Content)
		s.crawl.Read++
		if relevant {
			s.crawl.Relevant++
		}
	}
	return r, nil
}

// forwards reports whether a page does no more than show others: such a page may
// well stand in many directories, and leads to something else in each.
func forwards(p *page.Page) bool {
	return len(p.Links) == 0 || slices.ContainsFunc(p.Links, func(l page.Link) bool {
		return l.Source == page.SourceFrame || l.Source == page.SourceRefresh
	})
}

// leftOut adds to a reason what a limit cut off.
func leftOut(reason string, what []string) string {
	if len(what) == 0 {
		return reason
	}
	return reason + "; left out beyond the limit: " + strings.Join(what, ", ")
}

// enter gives a link of a page its role, and enters it if it has one. It reports
// whether the link was new on this site, and whether it is named like a document
// that may be taken.
func (s *slice) enter(from *frontier.Entry, l page.Link) (isNew, isDoc bool) {
	if l.NoFollow || weburl.IsIgnoredType(l.URL) {
		return false, false
	}
	host := weburl.Host(l.URL)
	here := host == s.site.Host
	e := frontier.Entry{Candidate: rank.Candidate{Link: l, Parent: from.Link.URL, Depth: from.Depth + 1}}
	e.Derive()
	role, ok := s.role(from, &e, here)
	if !ok || e.Hash() == from.Hash() {
		return false, false
	}
	e.Role = role
	e.Derive()
	if !here {
		s.weigh(&e)
		s.lead(host, &e)
		return false, e.Document
	}
	asGood, met := s.seen.known(e.Hash(), e.Depth, role)
	if asGood {
		return false, e.Document
	}
	s.weigh(&e)
	if why := s.limit(&e, met); why != "" {
		s.skip(e, why)
		return false, false
	}
	s.strategy.Enter(own(&e))
	s.seen.add(e.Hash(), e.Depth, role)
	if !met {
		s.seen.enter(&e)
	}
	s.batch.AddLink(e)
	return !met, e.Document
}

// own gives an entry its own copy of the words that are parts of the page's
// text: a waiting link must not keep the page in memory.
func own(e *frontier.Entry) *rank.Candidate {
	l := &e.Link
	l.Anchor, l.Context, l.Heading, l.TagPath = strings.Clone(l.Anchor), strings.Clone(l.Context), strings.Clone(l.Heading), strings.Clone(l.TagPath)
	return &e.Candidate
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
	case from.Role == frontier.Landing && from.Link.Source == page.SourceListing && here:
		return frontier.Lead, e.Document && s.weigh(e) >= wantedLead
	case from.Role == frontier.Landing:
		return frontier.Lead, here && (e.Document || forward)
	case here && weburl.InScope(e.Link.URL, s.scopes) && s.nearEnough(e):
		return frontier.Member, true
	case !e.Document && s.inParentDomain(from, e):
		return frontier.Member, true
	case here && e.Document:
		// A sitemap lists whatever is on the host; a page names what is its own.
		return frontier.Lead, e.Link.Source != page.SourceSitemap
	case here:
		return frontier.Landing, s.besideRoot(from, e)
	}
	return s.offSiteRole(e)
}

// offSiteRole: a document on another host is a lead; so is a page there whose
// link reads like a wanted title, for the document that it names.
func (s *slice) offSiteRole(e *frontier.Entry) (frontier.Role, bool) {
	if s.cfg.Leads == "none" || e.Link.Source == page.SourceScript || e.Link.Source == page.SourceSitemap {
		return 0, false
	}
	s.weigh(e)
	switch {
	case e.Document && (s.cfg.Leads == "all" || e.Wanted >= wantedLead):
		return frontier.Lead, true
	case !e.Document && s.wanted.Likeness(e.Link.Anchor) >= wantedLead:
		return frontier.Landing, true
	}
	return 0, false
}

// weigh notes how like a wanted title a new link is, once.
func (s *slice) weigh(e *frontier.Entry) float64 {
	if e.Wanted == 0 {
		e.Wanted = s.likeness(&e.Link)
	}
	return e.Wanted
}

func (s *slice) likeness(l *page.Link) float64 {
	return max(s.wanted.Likeness(l.Anchor), s.wanted.Likeness(l.Context), s.wanted.Likeness(l.Heading))
}

// besideRoot lets the pages be read to which a homepage leads that is a file in
// the host's root (/ada.html): it has no directory that could be its scope. They
// are read for their documents alone, since the host may be a whole department's.
func (s *slice) besideRoot(from, e *frontier.Entry) bool {
	if e.Link.Source == page.SourceSitemap || e.Link.Source == page.SourceScript {
		return false
	}
	for _, p := range s.scopes {
		if p != "/" && strings.LastIndexByte(p, '/') == 0 && !strings.Contains(p, "?") && weburl.InScope(from.Link.URL, []string{p}) {
			return true
		}
	}
	return false
}
