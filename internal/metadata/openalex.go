package metadata

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
)

// openAlexPage is the most works, and the most values of one filter, that
// OpenAlex takes at once.
const openAlexPage = 100

// OpenAlex lists the works of a journal and, for any paper with a DOI, every
// place where a copy lies. Its knowledge of conferences is poor from 2023 on, so
// it never decides what belongs to one.
type OpenAlex struct {
	url string
	key string
	svc *service
}

// NewOpenAlex returns a client. Without Config.OpenAlexKey every call is an
// ErrRefused that says where to get one.
func NewOpenAlex(cfg Config) *OpenAlex {
	cfg = cfg.withDefaults()
	return &OpenAlex{url: cfg.OpenAlexURL, key: cfg.OpenAlexKey, svc: newService(cfg, "OpenAlex", cfg.Delays.OpenAlex)}
}

func (o *OpenAlex) Name() string { return "openalex" }

type openAlexAnswer struct {
	Meta struct {
		Count  int    `json:"count"`
		Cursor string `json:"next_cursor"`
	} `json:"meta"`
	Results []openAlexWork `json:"results"`
}

type openAlexWork struct {
	ID          string `json:"id"`
	DOI         string `json:"doi"`
	Title       string `json:"title"`
	Year        int    `json:"publication_year"`
	Paratext    bool   `json:"is_paratext"`
	Authorships []struct {
		Author struct {
			ID    string `json:"id"`
			Name  string `json:"display_name"`
			ORCID string `json:"orcid"`
		} `json:"author"`
	} `json:"authorships"`
	Biblio struct {
		First string `json:"first_page"`
		Last  string `json:"last_page"`
	} `json:"biblio"`
	Primary   *openAlexLocation  `json:"primary_location"`
	Best      *openAlexLocation  `json:"best_oa_location"`
	Locations []openAlexLocation `json:"locations"`
}

type openAlexLocation struct {
	IsOA    bool   `json:"is_oa"`
	Landing string `json:"landing_page_url"`
	PDF     string `json:"pdf_url"`
	License string `json:"license"`
	Version string `json:"version"`
	Source  *struct {
		Type string `json:"type"`
	} `json:"source"`
}

func (o *OpenAlex) keyless() error {
	if o.key != "" {
		return nil
	}
	return ErrRefused{Service: "OpenAlex", URL: o.url, Reason: "it needs an API key (free, from openalex.org/settings/api), and none is configured"}
}

// Papers lists the works whose home is the venue: IDs["openalex"] (S…), or
// IDs["issn"].
func (o *OpenAlex) Papers(ctx context.Context, v gleaner.Venue, years gleaner.Years) ([]gleaner.Paper, error) {
	if err := o.keyless(); err != nil {
		return nil, err
	}
	filter := ""
	switch {
	case v.IDs["openalex"] != "":
		filter = "primary_location.source.id:" + strings.Join(splitIDs(v.IDs["openalex"]), "|")
	case v.IDs["issn"] != "":
		filter = "primary_location.source.issn:" + strings.Join(splitIDs(v.IDs["issn"]), "|")
	default:
		return nil, ErrNotCovered{o.Name(), v.Key, "openalex or issn"}
	}
	if years != (gleaner.Years{}) {
		filter += fmt.Sprintf(",publication_year:%d-%d", years.From, years.To)
	}
	works, err := o.all(ctx, filter, "id,doi,title,publication_year,type,is_paratext,authorships,biblio,primary_location")
	if err != nil {
		return nil, err
	}
	var out []gleaner.Paper
	for _, w := range works {
		if p, ok := w.paper(v.Key); ok && years.Contains(p.Year) {
			out = append(out, p)
		}
	}
	return out, nil
}

func (o *OpenAlex) all(ctx context.Context, filter, fields string) ([]openAlexWork, error) {
	return listed("OpenAlex", o.url, func(w openAlexWork) string { return w.ID }, func(cursor string) ([]openAlexWork, int, string, error) {
		var ans openAlexAnswer
		err := o.svc.json(ctx, query(o.url, "/works", url.Values{
			"filter": {filter}, "select": {fields}, "per_page": {fmt.Sprint(openAlexPage)}, "cursor": {cursor}, "api_key": {o.key},
		}), &ans)
		return ans.Results, ans.Meta.Count, ans.Meta.Cursor, badKey(err)
	})
}

