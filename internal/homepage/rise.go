package homepage

import (
	"context"

	"gleaner/internal/text"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// byHomeLinks replaces inner pages that are good enough to be kept by the homepage to which their
// link "Home" leads, if its title has the person's name, too. A crawl follows only what
// lies below a homepage.
func (a *authorSearch) byHomeLinks(ctx context.Context) error {
	for _, s := range a.candidates.sites {
		f := s.c.Features
		if !s.c.Fetched || s.c.Rule != "" || s.c.Score < a.candidates.model.Threshold || f[fOther] > 0 || f[fRoot] > 0 || f[fIdentity] < nameLoose {
			continue
		}
		to := homeAbove(s.page, s.c.URL)
		if to == "" || a.reader.requested[AddressKey(to)] {
			continue
		}
		pg, final, err := a.reader.get(ctx, to)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || saysMissing(pg) || !a.calledByName(pg) || a.candidates.ruledOut(parseURL(final), s, pg, final) != "":
			continue
		}
		inner, before := s.page, s.c
		s.c.Via = s.c.URL
		a.candidates.byKey[AddressKey(final)] = s
		if a.candidates.score(s, &fetchedSite{url: parseURL(final), page: pg, inner: []*page.Page{inner}, hits: len(s.leads)}); s.c.Score < a.candidates.model.Threshold {
			s.page, s.c = inner, before
		}
	}
	return nil
}

// homeAbove returns the target of a page's link "Home" if it is above the page on its host, else "".
func homeAbove(pg *page.Page, at string) string {
	for _, l := range pg.Links {
		if l.Source == page.SourceAnchor && weburl.Host(l.URL) == weburl.Host(at) && homeAnchor(text.Words(l.Anchor)) && parentOf(l.URL, at) && !sameAddress(l.URL, at) {
			return l.URL
		}
	}
	return ""
}

// calledByName reports whether a page's title has the person's name.
func (a *authorSearch) calledByName(pg *page.Page) bool {
	named, _ := a.person.in(text.Words(pg.Title))
	return named >= nameLoose
}
