package report

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/harvest"
	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// places are where documents stand on a harvest's sites.
type places struct {
	whole  bool // of every homepage its whole host was crawled
	byHost map[string][]place
}

// place is the URL of a document, or of the page that links to it.
type place struct {
	url      string
	document string
	accepted bool
}

func (b *builder) places(ctx context.Context) (places, error) {
	all, err := b.db.HarvestPlaces(ctx, b.r.Harvest.ID)
	if err != nil {
		return places{}, err
	}
	var options struct{ Scope string }
	err = json.Unmarshal(b.r.Harvest.Options, &options)
	return newPlaces(all, options.Scope == harvest.ScopeHost), err
}

func newPlaces(all []store.Place, whole bool) places {
	p := places{whole: whole, byHost: map[string][]place{}}
	for _, of := range all {
		for _, url := range []string{of.URL, of.Parent} {
			host := weburl.Host(url)
			p.byHost[host] = append(p.byHost[host], place{url, of.URL, of.Accepted})
		}
	}
	return p
}

// under counts the documents that a homepage led to: those in its scope, and those
// that a page in its scope links to.
func (p places) under(homepage string) (documents, accepted int) {
	scope := []string{"/"}
	if !p.whole {
		scope = []string{weburl.PathPrefix(homepage)}
	}
	seen := map[string]bool{}
	for _, at := range p.byHost[weburl.Host(homepage)] {
		if seen[at.document] || !weburl.InScope(at.url, scope) {
			continue
		}
		seen[at.document] = true
		documents++
		if at.accepted {
			accepted++
		}
	}
	return documents, accepted
}

// barren are the homepages that led nowhere, in one order.
func (c *clues) barren() (out []evidence.Barren) {
	for _, author := range slices.Sorted(maps.Keys(c.authors)) {
		clue := c.authors[author]
		for i, url := range clue.Homepages {
			if brought := c.nothing(clue, i); brought != "" {
				out = append(out, evidence.Barren{Author: author, URL: url, Brought: brought})
			}
		}
	}
	return out
}

// nothing is what an author's homepage, the i-th, came to that led nowhere; "" of any other.
func (c *clues) nothing(of store.AuthorClue, i int) string {
	documents, accepted := c.places.under(of.Homepages[i])
	if site := of.Sites[i]; site.State == gleaner.SiteDone && site.Waiting == 0 && accepted == 0 {
		return broughtNothing(site.Pages, documents)
	}
	return ""
}

// bySite looks at where the authors live.
func (c *clues) bySite(p gleaner.Paper) (Reason, []string) {
	var crawled, nowhere, refused, waiting []string
	for _, a := range p.Authors {
		clue := c.authors[a.ID()]
		if strings.HasPrefix(clue.NotFound, evidence.Withdrawn) {
			nowhere = append(nowhere, a.Name+": "+clue.NotFound)
		}
		for i, url := range clue.Homepages {
			site := clue.Sites[i]
			line := fmt.Sprintf("%s (%s): %s", a.Name, url, site.State)
			if site.Reason != "" {
				line += ", " + site.Reason
			}
			nothing := c.nothing(clue, i)
			switch {
			case nothing != "":
				nowhere = append(nowhere, line+", "+nothing)
			case site.State == gleaner.SiteDone && site.Waiting == 0:
				crawled = append(crawled, fmt.Sprintf("%s, %d pages and %d documents fetched, none is it", line, site.Pages, site.Documents))
			case site.State == gleaner.SiteRefused, site.Pages == 0 && site.State == gleaner.SiteStopped:
				refused = append(refused, line)
			default:
				waiting = append(waiting, fmt.Sprintf("%s, %d URLs wait", line, site.Waiting))
			}
		}
	}
	switch {
	case len(waiting) > 0:
		return NotYet, slices.Concat(waiting, crawled, nowhere, refused)
	case len(crawled) > 0:
		return NotLinked, slices.Concat(crawled, nowhere, refused)
	case len(refused) > 0:
		return SiteRefused, slices.Concat(refused, nowhere)
	case len(nowhere) > 0:
		return LedNowhere, nowhere
	}
	return "", nil
}

// broughtNothing says what a homepage came to that has no paper at all: it may be the
// page of another person of the name, or the papers lie elsewhere.
func broughtNothing(pages, documents int) string {
	if documents == 0 {
		return fmt.Sprintf("%d pages of its host fetched, and no document on it or linked from it", pages)
	}
	return fmt.Sprintf("%d pages of its host fetched, and none of %d documents on it or linked from it is academic", pages, documents)
}
