package homepage

import (
	"context"

	"gleaner/internal/text"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// rise goes from pages that are good enough to be kept and lie inside a homepage, which a
// search names as often, to where their own link "Home" leads, if that is called by the name,
// too: what is crawled is all that lies below.
func (h *hunt) rise(ctx context.Context) error {
	for _, s := range h.sites {
		f := s.c.Features
		if !s.c.Fetched || s.c.Rule != "" || s.c.Score < h.f.model.Threshold || f[fOther] > 0 || f[fRoot] > 0 || f[fIdentity] < nameLoose {
			continue
		}
		to := homeAbove(s.page, s.c.URL)
		if to == "" || h.asked[AddressKey(to)] {
			continue
		}
		pg, final, err := h.get(ctx, to)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || gone(pg) || !h.calledByName(pg) || h.unfit(parseURL(final), s, pg, final) != "":
			continue
		}
		inner, before := s.page, s.c
		s.c.Via = s.c.URL
		h.byKey[AddressKey(final)] = s
		if h.score(s, &exhibit{url: parseURL(final), page: pg, inner: []*page.Page{inner}, hits: len(s.leads)}); s.c.Score < h.f.model.Threshold {
			s.page, s.c = inner, before
		}
	}
	return nil
}

// homeAbove is where a page's link "Home" leads, if that is above it on its host; "" if not.
func homeAbove(pg *page.Page, at string) string {
	for _, l := range pg.Links {
		if l.Source == page.SourceAnchor && weburl.Host(l.URL) == weburl.Host(at) && homeAnchor(text.Words(l.Anchor)) && parentOf(l.URL, at) && !sameAddress(l.URL, at) {
			return l.URL
		}
	}
	return ""
}

// calledByName reports whether a page's title has the person's name.
func (h *hunt) calledByName(pg *page.Page) bool {
	named, _ := h.person.in(text.Words(pg.Title))
	return named >= nameLoose
}