// badKey words a refusal of the key.
func badKey(err error) error {
	var refused ErrRefused
	if errors.As(err, &refused) && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden) {
		refused.Reason = "it does not accept the configured API key"
		return refused
	}
	return err
}

func (w openAlexWork) paper(key string) (gleaner.Paper, bool) {
	title := cleanTitle(w.Title)
	if w.Paratext || title == "" || isFrontMatter(title) {
		return gleaner.Paper{}, false
	}
	p := gleaner.Paper{Key: "openalex:" + lastSegment(w.ID), Venue: key, Year: w.Year, Title: title, DOI: gleaner.ParseDOI(w.DOI), Pages: w.Biblio.First}
	p.ArXiv = gleaner.LabelledArXiv(p.DOI)
	if w.Biblio.Last != "" && w.Biblio.Last != w.Biblio.First {
		p.Pages += "-" + w.Biblio.Last
	}
	for _, a := range w.Authorships {
		author := gleaner.Author{Name: cleanName(a.Author.Name), PID: "openalex:" + lastSegment(a.Author.ID)}
		if id := gleaner.ORCID(a.Author.ORCID); id != "" {
			author.PID = "orcid:" + id
		}
		if author.Name != "" {
			p.Authors = append(p.Authors, author)
		}
	}
	if w.Primary != nil && w.Primary.Landing != "" {
		p.Links = []string{w.Primary.Landing}
	}
	return p, true
}

// Copies lists the open locations of one paper, by its DOI.
func (o *OpenAlex) Copies(ctx context.Context, p gleaner.Paper) ([]Copy, error) {
	return copiesOfOne(ctx, p, o.CopiesOf)
}

// CopiesOf lists the open locations of many papers, a hundred a request.
func (o *OpenAlex) CopiesOf(ctx context.Context, papers []gleaner.Paper) ([][]Copy, error) {
	if err := o.keyless(); err != nil {
		return nil, err
	}
	out := make([][]Copy, len(papers))
	at := map[string][]int{}
	var dois []string
	for i, p := range papers {
		// A comma or bar would end the value within the filter.
		if p.DOI == "" || strings.ContainsAny(p.DOI, ",|") {
			continue
		}
		if len(at[p.DOI]) == 0 {
			dois = append(dois, p.DOI)
		}
		at[p.DOI] = append(at[p.DOI], i)
	}
	for some := range slices.Chunk(dois, openAlexPage) {
		works, err := o.all(ctx, "doi:"+strings.Join(some, "|"), "id,doi,best_oa_location,locations")
		if err != nil {
			return nil, err
		}
		for _, w := range works {
			for _, i := range at[gleaner.ParseDOI(w.DOI)] {
				out[i] = append(out[i], w.copies()...)
			}
		}
	}
	return out, nil
}

func (w openAlexWork) copies() []Copy {
	var out []Copy
	locations := w.Locations
	if w.Best != nil {
		locations = append([]openAlexLocation{*w.Best}, locations...)
	}
	for _, l := range locations {
		c := Copy{URL: l.PDF, Version: versionOf(l.Version), License: l.License, Host: AtPublisher, Source: "openalex"}
		if l.Source != nil && l.Source.Type == "repository" {
			c.Host = AtRepository
		}
		if !l.IsOA {
			continue
		}
		if c.URL == "" {
			c.URL, c.Landing = l.Landing, true
		}
		if c.URL != "" {
			out = append(out, c)
		}
	}
	return out
}

// versionOf reads "publishedVersion", "acceptedVersion", "submittedVersion".
func versionOf(s string) Version {
	switch v := Version(strings.TrimSuffix(s, "Version")); v {
	case Published, Accepted, Submitted:
		return v
	}
	return UnknownVersion
}

// copiesOfOne asks for one paper as for many.
func copiesOfOne(ctx context.Context, p gleaner.Paper, of func(context.Context, []gleaner.Paper) ([][]Copy, error)) ([]Copy, error) {
	lists, err := of(ctx, []gleaner.Paper{p})
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}
