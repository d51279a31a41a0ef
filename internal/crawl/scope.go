package crawl

import (
	"context"
	"errors"
	"strings"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/text"
	"gleaner/internal/web/page"
	"gleaner/internal/web/rules"
	"gleaner/internal/web/weburl"
)

// wantedLead is how like a wanted title the words of a link to another host must
// be for it to be taken (0 to 1).
const wantedLead = 0.8

// scope says which links of a site's pages are taken, and as what. It looks at the
// link and where it stands, and asks nobody.
type scope struct {
	Site
	Config
}

// take makes an entry of a link of a page where it may be taken, on the page's own
// host (here) or another.
func (s *scope) take(from *frontier.Entry, link page.Link) (e frontier.Entry, here, ok bool) {
	here = weburl.Host(link.URL) == s.Host
	e = frontier.Entry{Candidate: page.Candidate{Link: link, Parent: from.Link.URL, Depth: from.Depth + 1}}
	e.Derive()
	if link.NoFollow || isIgnored(&link) &&
		// A source that is called like a wanted paper may be there in no other form.
		!(weburl.IsSourceName(link.URL) && s.Wanted.Likeness(link.Anchor) >= wantedLead) {
		return e, here, false
	}
	role, ok := s.role(from, &e, here)
	if !ok || e.Hash() == from.Hash() {
		return e, here, false
	}
	e.Role = role
	e.Derive()
	return e, here, true
}

// role decides what may be done with a link. Pages are followed in scope alone;
// documents are taken wherever they are on the host, and one hop beyond it.
func (s *scope) role(from, e *frontier.Entry, here bool) (frontier.Role, bool) {
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
	case here && weburl.InScope(e.Link.URL, s.Scopes) &&
		// PolicyWhitelist takes pages two steps away, and documents a step further.
		(s.Policy != PolicyWhitelist || e.Document || e.Depth <= parentDomainDepth):
		return frontier.Member, true
	case !e.Document && (s.inParentDomain(from, e) || s.listed(e)):
		return frontier.Member, true
	case e.Document && (here || s.inParentDomain(from, e)):
		// A sitemap lists whatever is on the host; a page names what is its own.
		return frontier.Lead, e.Link.Source != page.SourceSitemap
	case here && s.besideRoot(from, e):
		return frontier.Landing, true
	}
	return s.outsideRole(e, here)
}

// outsideRole: a document on another host is a lead; so is a page there, or outside the
// scope, whose link reads like a wanted title, for the document that it names.
// PolicyWhitelist leaves no domain.
func (s *scope) outsideRole(e *frontier.Entry, here bool) (frontier.Role, bool) {
	if s.Leads == "none" && !here || s.Policy == PolicyWhitelist || e.Link.Source == page.SourceScript || e.Link.Source == page.SourceSitemap {
		return 0, false
	}
	switch {
	case e.Document && s.Leads == "all":
		return frontier.Lead, true
	case !s.wantedItself(e):
		return 0, false
	case e.Document:
		return frontier.Lead, true
	}
	return frontier.Landing, true
}

// wantedItself reports whether a link reads like a wanted title: to a document by its
// words or those around it, to a page by its own.
func (s *scope) wantedItself(e *frontier.Entry) bool {
	if e.Document {
		return s.weigh(e) >= wantedLead
	}
	return s.Wanted.Likeness(e.Link.Anchor) >= wantedLead
}

// unfollowed says why a link has no role.
func unfollowed(e *frontier.Entry, here bool) gleaner.Outcome {
	switch {
	case e.Link.NoFollow:
		return "nofollow"
	case here:
		return "out-of-scope"
	}
	return "off-host"
}

// weigh notes how like a wanted title a new link is, once.
func (s *scope) weigh(e *frontier.Entry) float64 {
	if e.Wanted == 0 {
		e.Wanted = s.like(&e.Link, nil)
	}
	return e.Wanted
}

