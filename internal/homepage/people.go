package homepage

import (
	"context"

	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/web/page"
)

// maxListings bounds the lists of people that are fetched for one author.
const maxListings = 3

// searchPeopleLists looks for the person on lists of people to which a page links, directly or through
// a group's page. The page is a co-author's, or shows one of the papers.
func (a *authorSearch) searchPeopleLists(ctx context.Context, pg *page.Page, final string) {
	for _, to := range a.peopleLinks(pg, final, listWords, groupWords) {
		in, at, found := a.readPeopleList(ctx, to)
		if found {
			return
		}
		if in == nil {
			continue
		}
		for _, next := range a.peopleLinks(in, at, listWords) {
			if _, _, found = a.readPeopleList(ctx, next); found {
				return
			}
		}
	}
}

// readPeopleList fetches a list of people and adds the links on it that have the person's name. It
// returns nil if there is no list.
func (a *authorSearch) readPeopleList(ctx context.Context, u string) (pg *page.Page, final string, found bool) {
	if a.listings == maxListings || a.reader.requested[AddressKey(u)] || a.reader.fetches >= a.limit {
		return nil, u, false
	}
	a.listings++
	a.foreign[u] = true
	pg, final, err := a.reader.get(ctx, u)
	if err != nil || isPortal(parseURL(final)) || isPublisher(parseURL(final), pg.Title) {
		return nil, final, false
	}
	return pg, final, a.follow(pg, final, evidence.SourcePeople) > 0
}

// maxCalled bounds the words of a link to a list of people or to a group.
const maxCalled = 5

// peopleLinks returns the links of a page whose anchors have a word of a set, those of
// the first set before those of the next.
func (a *authorSearch) peopleLinks(pg *page.Page, final string, called ...map[string]bool) (ways []string) {
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
