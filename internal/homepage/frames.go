package homepage

import (
	"context"
	"slices"

	"gleaner/internal/text"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

const (
	thinText  = 400 // bytes under which a page with frames has no text of its own
	doorText  = 200 // the same of one with nothing but a link
	maxFrames = 3   // menu, head and content
)

// framed are the pages that a page without text of its own is made of.
func framed(pg *page.Page, final string) []string {
	if len(pg.Text) >= thinText {
		return nil
	}
	var shown []string
	for _, l := range pg.Links {
		if u := parseURL(l.URL); l.Source == page.SourceFrame && !isFile(u) && !isPortal(u) && !sameAddress(l.URL, final) && !slices.Contains(shown, l.URL) {
			shown = append(shown, l.URL)
		}
	}
	return shown
}

// behind is the page that one with hardly a word and a single link stands before, such
// as "Enter"; "" of any other page.
func behind(pg *page.Page, final string) string {
	var to string
	for _, l := range pg.Links {
		switch u := parseURL(l.URL); {
		case l.Source != page.SourceAnchor && l.Source != page.SourceArea || sameAddress(l.URL, final) || u.Scheme != "http" && u.Scheme != "https":
			continue
		case to != "" && !sameAddress(l.URL, to) || weburl.Host(l.URL) != weburl.Host(final) || isFile(u):
			return ""
		default:
			to = l.URL
		}
	}
	if to == "" || len(pg.Text) >= doorText || !weburl.InScope(to, []string{weburl.PathPrefix(final)}) {
		return ""
	}
	return to
}

// through reads the pages that a site's page is made of, or that it is a door to, as one
// with it.
func (h *hunt) through(ctx context.Context, s *site, pg *page.Page, final string) *page.Page {
	shown := framed(pg, final)
	if to := behind(pg, final); len(shown) == 0 && to != "" {
		shown = []string{to}
	}
	for _, u := range shown[:min(maxFrames, len(shown))] {
		in := h.pages[AddressKey(u)]
		if in == nil && h.asked[AddressKey(u)] {
			continue
		}
		at := u
		if in == nil {
			var err error
			if in, at, err = h.get(ctx, u); err != nil {
				continue
			}
		}
		if h.byKey[AddressKey(at)] == nil {
			h.byKey[AddressKey(at)] = s // it is no candidate of its own
		}
		pg = h.joined(pg, in)
	}
	return pg
}

// joined is a page with one that it shows.
func (h *hunt) joined(pg, in *page.Page) *page.Page {
	both := *pg
	if named, _ := h.person.in(text.Words(pg.Title)); named < nameInitials && in.Title != "" {
		both.Title += " – " + in.Title
	}
	both.Headings = slices.Concat(pg.Headings, in.Headings)
	both.Text = pg.Text + " " + in.Text
	both.Links = slices.Concat(pg.Links, in.Links)
	return &both
}
