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

// lead is an address with the words of the link or search result that led to it.
type lead struct {
	url, title, snippet, source, via string
	rank                             int
}

// site is a candidate with the leads to it: pages below one root.
type site struct {
	c       evidence.Candidate
	root    string  // address of the homepage
	leads   []lead  // below the root, in the order of their discovery
	pre     float64 // score before anything is fetched
	visited bool
	page    *page.Page
}

// candidates are the sites that may be an author's homepage, and what decides between them.
type candidates struct {
	person  *person
	subject Subject
	model   *Model
	sites   []*site
	byKey   map[string]*site // by AddressKey of each of their addresses
}

func (cs *candidates) enterResults(rs []evidence.Result, source string) {
	for _, r := range rs {
		cs.enter(lead{url: r.URL, title: r.Title, snippet: r.Snippet, source: source, rank: r.Rank})
	}
}

// found reports whether a page scores high enough to stop looking further.
func (cs *candidates) found() bool {
	return slices.ContainsFunc(cs.sites, func(s *site) bool {
		return s.c.Fetched && s.c.Rule == "" && s.c.Score >= cs.model.Threshold && s.c.Features[fOther] == 0
	})
}

// enter adds a lead to its site, or drops it for its address.
func (cs *candidates) enter(l lead) {
	canonical, err := weburl.Canonical("", l.url)
	if err != nil {
		cs.drop(l, l.url, "not a web address")
		return
	}
	l.url = canonical
	u := parseURL(canonical)
	switch {
	case isPublisher(u, l.title):
		cs.drop(l, canonical, "publisher or digital library")
		return
	case isPortal(u):
		cs.drop(l, canonical, "profile or page on a portal")
		return
	case isFile(u):
		cs.drop(l, canonical, "not a web page: "+strings.ToLower(path.Ext(u.Path)))
		return
	case belowFound(canonical, cs.subject.CoAuthorHomepages):
		cs.drop(l, canonical, "a co-author's homepage")
		return
	case belowFound(canonical, cs.subject.Taken):
		cs.drop(l, canonical, ruleGiven+" another, with more evidence")
		return
	}
	if from, rule := cs.withdrawn(canonical, l.source); from != "" {
		if !sameAddress(from, canonical) { // the withdrawn page itself is a candidate already
			cs.drop(l, canonical, rule)
		}
		return
	}
	root := cs.rootFor(u, l)
	key := AddressKey(root)
	s := cs.byKey[key]
	if s == nil {
		s = &site{root: root, c: evidence.Candidate{URL: root, Title: l.title, Source: l.source, Rank: l.rank, Via: l.via}}
		if !sameAddress(root, l.url) {
			s.c.Via = l.url
		}
		cs.byKey[key] = s
		cs.sites = append(cs.sites, s)
	}
	s.leads = append(s.leads, l)
	s.pre = max(s.pre, cs.prescore(u, l)) + 0.1
}

// rootFor returns the address of the homepage to which a lead belongs. A directory or a
// link names that address itself.
func (cs *candidates) rootFor(u *url.URL, l lead) string {
	if l.source != evidence.SourceVenue && l.source != evidence.SourceTitle {
		return l.url
	}
	for _, n := range cs.person.names {
		if root, personal := siteOf(u, n); personal {
			return root
		}
	}
	return l.url
}

func (cs *candidates) drop(l lead, u, rule string) {
	key := "dropped " + u
	if cs.byKey[key] != nil {
		return
	}
	s := &site{visited: true, c: evidence.Candidate{URL: u, Title: l.title, Source: l.source, Rank: l.rank, Via: l.via, Rule: rule}}
	cs.byKey[key] = s
	cs.sites = append(cs.sites, s)
}

// prescore scores a lead by address, title and snippet, before anything is fetched.
// Below minPrescore a page is not worth a request.
func (cs *candidates) prescore(u *url.URL, l lead) float64 {
	score := 0.0
	switch source, _, _ := strings.Cut(l.source, ":"); source {
	case evidence.SourceListed:
		score = 10
	case evidence.SourceMoved, evidence.SourceCoAuthor, evidence.SourcePeople, evidence.SourceInner:
		score = 6
	}
	address := cs.person.inAddress(u)
	title, other := cs.person.in(text.Words(l.title))
	snippet, _ := cs.person.in(text.Words(l.snippet))
	score += 3*address + 3*title + snippet
	if cs.person.titlesIn(text.Letters(l.title+" "+l.snippet)) > 0 {
		score++
	}
	if isAcademic(u) {
		score += 0.5
	}
	if l.rank > 0 {
		score += 1 / float64(l.rank)
	}
	// Pages of these kinds name many people, or are about one paper.
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
	strongPrescore = 5.0 // name in address and title: worth a request even if a homepage was found
)

// next returns the unvisited site with the best prescore, or nil.
func (cs *candidates) next() *site {
	var best *site
	for _, s := range cs.sites {
		if s.visited || s.pre < minPrescore {
			continue
		}
		if best == nil || s.pre > best.pre {
			best = s
		}
	}
	if best != nil && cs.found() && best.pre < strongPrescore && best.c.Source != evidence.SourceInner {
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

// maxInner bounds the inner pages fetched of one site.
const maxInner = 2

// innerLeads returns the pages of a site that most likely list papers, best first: links
// of the homepage named so, then search results below it.
func (s *site) innerLeads(p *person, pg *page.Page, final string) []string {
	type scored struct {
		url   string
		score int
	}
	var all []scored
	met := map[string]bool{AddressKey(final): true}
	add := func(u string, score int) {
		if key := AddressKey(u); !met[key] && (!isFile(parseURL(u)) || isBibliography(u)) {
			met[key] = true
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
