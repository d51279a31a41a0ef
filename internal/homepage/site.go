package homepage

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/text"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// lead is an address with what was said of it where it was found.
type lead struct {
	url, title, snippet, source, via string
	rank                             int
}

// site gathers the leads that would be one homepage: the pages below one root.
type site struct {
	c       evidence.Candidate
	root    string // where the homepage would be
	leads   []lead // results below the root, as they came
	pre     float64
	visited bool
	page    *page.Page
}

// enter adds a lead to its site, or drops it by what its address says.
func (h *hunt) enter(l lead) {
	canonical, err := weburl.Canonical("", l.url)
	if err != nil {
		h.drop(l, l.url, "not a web address")
		return
	}
	l.url = canonical
	u := parseURL(canonical)
	switch {
	case isPublisher(u, l.title):
		h.drop(l, canonical, "publisher or digital library")
		return
	case isPortal(u):
		h.drop(l, canonical, "profile or page on a portal")
		return
	case isFile(u):
		h.drop(l, canonical, "not a web page: "+strings.ToLower(path.Ext(u.Path)))
		return
	case belowFound(canonical, h.s.CoAuthorHomepages):
		h.drop(l, canonical, "a co-author's homepage")
		return
	case belowFound(canonical, h.s.Taken):
		h.drop(l, canonical, ruleGiven+" another, with more evidence")
		return
	}
	if from, rule := h.withdrawn(canonical, l.source); from != "" {
		if !sameAddress(from, canonical) { // that is remembered
			h.drop(l, canonical, rule)
		}
		return
	}
	root := h.rootFor(u, l)
	key := AddressKey(root)
	s := h.byKey[key]
	if s == nil {
		s = &site{root: root, c: evidence.Candidate{URL: root, Title: l.title, Source: l.source, Rank: l.rank, Via: l.via}}
		if !sameAddress(root, l.url) {
			s.c.Via = l.url
		}
		h.byKey[key] = s
		h.sites = append(h.sites, s)
	}
	s.leads = append(s.leads, l)
	s.pre = max(s.pre, h.prescore(u, l)) + 0.1
}

// rootFor decides where the homepage would be to which a lead belongs. What a
// directory or a link names is taken at its word.
func (h *hunt) rootFor(u *url.URL, l lead) string {
	if l.source != evidence.SourceVenue && l.source != evidence.SourceTitle {
		return l.url
	}
	for _, n := range h.person.names {
		if root, personal := siteOf(u, n); personal {
			return root
		}
	}
	return l.url
}

func (h *hunt) drop(l lead, u, rule string) {
	key := "dropped " + u
	if h.byKey[key] != nil {
		return
	}
	s := &site{visited: true, c: evidence.Candidate{URL: u, Title: l.title, Source: l.source, Rank: l.rank, Via: l.via, Rule: rule}}
	h.byKey[key] = s
	h.sites = append(h.sites, s)
}

// prescore orders sites before anything is fetched: what address, title and
// snippet promise. Below minPrescore a page is not worth a request.
func (h *hunt) prescore(u *url.URL, l lead) float64 {
	score := 0.0
	switch source, _, _ := strings.Cut(l.source, ":"); source {
	case evidence.SourceListed:
		score = 10
	case evidence.SourceMoved, evidence.SourceCoAuthor, evidence.SourcePeople, evidence.SourceInner:
		score = 6
	}
	address := h.person.inAddress(u)
	title, other := h.person.in(text.Words(l.title))
	snippet, _ := h.person.in(text.Words(l.snippet))
	score += 3*address + 3*title + snippet
	if h.person.titlesIn(text.Letters(l.title+" "+l.snippet)) > 0 {
		score++
	}
	if isAcademic(u) {
		score += 0.5
	}
	if l.rank > 0 {
		score += 1 / float64(l.rank)
	}
	// Such pages name many people, or are about one paper.
	for _, kind := range []string{"event", "course", "landing", "news", "obituary"} {
		if kindOf(u, &page.Page{Title: l.title}, kind) || kind == "news" && titleHas(&page.Page{Title: l.title}, kind) {
			score -= 2
			break
		}
	}
	if title < nameInitials && address < nameInitials && (other || ownedByAnother(u, &page.Page{Title: l.title})) {
		score -= 2
	}
	return score
}

const (
	minPrescore    = 0.8 // some sign of the name, or a top result
	strongPrescore = 5.0 // name in address and title: worth a look even when one page is found
)

// next is the unvisited site that promises most, or nil.
func (h *hunt) next() *site {
	var best *site
	for _, s := range h.sites {
		if s.visited || s.pre < minPrescore {
			continue
		}
		if best == nil || s.pre > best.pre {
			best = s
		}
	}
	if best != nil && h.found() && best.pre < strongPrescore && best.c.Source != evidence.SourceInner {
		return nil
	}
	return best
}

// AddressKey is the identity of an address without its closing slash.
func AddressKey(u string) string {
	c, err := weburl.Canonical("", u)
	if err != nil {
		return u
	}
	return strings.TrimSuffix(strings.TrimPrefix(weburl.Key(c), "www."), "/")
}

// maxInner bounds the inner pages looked at on one site.
const maxInner = 2

// innerLeads are the pages of a site that most likely list papers, best first:
// a link of the homepage that says so, then search results below it.
func (s *site) innerLeads(p *person, pg *page.Page, final string) []string {
	type scored struct {
		url   string
		score int
	}
	var all []scored
	add := func(u string, score int) {
		if !sameAddress(u, final) && (!isFile(parseURL(u)) || isBibliography(u)) && !slices.ContainsFunc(all, func(o scored) bool { return sameAddress(o.url, u) }) {
			all = append(all, scored{u, score})
		}
	}
	for _, l := range s.leads {
		score := 1
		if listsPapers(l.title + " " + parseURL(l.url).Path) {
			score += 2
		}
		if p.titlesIn(text.Letters(l.title+" "+l.snippet)) > 0 {
			score += 2
		}
		add(l.url, score)
	}
	host := weburl.Domain(weburl.Host(final))
	for _, l := range pg.Links {
		if l.Source != page.SourceAnchor {
			continue
		}
		switch here, u := weburl.Domain(weburl.Host(l.URL)) == host, parseURL(l.URL); {
		case here && namesPublications(l.Anchor):
			add(l.URL, 4)
		case here && isBibliography(l.URL), !here && namesPublications(l.Anchor) && !isPortal(u) && !isPublisher(u, l.Anchor):
			add(l.URL, 3)
		case here && (listsPapers(l.Anchor) || listsPapers(lastWord(path.Base(u.Path)))):
			add(l.URL, 2)
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return b.score - a.score })
	return each.Of(all[:min(maxInner, len(all))], func(a scored) string { return a.url })
}
