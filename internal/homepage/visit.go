package homepage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/record/frontier"
	"gleaner/internal/text"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// visit looks at the most promising sites, at most n of them and within the
// bound on fetches.
func (h *hunt) visit(ctx context.Context, n int) error {
	for range n {
		s := h.next()
		if s == nil || h.d.Fetches >= h.limit {
			return nil
		}
		s.visited = true
		h.look(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if h.broken != nil {
			return h.broken
		}
	}
	return nil
}

// get asks for a page, counting it. An address is asked for once.
func (h *hunt) get(ctx context.Context, u string) (*page.Page, string, error) {
	if h.d.Fetches >= h.bound {
		return nil, "", errTooMany
	}
	h.d.Fetches++
	h.asked[AddressKey(u)] = true
	getter := h.f.cfg.Getter
	if h.s.Getter != nil {
		getter = h.s.Getter
	}
	pg, final, err := getter.Get(ctx, u)
	if err == nil && pg == nil {
		err = errNoPage
	}
	if errors.Is(err, ErrRecord) {
		h.broken = err
	}
	if fe := (*fetch.Error)(nil); errors.As(err, &fe) && (fe.Outcome == frontier.Panicked || fe.Outcome == frontier.Killed) {
		h.unreadable = fmt.Sprintf("%s: %s", fe.Outcome, u)
	}
	if un, ok := unansweredPage(u, err); ok {
		h.unanswered(un)
	}
	final = cmp.Or(final, u)
	if err == nil {
		h.pages[AddressKey(final)] = pg
	}
	return pg, final, err
}

// look fetches a site's root, falls back to the page that was found, follows a
// move, looks at one inner page, and scores what it saw.
func (h *hunt) look(ctx context.Context, s *site) {
	pg, final, err := h.get(ctx, s.root)
	if (err != nil || gone(pg)) && len(s.leads) > 0 && !sameAddress(s.leads[0].url, s.root) && !isFile(parseURL(s.leads[0].url)) {
		pg, final, err = h.get(ctx, s.leads[0].url)
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
		if target == "" || h.asked[AddressKey(target)] {
			break
		}
		u := parseURL(target)
		if isPortal(u) || isPublisher(u, "") || isFile(u) {
			break
		}
		moved, movedFinal, err := h.get(ctx, target)
		if err != nil {
			break
		}
		s.c.Via, pg, final = final, moved, movedFinal
	}
	h.settle(ctx, s, h.through(ctx, s, pg, final), final)
}

// maxMoves bounds how often "this page has moved" is followed.
const maxMoves = 2

// settle scores a site by its page, alone and with an inner page.
func (h *hunt) settle(ctx context.Context, s *site, pg *page.Page, final string) {
	u := parseURL(final)
	if rule := h.unfit(u, s, pg, final); rule != "" {
		s.c.Rule = rule
		return
	}
	if !sameAddress(final, s.c.URL) && s.c.Via == "" {
		s.c.Via = s.c.URL
	}
	h.byKey[AddressKey(final)] = s
	ex := exhibit{url: u, page: pg, hits: len(s.leads)}
	if from := h.pages[AddressKey(s.c.Via)]; s.c.Source == evidence.SourceInner && from != nil {
		ex.inner = append(ex.inner, from)
	}
	h.score(s, &ex)
	for _, in := range s.innerLeads(h.person, pg, final) {
		if !h.wantsInner(s) {
			break
		}
		inner, innerFinal := h.pages[AddressKey(in)], in
		if inner == nil && h.asked[AddressKey(in)] {
			continue
		}
		if inner == nil {
			var err error
			if inner, innerFinal, err = h.get(ctx, in); err != nil {
				continue
			}
		}
		if isBibliography(innerFinal) {
			inner = &page.Page{URL: inner.URL, Text: h.person.entriesOf(inner.Text)}
		}
		here := weburl.SameSite(innerFinal, final)
		if !here && !h.speaksOf(inner, innerFinal) {
			continue
		}
		ex.inner = append(ex.inner, inner)
		h.score(s, &ex)
		if here {
			h.innerInstead(s, inner, innerFinal, len(s.leads))
		}
		h.follow(inner, innerFinal, evidence.SourcePeople)
	}
	f := s.c.Features
	if h.follow(pg, final, evidence.SourcePeople) == 0 && s.c.Score < h.f.model.Threshold && f[fTitles]+f[fCoAuthors] > 0 {
		h.lists(ctx, pg, final)
	}
}

// speaksOf reports whether a page on another site may list a person's papers: it names
// them, and is no portal's nor a publisher's.
func (h *hunt) speaksOf(pg *page.Page, final string) bool {
	u := parseURL(final)
	return !isPortal(u) && !isPublisher(u, pg.Title) && h.person.mentions(text.Words(head(pg.Text, 100_000)), 1) > 0
}

// unfit are the rules that need the final address: a page may redirect to a
// portal, or to one that was looked at already.
func (h *hunt) unfit(u *url.URL, s *site, pg *page.Page, final string) string {
	switch {
	case isPublisher(u, pg.Title):
		return "publisher or digital library"
	case isPortal(u):
		return "leads to a portal"
	case belowFound(final, h.s.CoAuthorHomepages):
		return "a co-author's homepage"
	case belowFound(final, h.s.Taken):
		return ruleGiven + " another, with more evidence"
	}
	if _, rule := h.withdrawn(final, s.c.Source); rule != "" {
		return rule
	}
	if other := h.byKey[AddressKey(final)]; other != nil && other != s {
		if other.visited {
			return "leads to a page that was looked at already"
		}
		other.visited = true
		other.c.Rule = "the same page as " + s.c.URL
	}
	return ""
}

// score computes a site's features and score from what was seen.
func (h *hunt) score(s *site, ex *exhibit) {
	s.page = ex.page
	s.c.URL, s.c.Title, s.c.Fetched = ex.url.String(), ex.page.Title, true
	s.c.Features = h.person.features(s.c, *ex)
	s.c.Score = h.f.model.Score(s.c.Features)
}

// wantsInner reports whether another page of the site could change the verdict.
func (h *hunt) wantsInner(s *site) bool {
	f := s.c.Features
	return len(h.person.titles) > 0 && f[fOther] == 0 && f[fTitles] == 0 && (f[fIdentity] >= nameInitials || len(s.leads) > 1 || f[fUser] > 0)
}

// innerInstead takes the inner page as the candidate where the root turned out
// to be somebody else's, such as a department's.
func (h *hunt) innerInstead(s *site, inner *page.Page, final string, hits int) {
	ex := exhibit{url: parseURL(final), page: inner, hits: hits}
	c := s.c
	c.URL, c.Title = final, inner.Title
	f := h.person.features(c, ex)
	if score := h.f.model.Score(f); s.c.Features[fIdentity] < nameInitials && f[fIdentity] >= nameInitials && score > s.c.Score {
		s.page, s.c.URL, s.c.Title, s.c.Features, s.c.Score = inner, final, inner.Title, f, score
	}
}

// maxFollowed bounds the links that one page adds.
const maxFollowed = 2

// follow enters links whose anchor is the person's name: co-authors and
// departments link to the homepages of people. It returns how many were entered.
func (h *hunt) follow(pg *page.Page, final, source string) (added int) {
	// From a page of theirs that is no homepage, "home" leads to it.
	title, _ := h.person.in(text.Words(pg.Title + " " + head(pg.Text, 400)))
	below := title >= nameInitials && (kindOf(parseURL(final), pg, "inner") || listsPapers(pg.Title))
	for _, l := range pg.Links {
		ws := text.Words(l.Anchor)
		if added == maxFollowed || len(ws) == 0 || len(ws) > 6 || l.Source != page.SourceAnchor {
			continue
		}
		from := source
		if s, _ := h.person.in(ws); s < nameLoose {
			if !below || !homeAnchor(ws) {
				continue
			}
			from = evidence.SourceInner
		}
		u := parseURL(l.URL)
		if sameAddress(l.URL, final) || isPortal(u) || isFile(u) || isPublisher(u, "") || h.byKey[AddressKey(l.URL)] != nil {
			continue
		}
		h.enter(lead{url: l.URL, title: l.Anchor, source: from, via: final})
		added++
	}
	return added
}

// homeWords are how inner pages call the homepage.
var homeWords = wordSet(`home homepage main start startseite accueil inicio principal personal personnelle persoonlijke pagina page back website site web academic academica personnel domu strona domov etusivu hem hjem anasayfa glavnaya 首页 主页 ホーム 홈`)

func homeAnchor(ws []string) bool {
	return len(ws) > 0 && len(ws) <= 3 && homeWords[ws[0]]
}

// gone reports whether a page says that it is not there.
func gone(pg *page.Page) bool { return pg != nil && pg.SoftMissing }

// movedWords are how pages say that they have moved.
var movedWords = []string{
	"has moved", "have moved", "moved to", "new home page", "new homepage", "new address", "new location", "new website", "new web page", "new webpage", "is now at", "are now at",
	"please update your", "you will be redirected", "redirecting", "page moved", "no longer maintained",
	"umgezogen", "neue adresse", "a demenage", "nouvelle adresse", "nueva direccion", "nuevo sitio", "nuovo indirizzo",
}

// movedText bounds the length of a page that says nothing but that it moved.
const movedText = 1200

// movedTo is where a page says that it has moved to, or "".
func movedTo(pg *page.Page, final string) string {
	for _, l := range pg.Links {
		if l.Source == page.SourceRefresh && !sameAddress(l.URL, final) {
			return l.URL
		}
	}
	if shown := framed(pg, final); len(shown) == 1 && weburl.Host(shown[0]) != weburl.Host(final) {
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
		// The old institution's own pages are not where somebody moved to,
		// unless it is another server of it.
		if weburl.Host(l.URL) == weburl.Host(final) && parentOf(l.URL, final) {
			continue
		}
		return l.URL
	}
	return ""
}

// parentOf reports whether a is a directory above b.
func parentOf(a, b string) bool { return strings.HasPrefix(AddressKey(b), AddressKey(a)) }
