package homepage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/text"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

const (
	maxPlaces     = 2 // of one author
	maxPlacePages = 4 // fetched to find them, beyond the pages of the search
)

// papersLink is a link that may lead to the papers of a homepage, directly or through the site of
// a group.
type papersLink struct {
	of       string // the homepage
	url      string
	score    int  // the best link is followed first
	plain    bool // its anchor is "Publications" or the like
	viaGroup bool // it is not on the homepage itself
}

// places finds pages outside a homepage that list the person's papers. It follows the
// homepage's links "Publications", "Research" or "Our group" to other places.
func (a *authorSearch) places(ctx context.Context) error {
	var ways []papersLink
	for _, s := range a.candidates.sites {
		if s.c.Kept {
			ways = append(ways, a.papersLinks(s)...)
		}
	}
	bestFirst := func(a, b papersLink) int { return cmp.Compare(b.score, a.score) }
	slices.SortStableFunc(ways, bestFirst)
	a.reader.bound = a.reader.fetches + maxPlacePages
	for asked := map[string]bool{}; len(ways) > 0 && len(a.decision.Places) < maxPlaces; {
		w := ways[0]
		ways = ways[1:]
		if asked[AddressKey(w.url)] {
			continue
		}
		asked[AddressKey(w.url)] = true
		pg, final, err := a.reader.cachedOrGet(ctx, w.url)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case a.reader.recordErr != nil:
			return a.reader.recordErr
		case errors.Is(err, errTooMany):
			return nil
		case err != nil || asked[AddressKey(final)] && !sameAddress(final, w.url) || !a.mayHoldPapers(parseURL(final), pg.Title):
			continue
		}
		asked[AddressKey(final)] = true
		if rule := a.placeRule(pg, final); rule != "" {
			a.decision.Places = append(a.decision.Places,
				evidence.Place{URL: final, Scope: a.placeScope(final), Of: w.of, Rule: rule})
			continue
		}
		if !w.viaGroup && !w.plain {
			ways = append(ways, a.groupLinks(pg, final, w.of)...)
			slices.SortStableFunc(ways, bestFirst)
		}
	}
	return nil
}

// papersLinks returns the links of a homepage that may lead to papers elsewhere. Of a
// homepage that links to documents itself, these are only the plain ones.
func (a *authorSearch) papersLinks(s *site) (ways []papersLink) {
	holds := a.linksDocuments(s)
	for _, l := range s.page.Links {
		w := papersLink{of: s.c.URL, url: l.URL, plain: namesPublications(l.Anchor)}
		u := parseURL(l.URL)
		switch {
		case l.Source != page.SourceAnchor && l.Source != page.SourceArea || !a.mayHoldPapers(u, l.Anchor):
			continue
		case w.plain:
			w.score = 4
		case holds:
			continue
		case calledAny(l.Anchor, 4, paperWords):
			w.score = 3
		case calledAny(l.Anchor, 6, groupWords):
			w.score = 2
		default:
			continue
		}
		ways = append(ways, w)
	}
	return ways
}

// linksDocuments reports whether a homepage, or a fetched page of it, links to documents.
func (a *authorSearch) linksDocuments(s *site) bool {
	scope := []string{weburl.PathPrefix(s.c.URL)}
	for _, pg := range a.reader.pages {
		if documentLinks(pg) > 0 && bareHost(pg.URL) == bareHost(s.c.URL) && weburl.InScope(pg.URL, scope) {
			return true
		}
	}
	return documentLinks(s.page) > 0
}

// groupLinks returns the links to lists of papers on a group's page.
func (a *authorSearch) groupLinks(pg *page.Page, final, of string) (ways []papersLink) {
	for _, l := range pg.Links {
		if u := parseURL(l.URL); l.Source == page.SourceAnchor && namesPublications(l.Anchor) && weburl.SameSite(l.URL, final) && a.mayHoldPapers(u, l.Anchor) {
			ways = append(ways, papersLink{of: of, url: l.URL, score: 5, plain: true, viaGroup: true})
		}
	}
	return ways
}

// mayHoldPapers reports whether an address may be a page of papers and lies in nobody's
// homepage.
func (a *authorSearch) mayHoldPapers(u *url.URL, title string) bool {
	at := u.String()
	if u.Scheme != "http" && u.Scheme != "https" || isFile(u) || isPortal(u) || isPublisher(u, title) || belowFound(at, a.subject.CoAuthorHomepages) || belowFound(at, a.subject.Taken) {
		return false
	}
	return !slices.ContainsFunc(a.decision.Homepages, func(c evidence.Candidate) bool {
		return bareHost(c.URL) == bareHost(at) && weburl.InScope(at, []string{weburl.PathPrefix(c.URL)})
	})
}

// groupMentions is how often the name must occur on a group's list of papers.
const groupMentions = 3

// placeRule returns why a page is a place of the person's papers, or "" if it is none.
func (a *authorSearch) placeRule(pg *page.Page, final string) string {
	if saysMissing(pg) {
		return ""
	}
	titles, docs := a.person.titlesIn(text.Letters(pg.Text)), documentLinks(pg)
	named := a.person.mentions(text.Words(text.Head(pg.Text, 100_000)), groupMentions)
	called, _ := a.person.in(text.Words(pg.Title))
	own := max(called, a.person.inAddress(parseURL(final))) >= nameInitials
	switch {
	case titles > 0 && (named > 0 || own):
		return fmt.Sprintf("names the person, and %d of the wanted titles", titles)
	case own && docs > 0:
		return "bears the name, and links to " + text.Count(docs, "document")
	case named >= groupMentions && docs > 0:
		return "names the person again and again, and links to " + text.Count(docs, "document")
	}
	return ""
}

// placeScope returns the path prefix that is crawled for a place of papers. It is the
// directory with the person's name or a name for papers, else the page and what begins
// with its name. The rest of the host is the group's.
func (a *authorSearch) placeScope(final string) string {
	u := parseURL(final)
	for _, n := range a.person.names {
		root, personal := siteOf(u, n)
		least := nameInitials
		if weburl.PathPrefix(root) == "/" {
			least = nameNick // a host that bears the surname may be that of a group
		}
		if personal && a.person.inAddress(parseURL(root)) >= least {
			return weburl.PathPrefix(root)
		}
	}
	dir := strings.TrimSuffix(weburl.PagePrefix(final), "index")
	if name := path.Base(dir); strings.HasSuffix(dir, "/") && dir != "/" && (listsPapers(name) || namesPublications(name)) {
		return dir
	}
	return weburl.PagePrefix(final)
}
