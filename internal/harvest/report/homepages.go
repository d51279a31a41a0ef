package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/record/store"
	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
)

// places holds the documents of a harvest's sites by URL.
type places struct {
	whole  bool // the scope of each homepage is its whole host
	byHost map[string][]place
}

// place is the URL of a document or possible document, or of a page that links to it.
type place struct {
	url      string
	document string
	accepted bool
	open     bool // it was not examined
}

// places returns the places on sites of authors whose crawls have ended.
func (b *builder) places(ctx context.Context, authors map[string]store.AuthorClue, whole bool) (places, error) {
	p := newPlaces(nil, whole)
	all, err := b.db.Places(ctx, p.barren(authors))
	if err != nil {
		return p, err
	}
	p.add(all)
	all, err = b.db.PlacesLeft(ctx, b.r.Harvest.ID, p.barren(authors))
	p.add(all)
	return p, err
}

func newPlaces(all []store.Place, whole bool) places {
	p := places{whole: whole, byHost: map[string][]place{}}
	p.add(all)
	return p
}

func (p places) add(all []store.Place) {
	for _, of := range all {
		for _, url := range []string{of.URL, of.Parent} {
			host := weburl.Host(url)
			p.byHost[host] = append(p.byHost[host], place{url, of.URL, of.Accepted, of.Open})
		}
	}
}

// barren returns the hosts of homepages that led to no paper.
func (p places) barren(authors map[string]store.AuthorClue) []string {
	hosts := map[string]bool{}
	for _, clue := range authors {
		for i, h := range clue.Homepages {
			if _, accepted, open := p.under(h); read(clue.Sites[i]) && accepted == 0 && open == 0 {
				hosts[weburl.Host(h.URL)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(hosts))
}

// under counts the documents of a homepage: those in its scope, and those linked from a page in
// its scope. open counts unexamined ones.
func (p places) under(home store.Homepage) (documents, accepted, open int) {
	scope := []string{home.Prefix(p.whole)}
	seen := map[string]bool{}
	for _, at := range p.byHost[weburl.Host(home.URL)] {
		if seen[at.document] || at.url != home.URL && !weburl.InScope(at.url, scope) {
			continue
		}
		seen[at.document] = true
		switch {
		case at.open:
			open++
			continue
		case at.accepted:
			accepted++
		}
		documents++
	}
	return documents, accepted, open
}

// crawled reports whether the crawl of a site is complete.
func crawled(site store.SiteClue) bool { return site.State == gleaner.SiteDone && site.Waiting == 0 }

// refuses reports whether a site refused, or was stopped before the first page, but not by a
// person.
func refuses(site store.SiteClue) bool {
	return site.State == gleaner.SiteRefused ||
		site.State == gleaner.SiteStopped && site.Pages == 0 && site.Reason != gleaner.SitePaused
}

// read reports whether the homepage itself was read by a complete crawl.
func read(site store.SiteClue) bool { return crawled(site) && !site.Unasked && site.Unread == "" }

// barred reports whether the host of a site is on the blacklist. What it had may have been removed.
func barred(site store.SiteClue) bool { return strings.HasPrefix(site.Reason, gleaner.Blacklisted) }

// barren returns the homepages that led to no paper, in a fixed order. Other sites with papers
// that they link to had none either.
func (c *clues) barren() (out []evidence.Barren) {
	for _, author := range slices.Sorted(maps.Keys(c.authors)) {
		clue := c.authors[author]
		for i, h := range clue.Homepages {
			if brought := c.nothing(clue, i); brought != "" && h.Scope == "" && !barred(clue.Sites[i]) {
				out = append(out, evidence.Barren{Author: author, URL: h.URL, Brought: brought})
			}
		}
	}
	return out
}

// nothing returns the result of an author's i-th homepage if it was read, all of its links were
// examined, and none led to a paper; else "".
func (c *clues) nothing(of store.AuthorClue, i int) string {
	site := of.Sites[i]
	if !read(site) || site.Cut > 0 {
		return ""
	}
	documents, accepted, open := c.places.under(of.Homepages[i])
	if accepted > 0 || open > 0 {
		return ""
	}
	if of.Homepages[i].Scope == "" {
		for k, h := range of.Homepages {
			if h.Scope != "" && c.nothing(of, k) == "" {
				return ""
			}
		}
	}
	return broughtNothing(site.Pages, documents)
}

// bySite explains a missing paper by the sites of its authors.
func (c *clues) bySite(p gleaner.Paper) (Reason, []string) {
	var known, cut, nowhere, refused, waiting, listed []string
	for _, a := range p.Authors {
		clue := c.authors[a.ID()]
		if strings.HasPrefix(clue.NotFound, evidence.Withdrawn) {
			nowhere = append(nowhere, a.Name+": "+clue.NotFound)
		}
		for _, url := range clue.Barred {
			listed = append(listed, a.Name+" ("+url+"): "+evidence.OnBlacklist)
		}
		for _, url := range clue.Lifted {
			waiting = append(waiting, a.Name+" ("+url+"): off the blacklist, and not looked at since")
		}
		for i, h := range clue.Homepages {
			site := clue.Sites[i]
			at := h.URL
			if h.Scope != "" {
				at = "papers at " + at
			}
			line := strings.TrimSuffix(fmt.Sprintf("%s (%s): %s, %s", a.Name, at, site.State, site.Reason), ", ")
			if site.Cut > 0 {
				line += fmt.Sprintf(", %s not wholly looked at (%s)", text.Count(site.Cut, "page"), site.CutBy)
			}
			nothing := c.nothing(clue, i)
			switch {
			case barred(site) && (nothing != "" || site.State == gleaner.SiteStopped), site.State == gleaner.SiteStopped && site.Reason == gleaner.NotListed:
				listed = append(listed, line)
			case nothing != "":
				nowhere = append(nowhere, line+", "+nothing)
			case crawled(site) && site.Unasked:
				waiting = append(waiting, line+", and the page itself was not asked for")
			case crawled(site) && site.Unread != "":
				refused = append(refused, line+", but the page itself: "+site.Unread)
			case crawled(site) && site.Cut > 0, site.State == gleaner.SiteTrap && !site.Unasked:
				cut = append(cut, line)
			case crawled(site):
				known = append(known, fmt.Sprintf("%s, %s and %s fetched, %d failed, none is it", line, text.Count(site.Pages, "page"), text.Count(site.Documents, "document"), site.Failed))
			case refuses(site):
				refused = append(refused, line)
			default:
				waiting = append(waiting, fmt.Sprintf("%s, %s waiting", line, text.Count(site.Waiting, "URL")))
			}
		}
	}
	switch {
	case len(waiting) > 0:
		return NotYet, slices.Concat(waiting, cut, known, nowhere, refused)
	case len(cut) > 0:
		return CutShort, slices.Concat(cut, known, nowhere, refused, listed)
	case len(known) > 0:
		return NotLinked, slices.Concat(known, nowhere, refused, listed)
	case len(listed) > 0:
		return LeftOut, slices.Concat(listed, nowhere, refused)
	case len(refused) > 0:
		return SiteRefused, slices.Concat(refused, nowhere)
	case len(nowhere) > 0:
		return LedNowhere, nowhere
	}
	return "", nil
}

// broughtNothing describes a homepage without papers: it may belong to a namesake, or the papers
// are elsewhere.
func broughtNothing(pages, documents int) string {
	if documents == 0 {
		return text.Count(pages, "page") + " of its host fetched, and no document on it or linked from it"
	}
	return fmt.Sprintf("%s of its host fetched, and none of %s on it or linked from it is academic", text.Count(pages, "page"), text.Count(documents, "document"))
}
