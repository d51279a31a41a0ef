package homepage

import (
	"context"

	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/web/page"
)

// maxListings bounds the pages of an author that are asked for as lists of people.
const maxListings = 3

// lists looks for the person on the list of people of a group, to which a page leads that
// a co-author or one of the papers is of: itself, or by way of the group's.
func (h *hunt) lists(ctx context.Context, pg *page.Page, final string) {
	for _, to := range h.waysToPeople(pg, final, listWords, groupWords) {
		in, at, found := h.list(ctx, to)
		if found {
			return
		}
		if in == nil {
			continue
		}
		for _, next := range h.waysToPeople(in, at, listWords) {
			if _, _, found = h.list(ctx, next); found {
				return
			}
		}
	}
}

// list asks for one, and enters the links on it that bear the person's name; nil for none.
func (h *hunt) list(ctx context.Context, u string) (pg *page.Page, final string, found bool) {
	if h.listings == maxListings || h.asked[AddressKey(u)] || h.d.Fetches >= h.limit {
		return nil, u, false
	}
	h.listings++
	h.foreign[u] = true
	pg, final, err := h.get(ctx, u)
	if err != nil || isPortal(parseURL(final)) || isPublisher(parseURL(final), pg.Title) {
		return nil, final, false
	}
	return pg, final, h.follow(pg, final, evidence.SourcePeople) > 0
}

// maxCalled is how many words a link to a list of people or to a group has at most.
const maxCalled = 5

// waysToPeople are the links of a page that are called by the words of a set, those of the
// first set before those of the next.
func (h *hunt) waysToPeople(pg *page.Page, final string, called ...map[string]bool) (ways []string) {
	for _, words := range called {
		for _, l := range pg.Links {
			u := parseURL(l.URL)
			if l.Source == page.SourceAnchor && calledAny(l.Anchor, maxCalled, words) && !sameAddress(l.URL, final) && (u.Scheme == "http" || u.Scheme == "https") &&
				!isFile(u) && !isPortal(u) && !isPublisher(u, l.Anchor) {
				ways = append(ways, l.URL)
			}
		}
	}
	return ways
}
