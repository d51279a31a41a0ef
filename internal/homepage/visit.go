package homepage

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/text"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// visit visits the most promising sites, at most n of them and within the limit on
// fetches.
func (a *authorSearch) visit(ctx context.Context, n int) error {
	for range n {
		s := a.candidates.next()
		if s == nil || a.reader.fetches >= a.limit {
			return nil
		}
		s.visited = true
		a.visitSite(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if a.reader.recordErr != nil {
			return a.reader.recordErr
		}
	}
	return nil
}

// visitSite fetches a site's root, or the page of its first lead if there is no root,
// follows notices that it has moved, and scores it.
func (a *authorSearch) visitSite(ctx context.Context, s *site) {
	pg, final, err := a.reader.get(ctx, s.root)
	if (err != nil || saysMissing(pg)) && len(s.leads) > 0 && !sameAddress(s.leads[0].url, s.root) && !isFile(parseURL(s.leads[0].url)) {
		pg, final, err = a.reader.get(ctx, s.leads[0].url)
	}
	if err != nil {
		s.c.Rule = ruleDead + err.Error()
		if errors.Is(err, ErrBlacklisted) {
			s.c.Rule = evidence.OnBlacklist
		}
		return
	}
	for range maxMoves {
		target := movedTo(pg, final)
		if target == "" || a.reader.requested[AddressKey(target)] {
			break
		}
		u := parseURL(target)
		if isPortal(u) || isPublisher(u, "") || isFile(u) {
			break
		}
		moved, movedFinal, err := a.reader.get(ctx, target)
		if err != nil {
			break
		}
		s.c.Via, pg, final = final, moved, movedFinal
	}
	a.scoreSite(ctx, s, a.withFrames(ctx, s, pg, final), final)
}

// maxMoves bounds how often "this page has moved" is followed.
const maxMoves = 2

// scoreSite scores a site by its page, alone and with inner pages.
func (a *authorSearch) scoreSite(ctx context.Context, s *site, pg *page.Page, final string) {
	u := parseURL(final)
	if rule := a.candidates.ruledOut(u, s, pg, final); rule != "" {
		s.c.Rule = rule
		return
	}
	if !sameAddress(final, s.c.URL) && s.c.Via == "" {
		s.c.Via = s.c.URL
	}
	a.candidates.byKey[AddressKey(final)] = s
	fs := fetchedSite{url: u, page: pg, hits: len(s.leads)}
	if from := a.reader.pages[AddressKey(s.c.Via)]; s.c.Source == evidence.SourceInner && from != nil {
		fs.inner = append(fs.inner, from)
	}
	a.candidates.score(s, &fs)
	for _, in := range s.innerLeads(a.person, pg, final) {
		if !a.candidates.wantsInner(s) {
			break
		}
		inner, innerFinal := a.reader.once(ctx, in)
		if inner == nil {
			continue
		}
		if isBibliography(innerFinal) {
			inner = &page.Page{URL: inner.URL, Text: a.person.entriesOf(inner.Text)}
		}
		here := weburl.SameSite(innerFinal, final)
		if !here && !a.mentionsPerson(inner, innerFinal) {
			continue
		}
		fs.inner = append(fs.inner, inner)
		a.candidates.score(s, &fs)
		if here {
			a.candidates.innerInstead(s, inner, innerFinal, len(s.leads))
		}
		a.follow(inner, innerFinal, evidence.SourcePeople)
	}
	f := s.c.Features
	if a.follow(pg, final, evidence.SourcePeople) == 0 && s.c.Score < a.candidates.model.Threshold && f[fTitles]+f[fCoAuthors] > 0 {
		a.searchPeopleLists(ctx, pg, final)
	}
}

// mentionsPerson reports whether a page on another site may list the person's papers: it names
// the person, and is neither a portal's nor a publisher's.
func (a *authorSearch) mentionsPerson(pg *page.Page, final string) bool {
	u := parseURL(final)
	return !isPortal(u) && !isPublisher(u, pg.Title) && a.person.mentions(text.Words(text.Head(pg.Text, 100_000)), 1) > 0
}

// ruledOut applies the rules that need the final address: a page may redirect to a portal,
// or to a page that was visited. It returns "" if no rule excludes the page.
func (cs *candidates) ruledOut(u *url.URL, s *site, pg *page.Page, final string) string {
	switch {
	case isPublisher(u, pg.Title):
		return "publisher or digital library"
	case isPortal(u):
		return "leads to a portal"
	case belowFound(final, cs.subject.CoAuthorHomepages):
		return "a co-author's homepage"
	case belowFound(final, cs.subject.Taken):
		return ruleGiven + " another, with more evidence"
	}
	if _, rule := cs.withdrawn(final, s.c.Source); rule != "" {
		return rule
	}
	if other := cs.byKey[AddressKey(final)]; other != nil && other != s {
		if other.visited {
			return "leads to a page that was looked at already"
		}
		other.visited = true
		other.c.Rule = "the same page as " + s.c.URL
	}
	return ""
}

// score sets a site's features and score.
func (cs *candidates) score(s *site, fs *fetchedSite) {
	s.page = fs.page
	s.c.URL, s.c.Title, s.c.Fetched = fs.url.String(), fs.page.Title, true
	s.c.Features = cs.person.features(s.c, *fs)
	s.c.Score = cs.model.Score(s.c.Features)
}

// wantsInner reports whether another page of the site could change its score.
func (cs *candidates) wantsInner(s *site) bool {
	f := s.c.Features
	return len(cs.person.titles) > 0 && f[fOther] == 0 && f[fTitles] == 0 && (f[fIdentity] >= nameInitials || len(s.leads) > 1 || f[fUser] > 0)
}

// innerInstead makes the inner page the candidate if the root is somebody else's, such
// as a department's.
func (cs *candidates) innerInstead(s *site, inner *page.Page, final string, hits int) {
	fs := fetchedSite{url: parseURL(final), page: inner, hits: hits}
	c := s.c
	c.URL, c.Title = final, inner.Title
	f := cs.person.features(c, fs)
	if score := cs.model.Score(f); s.c.Features[fIdentity] < nameInitials && f[fIdentity] >= nameInitials && score > s.c.Score {
		s.page, s.c.URL, s.c.Title, s.c.Features, s.c.Score = inner, final, inner.Title, f, score
	}
}

// maxFollowed bounds the links that one page adds.
const maxFollowed = 2

// follow adds links whose anchor is the person's name: co-authors and departments link
// to the homepages of people. It returns how many it added.
func (a *authorSearch) follow(pg *page.Page, final, source string) (added int) {
	// On a page of the person that is no homepage, the link "home" leads to the homepage.
	title, _ := a.person.in(text.Words(pg.Title + " " + text.Head(pg.Text, 400)))
	below := title >= nameInitials && (kindOf(parseURL(final), pg, "inner") || listsPapers(pg.Title))
	for _, l := range pg.Links {
		ws := text.Words(l.Anchor)
		if added == maxFollowed || len(ws) == 0 || len(ws) > 6 || l.Source != page.SourceAnchor {
			continue
		}
		from := source
		if s, _ := a.person.in(ws); s < nameLoose {
			if !below || !homeAnchor(ws) {
				continue
			}
			from = evidence.SourceInner
		}
		u := parseURL(l.URL)
		if sameAddress(l.URL, final) || isPortal(u) || isFile(u) || isPublisher(u, "") || a.candidates.byKey[AddressKey(l.URL)] != nil {
			continue
		}
		a.candidates.enter(lead{url: l.URL, title: l.Anchor, source: from, via: final})
		added++
	}
	return added
}

// homeWords are the words of links to a homepage, in many languages.
var homeWords = wordSet(`home homepage main start startseite accueil inicio principal personal personnelle persoonlijke pagina page back website site web academic academica personnel domu strona domov etusivu hem hjem anasayfa glavnaya 首页 主页 ホーム 홈`)

func homeAnchor(ws []string) bool {
	return len(ws) > 0 && len(ws) <= 3 && homeWords[ws[0]]
}

// saysMissing reports whether the text of a page says that the page does not exist.
func saysMissing(pg *page.Page) bool { return pg != nil && pg.SoftMissing }

// movedWords are the phrases of pages that have moved.
var movedWords = []string{
	"has moved", "have moved", "moved to", "new home page", "new homepage", "new address", "new location", "new website", "new web page", "new webpage", "is now at", "are now at",
	"please update your", "you will be redirected", "redirecting", "page moved", "no longer maintained",
	"umgezogen", "neue adresse", "a demenage", "nouvelle adresse", "nueva direccion", "nuevo sitio", "nuovo indirizzo",
}

// movedText bounds the length of a page whose only content is that it has moved, in bytes.
const movedText = 1200

// movedTo returns the address to which a page says that it has moved, or "".
func movedTo(pg *page.Page, final string) string {
	for _, l := range pg.Links {
		if l.Source == page.SourceRefresh && !sameAddress(l.URL, final) {
			return l.URL
		}
	}
	if shown := frameURLs(pg, final); len(shown) == 1 && weburl.Host(shown[0]) != weburl.Host(final) {
		return shown[0]
	}
	if len(pg.Text) > movedText {
		return ""
	}
	text := strings.Join(text.Words(pg.Title+" "+pg.Text), " ")
	if !slices.ContainsFunc(movedWords, func(w string) bool { return strings.Contains(text, w) }) {
		return ""
	}
	for _, l := range pg.Links {
		u := parseURL(l.URL)
		if l.Source != page.SourceAnchor || sameAddress(l.URL, final) || isPortal(u) || isFile(u) || strings.HasPrefix(l.URL, "mailto:") {
			continue
		}
		// Somebody who has moved does not link to a directory above, on the same host.
		if weburl.Host(l.URL) == weburl.Host(final) && parentOf(l.URL, final) {
			continue
		}
		return l.URL
	}
	return ""
}

// parentOf reports whether a is a directory above b.
func parentOf(a, b string) bool { return strings.HasPrefix(AddressKey(b), AddressKey(a)) }
