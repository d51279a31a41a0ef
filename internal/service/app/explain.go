package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/rules"
	"gleaner/internal/web/weburl"
)

// Explanation is all that is known of a URL.
type Explanation struct {
	store.URLRecord
	LinkedBy []store.BackLink          `json:"linked_by,omitempty"`
	Found    []store.Document          `json:"found,omitempty"`
	Is       map[string]*gleaner.Paper `json:"is,omitempty"`     // which paper a document here is, by its SHA-256
	Denied   []string                  `json:"denied,omitempty"` // papers that a person said no document here is
	Lists    []string                  `json:"lists,omitempty"`  // that leave it out, by harvest
	Site     *store.SiteRow            `json:"site,omitempty"`   // nil for a document that an import brought
}

// maxBackLinks is how many pages that link to a file are told of.
const maxBackLinks = 100

// Explain tells what is known of a URL in its one spelling: why it was taken when it
// was, which lists leave it out, and what came of it.
func (a *App) Explain(ctx context.Context, url string) (*Explanation, error) {
	lists, err := a.keptOut(ctx, url)
	if err != nil {
		return nil, err
	}
	h := frontier.HashOf(url)
	r, err := a.DB.ExplainURL(ctx, weburl.Host(url), h[:])
	if err != nil {
		return nil, neverMet(err, lists)
	}
	e := &Explanation{URLRecord: r, Lists: lists, Is: map[string]*gleaner.Paper{}}
	sites, err := a.DB.Sites(ctx, store.SiteQuery{Host: r.Host, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(sites) > 0 {
		e.Site = &sites[0]
	}
	if e.LinkedBy, err = a.DB.BackLinks(ctx, h[:], maxBackLinks); err != nil {
		return nil, err
	}
	for _, sha := range r.SHA256 {
		d, _, err := a.DB.Document(ctx, sha)
		if err != nil {
			return nil, err
		}
		e.Found = append(e.Found, d)
		switch p, err := a.DB.PaperOf(ctx, sha); {
		case err != nil:
			return nil, err
		case p.Key != "":
			e.Is[sha] = &p
		}
		matches, err := a.DB.Matches(ctx, sha)
		if err != nil {
			return nil, err
		}
		for _, m := range matches {
			if m.Settled == "no" {
				e.Denied = append(e.Denied, m.Paper)
			}
		}
	}
	return e, nil
}

// keptOut says, for each harvest that wants a URL's host, by which list it leaves
// the URL out.
func (a *App) keptOut(ctx context.Context, url string) (lines []string, err error) {
	all, err := a.DB.LinkLists(ctx, weburl.Host(url))
	if err != nil {
		return nil, err
	}
	worker := Links(a.Config)
	if len(all) == 0 {
		all = []store.LinkLists{{Harvest: "the policy"}}
	}
	learnt, err := a.DB.StopNames(ctx, a.Stats.StopSites, a.Stats.StopShare)
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		if rule, entry := rules.New(h.Lists.Over(worker), learnt).KeepsOut(url, weburl.IsDocumentName(url)); rule != "" {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s", rule, entry))+" ("+h.Harvest+")")
		}
	}
	return lines, nil
}

// neverMet says of a URL that is not on record which lists would keep it out.
func neverMet(err error, lists []string) error {
	if errors.Is(err, store.ErrNoURL) && len(lists) > 0 {
		return fmt.Errorf("%w; the lists leave it out: %s", err, strings.Join(lists, ", "))
	}
	return err
}