// like is how like a wanted title a link's words are, of titles of which had is false.
func (s *scope) like(l *page.Link, had func(title string) bool) float64 {
	of := func(words string) float64 { return s.Wanted.LikenessBut(words, had) }
	return max(of(l.Anchor), of(l.Context), of(l.Heading))
}

// unfound leaves of the likeness of a link on the host to wanted titles what is like papers
// that were not found here (found has normalised titles): the pages about one that was, and
// its other copies, are worth no more than their like. What was given from outside need not
// have the words for which it was given.
func (s *scope) unfound(e *frontier.Entry, found map[string]bool) {
	if e.Wanted > 0 && e.Parent != "" && len(found) > 0 {
		e.Wanted = s.like(&e.Link, func(title string) bool { return found[text.Normalise(title)] })
	}
}

// besideRoot lets the pages be read to which a homepage leads that is a file in
// the host's root (/ada.html): it has no directory that could be its scope. They
// are read for their documents alone, since the host may be a whole department's.
func (s *scope) besideRoot(from, e *frontier.Entry) bool {
	if e.Link.Source == page.SourceSitemap || e.Link.Source == page.SourceScript {
		return false
	}
	for _, p := range s.Scopes {
		if p != "/" && strings.LastIndexByte(p, '/') == 0 && !strings.Contains(p, "?") && weburl.InScope(from.Link.URL, []string{p}) {
			return true
		}
	}
	return false
}

// parentDomainDepth is how far links are followed by the ParentDomain rule;
// documents are taken from the last page, a step further.
const parentDomainDepth = 2

// inParentDomain is the ParentDomain rule for a link of a page.
func (s *scope) inParentDomain(from, e *frontier.Entry) bool {
	most := parentDomainDepth
	if e.Document {
		most++
	}
	return s.ParentDomain && e.Depth <= most && weburl.SameSite(from.Link.URL, e.Link.URL)
}

// listed reports whether an allow list names a page: it is followed then on
// whatever host, as far as the crawl's policy lets it.
func (s *scope) listed(e *frontier.Entry) bool {
	return s.Policy != PolicyWhitelist && s.Rules.Follows(e.Link.URL)
}

// keptOut names the rule of the lists that keeps a link out, and its entry; "" if
// none does. What a sitemap is called says nothing of what it lists.
func (s *scope) keptOut(e *frontier.Entry) (why gleaner.Outcome, entry string) {
	if e.Link.Source == sourceSitemapFile {
		return "", ""
	}
	if s.Names && e.Document && e.Link.Source != page.SourceCitation {
		if why, is := document.UnwelcomeName(e.Link.URL, 0); is {
			return gleaner.Outcome(rules.Unwelcome), why
		}
	}
	rule, entry := s.Rules.KeepsOut(e.Link.URL, e.Document)
	return gleaner.Outcome(rule), entry
}

// readmit lets those of a site's links wait that lists kept out before and do not now.
func (s *scope) readmit(ctx context.Context, q frontier.Querier, siteID int) (int, error) {
	return frontier.Readmit(ctx, q, siteID, rules.Names(), func(e *frontier.Entry) bool { why, _ := s.keptOut(e); return why != "" })
}

// outside names the limit on shape or depth that a link of any site exceeds, or
// the rule that keeps it out, "" if there is none.
func (s *scope) outside(e *frontier.Entry) gleaner.Outcome {
	if why := s.misshapen(e.Link.URL); why != "" {
		return why
	}
	if why, _ := s.keptOut(e); why != "" {
		return why
	}
	if e.Depth > s.MaxDepth {
		return frontier.TooDeep
	}
	return ""
}

func (s *scope) misshapen(url string) gleaner.Outcome {
	if shape, ok := errors.AsType[*weburl.ShapeError](s.Limits.CheckShape(url)); ok {
		return gleaner.Outcome(shape.Reason)
	}
	return ""
}
