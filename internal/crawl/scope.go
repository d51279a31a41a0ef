package crawl

import (
	"context"
	"errors"
	"slices"
	"strings"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/text"
	"gleaner/internal/web/page"
	"gleaner/internal/web/rules"
	"gleaner/internal/web/weburl"
)

// wantedLead is the least likeness (0 to 1) to a wanted title at which a link to another
// host is taken.
const wantedLead = 0.8

// scope decides which links of a site's pages are taken, and in which role. It uses only
// the link and its place, and makes no requests.
type scope struct {
	Site
	Config
}

// take returns the entry of a link of a page, whether it is on the page's own host (here),
// and whether it may be taken (ok).
func (s *scope) take(from *frontier.Entry, link page.Link) (e frontier.Entry, here, ok bool) {
	here = weburl.Host(link.URL) == s.Host
	e = frontier.Entry{Candidate: page.Candidate{Link: link, Parent: from.Link.URL, Depth: from.Depth + 1}}
	e.Derive()
	if link.NoFollow || isIgnored(&link) &&
		// A source file named like a wanted paper may be its only form.
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

// role returns the role of a link. Pages are followed only in scope; documents are taken
// anywhere on the host, and one hop beyond it.
func (s *scope) role(from, e *frontier.Entry, here bool) (frontier.Role, bool) {
	forward := e.Link.Source == page.SourceRefresh || e.Link.Source == page.SourceFrame
	switch {
	case from.Role == frontier.Lead:
		// A page came instead of a document. Its document is taken if the page names
		// one.
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
		// A sitemap lists all of the host; a page links to its own documents.
		return frontier.Lead, e.Link.Source != page.SourceSitemap
	case here && s.besideRoot(from, e):
		return frontier.Landing, true
	}
	return s.outsideRole(e, here)
}

// outsideRole returns the role of a link that leaves the scope. A document on another host
// is a lead. A page whose link reads like a wanted title is a landing page, for the
// document that it names. PolicyWhitelist does not leave the domain.
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

// wantedItself reports whether a link reads like a wanted title: for a document by its own
// words or those around it, for a page by its own.
func (s *scope) wantedItself(e *frontier.Entry) bool {
	if e.Document {
		return s.weigh(e) >= wantedLead
	}
	return s.Wanted.Likeness(e.Link.Anchor) >= wantedLead
}

// unfollowed returns why a link has no role.
func unfollowed(e *frontier.Entry, here bool) gleaner.Outcome {
	switch {
	case e.Link.NoFollow:
		return "nofollow"
	case here:
		return "out-of-scope"
	}
	return "off-host"
}

// weigh sets the likeness of a link to a wanted title, once.
func (s *scope) weigh(e *frontier.Entry) float64 {
	if e.Wanted == 0 {
		e.Wanted = s.like(&e.Link, nil)
	}
	return e.Wanted
}

// like returns the likeness of a link's words to the wanted titles for which had is false.
func (s *scope) like(l *page.Link, had func(title string) bool) float64 {
	of := func(words string) float64 { return s.Wanted.LikenessBut(words, had) }
	return max(of(l.Anchor), of(l.Context), of(l.Heading))
}

// discountFound reduces the likeness of a link on the host to that to papers not found here (found
// has normalised titles). Pages about a found paper, and its other copies, are worth no
// more than other links. Seeds keep their likeness, since they need not have its words.
func (s *scope) discountFound(e *frontier.Entry, found map[string]bool) {
	if e.Wanted > 0 && e.Parent != "" && len(found) > 0 {
		e.Wanted = s.like(&e.Link, func(title string) bool { return found[text.Normalise(title)] })
	}
}

// besideRoot reports whether a link comes from a homepage that is a file in the host's root
// (/ada.html), which has no directory as its scope. Such pages are read only for their
// documents, since the host may be a whole department's.
func (s *scope) besideRoot(from, e *frontier.Entry) bool {
	if e.Link.Source == page.SourceSitemap || e.Link.Source == page.SourceScript {
		return false
	}
	return slices.ContainsFunc(s.Scopes, func(p string) bool {
		return p != "/" && strings.LastIndexByte(p, '/') == 0 && !strings.Contains(p, "?") && weburl.InScope(from.Link.URL, []string{p})
	})
}

// parentDomainDepth is the depth to which the ParentDomain rule follows links. Documents are
// taken one step further.
const parentDomainDepth = 2

// inParentDomain applies the ParentDomain rule to a link of a page.
func (s *scope) inParentDomain(from, e *frontier.Entry) bool {
	most := parentDomainDepth
	if e.Document {
		most++
	}
	return s.ParentDomain && e.Depth <= most && weburl.SameSite(from.Link.URL, e.Link.URL)
}

// listed reports whether an allow list names a page, which is then followed on any host that
// the policy allows.
func (s *scope) listed(e *frontier.Entry) bool {
	return s.Policy != PolicyWhitelist && s.Rules.Follows(e.Link.URL)
}

// keptOut returns the rule of the lists that excludes a link, and its entry; "" for none.
// Sitemaps are not excluded, since their names say nothing of their links.
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

// readmit lets links of a site wait that the lists excluded before and no longer do.
func (s *scope) readmit(ctx context.Context, q frontier.Querier, siteID int) (int, error) {
	return frontier.Readmit(ctx, q, siteID, rules.Names(), func(e *frontier.Entry) bool { why, _ := s.keptOut(e); return why != "" })
}

// outside returns the limit on shape or depth that a link exceeds, or the rule that
// excludes it, "" for none.
func (s *scope) outside(e *frontier.Entry) gleaner.Outcome {
	if why := s.shapeLimit(e.Link.URL); why != "" {
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

func (s *scope) shapeLimit(url string) gleaner.Outcome {
	if shape, ok := errors.AsType[*weburl.ShapeError](s.Limits.CheckShape(url)); ok {
		return gleaner.Outcome(shape.Reason)
	}
	return ""
}
