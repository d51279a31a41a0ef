package metadata

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/match"
)

// arxivTitles is how many titles one search asks for: more make addresses that
// are cut on the way.
const arxivTitles = 10

// ArXiv finds preprints, by identifier or by title.
type ArXiv struct {
	url string
	svc *service
}

// NewArXiv returns a client; arXiv asks for three seconds between requests and
// one connection.
func NewArXiv(cfg Config) *ArXiv {
	cfg = cfg.withDefaults()
	return &ArXiv{url: cfg.ArXivURL, svc: newService(cfg, "arXiv", cfg.Delays.ArXiv)}
}

func (a *ArXiv) Name() string { return "arxiv" }

type atomFeed struct {
	Total   int         `xml:"totalResults"`
	Entries []atomEntry `xml:"entry"`
}

type atomEntry struct {
	ID        string `xml:"id"`
	Title     rich   `xml:"title"`
	Summary   string `xml:"summary"`
	Published string `xml:"published"`
	Authors   []struct {
		Name string `xml:"name"`
	} `xml:"author"`
	Links []struct {
		Href  string `xml:"href,attr"`
		Title string `xml:"title,attr"`
		Rel   string `xml:"rel,attr"`
	} `xml:"link"`
	DOI string `xml:"doi"`
}

func (e atomEntry) paper() gleaner.Paper {
	p := gleaner.Paper{Title: cleanTitle(string(e.Title)), ArXiv: gleaner.LabelledArXiv(e.ID), DOI: gleaner.ParseDOI(e.DOI)}
	p.Key = "arxiv:" + p.ArXiv
	p.Year = atoi(e.Published[:min(4, len(e.Published))])
	for _, a := range e.Authors {
		p.Authors = append(p.Authors, gleaner.Author{Name: cleanName(a.Name)})
	}
	for _, l := range e.Links {
		if l.Title == "pdf" || l.Rel == "alternate" {
			p.Links = append(p.Links, l.Href)
		}
	}
	return p
}

// Copies finds a paper's preprint.
func (a *ArXiv) Copies(ctx context.Context, p gleaner.Paper) ([]Copy, error) {
	return copiesOfOne(ctx, p, a.CopiesOf)
}

// CopiesOf finds the preprints of many papers. Those whose identifier is known
// need no request; the others are searched by title, ten a request, and taken
// where title and authors match.
func (a *ArXiv) CopiesOf(ctx context.Context, papers []gleaner.Paper) ([][]Copy, error) {
	out := make([][]Copy, len(papers))
	var ask []int
	for i, p := range papers {
		switch {
		case p.ArXiv != "":
			out[i] = []Copy{arxivCopy(p.ArXiv, a.Name())}
		case titleQuery(p.Title) != "" && p.Year >= 1991: // the year arXiv began
			ask = append(ask, i)
		}
	}
	for some := range slices.Chunk(ask, arxivTitles) {
		terms := each.Of(some, func(i int) string { return titleQuery(papers[i].Title) })
		found, err := a.search(ctx, strings.Join(terms, " OR "), 5*len(some))
		if err != nil {
			return nil, err
		}
		for _, i := range some {
			for _, f := range found {
				if v, _, _ := match.Records(papers[i], f); v == match.Exact || v == match.Strong {
					out[i] = append(out[i], arxivCopy(f.ArXiv, a.Name()))
				}
			}
		}
	}
	return out, nil
}

var notWordRE = regexp.MustCompile(`[^\pL\pN]+`)

// titleQuery asks for a title as a phrase; signs confuse arXiv's parser. "" for
// a title too short to tell anything.
func titleQuery(title string) string {
	words := strings.Fields(notWordRE.ReplaceAllString(title, " "))
	if len(words) < 3 {
		return ""
	}
	return `ti:"` + strings.Join(words, " ") + `"`
}

func (a *ArXiv) search(ctx context.Context, q string, most int) ([]gleaner.Paper, error) {
	addr := query(a.url, "/api/query", url.Values{"search_query": {q}, "start": {"0"}, "max_results": {fmt.Sprint(most)}})
	var feed atomFeed
	if err := a.svc.xml(ctx, addr, &feed); err != nil {
		return nil, err
	}
	if len(feed.Entries) > most {
		return nil, ErrBadAnswer{"arXiv", addr, ErrTooMuch{"entries", most}}
	}
	var out []gleaner.Paper
	for _, e := range feed.Entries {
		// arXiv reports errors as an entry under status 200.
		if strings.Contains(e.ID, "/api/errors") {
			return nil, ErrRefused{Service: "arXiv", URL: addr, Reason: cut(e.Summary)}
		}
		if p := e.paper(); p.ArXiv != "" {
			out = append(out, p)
		}
	}
	if len(out) == 0 && feed.Total > 0 {
		// Known trouble of theirs: an empty page of a list that is not empty.
		return nil, ErrUnavailable{Service: "arXiv", URL: addr, Err: errors.New("an empty page of a list that is not empty")}
	}
	return out, nil
}

// arxivCopy is the document of an identifier.
func arxivCopy(id, source string) Copy {
	return Copy{URL: "https://arxiv.org/pdf/" + id, Version: Submitted, Host: AtRepository, Source: source}
}
