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
	maxPlaces     = 2 // that are taken of one author
	maxPlacePages = 4 // that are asked for beyond those of the search, to find them
)

// way is a link that may lead to the papers of a homepage, from there or by way of the
// site of a group.
type way struct {
	of    string // the homepage
	url   string
	hope  int
	plain bool // called "Publications" or the like
	hop   bool // not from the homepage itself
}

// places looks where the papers lie that a homepage links to and does not hold: behind its
// own links "Publications", "Research" or "Our group" that leave it.
func (h *hunt) places(ctx context.Context) error {
	var ways []way
	for _, s := range h.sites {
		if s.c.Kept {
			ways = append(ways, h.waysFrom(s)...)
		}
	}
	h.bound = h.d.Fetches + maxPlacePages
	for asked := map[string]bool{}; len(ways) > 0 && len(h.d.Places) < maxPlaces; {
		slices.SortStableFunc(ways, func(a, b way) int { return cmp.Compare(b.hope, a.hope) })
		w := ways[0]
		ways = ways[1:]
		if asked[AddressKey(w.url)] {
			continue
		}
		asked[AddressKey(w.url)] = true
		pg, final, err := h.seen(ctx, w.url)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case h.broken != nil:
			return h.broken
		case errors.Is(err, errTooMany):
			return nil
		case err != nil || asked[AddressKey(final)] && !sameAddress(final, w.url) || !h.elsewhere(parseURL(final), pg.Title):
			continue
		}
		asked[AddressKey(final)] = true
		if rule := h.papersOn(pg, final); rule != "" {
			h.d.Places = append(h.d.Places, evidence.Place{URL: final, Scope: h.placeScope(final), Of: w.of, Rule: rule})
			continue
		}
		if !w.hop && !w.plain {
			ways = append(ways, h.waysOn(pg, final, w.of)...)
		}
	}
	return nil
}

// seen is a page that was fetched already, or is now.
func (h *hunt) seen(ctx context.Context, u string) (*page.Page, string, error) {
	if pg := h.pages[AddressKey(u)]; pg != nil {
		return pg, u, nil
	}
	return h.get(ctx, u)
}

// waysFrom are the links of a homepage that leave it for papers. Of one that holds
// documents itself only the plainest are followed.
func (h *hunt) waysFrom(s *site) (ways []way) {
	holds := h.holds(s)
	for _, l := range s.page.Links {
		w := way{of: s.c.URL, url: l.URL, plain: namesPublications(l.Anchor)}
		u := parseURL(l.URL)
		switch {
		case l.Source != page.SourceAnchor && l.Source != page.SourceArea || !h.elsewhere(u, l.Anchor):
			continue
		case w.plain:
			w.hope = 4
		case holds:
			continue
		case calledAny(l.Anchor, 4, paperWords):
			w.hope = 3
		case calledAny(l.Anchor, 6, groupWords):
			w.hope = 2
		default:
			continue
		}
		ways = append(ways, w)
	}
	return ways
}

// holds reports whether documents are linked from a homepage, or from a page of it that was
// looked at.
func (h *hunt) holds(s *site) bool {
	scope := []string{weburl.PathPrefix(s.c.URL)}
	for _, pg := range h.pages {
		if documentLinks(pg) > 0 && bareHost(pg.URL) == bareHost(s.c.URL) && weburl.InScope(pg.URL, scope) {
			return true
		}
	}
	return documentLinks(s.page) > 0
}

// waysOn are the lists of papers that a group's page links to.
func (h *hunt) waysOn(pg *page.Page, final, of string) (ways []way) {
	for _, l := range pg.Links {
		if u := parseURL(l.URL); l.Source == page.SourceAnchor && namesPublications(l.Anchor) && weburl.SameSite(l.URL, final) && h.elsewhere(u, l.Anchor) {
			ways = append(ways, way{of: of, url: l.URL, hope: 5, plain: true, hop: true})
		}
	}
	return ways
}

// elsewhere reports whether an address lies in no homepage of theirs, nor in one of
// another's, and can be a page of papers.
func (h *hunt) elsewhere(u *url.URL, title string) bool {
	at := u.String()
	if u.Scheme != "http" && u.Scheme != "https" || isFile(u) || isPortal(u) || isPublisher(u, title) || belowFound(at, h.s.CoAuthorHomepages) || belowFound(at, h.s.Taken) {
		return false
	}
	return !slices.ContainsFunc(h.d.Homepages, func(c evidence.Candidate) bool {
		return bareHost(c.URL) == bareHost(at) && weburl.InScope(at, []string{weburl.PathPrefix(c.URL)})
	})
}

// groupMentions is how often a name stands on a group's list of papers that has the
// person's.
const groupMentions = 3

// papersOn says why a page is taken for a place of the person's papers; "" if it is none.
func (h *hunt) papersOn(pg *page.Page, final string) string {
	if gone(pg) {
		return ""
	}
	titles, docs := h.person.titlesIn(text.Letters(pg.Text)), documentLinks(pg)
	named := h.person.mentions(text.Words(head(pg.Text, 100_000)), groupMentions)
	called, _ := h.person.in(text.Words(pg.Title))
	own := max(called, h.person.inAddress(parseURL(final))) >= nameInitials
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

// placeScope is what of a place's host is crawled for it: the directory that bears the
// person's name or is called like one of papers, else the page and what goes on with its
// name. The rest of the host is the group's.
func (h *hunt) placeScope(final string) string {
	u := parseURL(final)
	for _, n := range h.person.names {
		root, personal := siteOf(u, n)
		least := nameInitials
		if weburl.PathPrefix(root) == "/" {
			least = nameNick // a host that bears the surname may be that of a group
		}
		if personal && h.person.inAddress(parseURL(root)) >= least {
			return weburl.PathPrefix(root)
		}
	}
	dir := strings.TrimSuffix(weburl.PagePrefix(final), "index")
	if name := path.Base(dir); strings.HasSuffix(dir, "/") && dir != "/" && (listsPapers(name) || namesPublications(name)) {
		return dir
	}
	return weburl.PagePrefix(final)
}
