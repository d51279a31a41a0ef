package homepage

import (
	"context"
	"slices"

	"gleaner/internal/text"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

const (
	thinText   = 400 // bytes; a page with frames and less text has none of its own
	splashText = 200 // bytes; a page with one link and less text is a splash page
	maxFrames  = 3   // menu, head and content
)

// frameURLs returns the first frames of a page without text of its own.
func frameURLs(pg *page.Page, final string) []string {
	if len(pg.Text) >= thinText {
		return nil
	}
	var shown []string
	for _, l := range pg.Links {
		if u := parseURL(l.URL); l.Source == page.SourceFrame && !isFile(u) && !isPortal(u) && !sameAddress(l.URL, final) && len(shown) < maxFrames && !slices.Contains(shown, l.URL) {
			shown = append(shown, l.URL)
		}
	}
	return shown
}

// splashTarget returns the target of a splash page, which has hardly a word and a single link
// such as "Enter"; "" for any other page.
func splashTarget(pg *page.Page, final string) string {
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
	if to == "" || len(pg.Text) >= splashText || !weburl.InScope(to, []string{weburl.PathPrefix(final)}) {
		return ""
	}
	return to
}

// withFrames merges a site's page with its frames, or with the page behind a splash page.
func (a *authorSearch) withFrames(ctx context.Context, s *site, pg *page.Page, final string) *page.Page {
	shown := frameURLs(pg, final)
	if to := splashTarget(pg, final); len(shown) == 0 && to != "" {
		shown = []string{to}
	}
	for _, u := range shown {
		in, at := a.reader.once(ctx, u)
		if in == nil {
			continue
		}
		if a.candidates.byKey[AddressKey(at)] == nil {
			a.candidates.byKey[AddressKey(at)] = s // not a candidate of its own
		}
		pg = a.mergePages(pg, in)
	}
	return pg
}

// mergePages merges a page with one that it shows.
func (a *authorSearch) mergePages(pg, in *page.Page) *page.Page {
	both := *pg
	if named, _ := a.person.in(text.Words(pg.Title)); named < nameInitials && in.Title != "" {
		both.Title += " – " + in.Title
	}
	both.Headings = slices.Concat(pg.Headings, in.Headings)
	both.Text = pg.Text + " " + in.Text
	both.Links = slices.Concat(pg.Links, in.Links)
	return &both
}
