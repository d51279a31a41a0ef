package console

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	stages "gleaner/internal/harvest"
	"gleaner/internal/record/store"
	"gleaner/internal/service/config"
)

// homepagesPage lists the authors of a harvest's wanted papers with their homepages, by name.
type homepagesPage struct {
	Harvest string                  `json:"harvest"`
	Missing bool                    `json:"missing,omitempty"` // only authors without a homepage
	All     int                     `json:"all"`               // authors
	Found   int                     `json:"found"`             // of these, with a homepage
	Authors []store.AuthorHomepages `json:"authors"`
	Next    string                  `json:"next,omitempty"`

	ofHarvest
}

func homepages(ctx context.Context, c *Console, a *asked) (any, error) {
	h, of, err := harvestAsked(ctx, c, a)
	if err != nil {
		return nil, err
	}
	p := homepagesPage{Harvest: h.ID, Missing: a.get("missing") == "yes", ofHarvest: of}
	all, err := c.App.DB.ListHomepages(ctx, h.ID)
	p.All = len(all)
	all = slices.DeleteFunc(all, func(l store.AuthorHomepages) bool {
		found := len(l.Homepages) > 0
		if found {
			p.Found++
		}
		return p.Missing && found
	})
	after := a.number("after")
	p.Authors, p.Next = more(all[min(after, len(all)):],
		func(store.AuthorHomepages) string { return strconv.Itoa(after + pageSize) })
	return p, err
}

// personPage is an author: what is known of their homepages, and why.
type personPage struct {
	stages.Explained
}

// FoundBy says how a page was found.
func (personPage) FoundBy(source string) string {
	by, _ := strings.CutPrefix(source, evidence.SourceListed+":")
	if by != source && by != "user" && by != evidence.SourceCrawl {
		return "listed by " + by
	}
	return cmp.Or(map[string]string{
		"user":                  "named by a person",
		evidence.SourceCrawl:    "papers of theirs were found there",
		evidence.SourceVenue:    "a search for the name and the venue",
		evidence.SourceTitle:    "a search for the name and a title",
		evidence.SourceCoAuthor: "a link on a page of a co-author",
		evidence.SourcePeople:   "a link on a list of people",
		evidence.SourceInner:    "a link on a page of theirs",
		evidence.SourceMoved:    "a page that has moved there",
		evidence.SourcePapers:   "a link on their homepage",
	}[by], by)
}

func person(ctx context.Context, c *Console, a *asked) (any, error) {
	who, err := author(ctx, c, a.get("id"))
	if err != nil {
		return nil, err
	}
	e, err := stages.Homepages{DB: c.App.DB}.Explain(ctx, who)
	e.Kept, e.Papers = each.List(e.Kept), each.List(e.Papers)
	return personPage{e}, err
}

// author finds an author by their id.
func author(ctx context.Context, c *Console, id string) (gleaner.Author, error) {
	all, err := c.App.DB.AuthorsByName(ctx, id)
	for _, who := range all {
		if who.ID() == id {
			return who, err
		}
	}
	return gleaner.Author{}, cmp.Or(err, fmt.Errorf("%w: nobody on record has the id %s", errNoPage, id))
}

// personPath is the address of an author's page.
func personPath(id string) string { return "/people/" + url.PathEscape(id) }

func actOnPerson(ctx context.Context, c *Console, a *asked) (any, error) {
	who, err := author(ctx, c, a.get("id"))
	if err != nil {
		return nil, err
	}
	word := a.get("do")
	if word == doForget {
		word = ""
	}
	at := strings.TrimSpace(a.get("url"))
	if config.Redact(at) != at {
		return nil, fmt.Errorf(
			"%w: the address has a name, a password or a key in it, and no crawl sends one", errInput,
		)
	}
	did, err := c.Harvests.SetHomepage(ctx, who, at, word)
	return c.done(ctx, a, donePage{who.ID(), did, redirect{personPath(who.ID()), did + "."}}, err, "url", at)
}
