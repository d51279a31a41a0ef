package metadata

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// s2Batch is how many papers one request may name.
const s2Batch = 500

// SemanticScholar knows open PDFs of papers and homepages of authors.
type SemanticScholar struct {
	url string
	svc *service
}

// NewSemanticScholar returns a client; without a key it shares a public pool
// that answers 429 at busy times.
func NewSemanticScholar(cfg Config) *SemanticScholar {
	cfg = cfg.withDefaults()
	s := &SemanticScholar{url: cfg.SemanticScholarURL, svc: newService(cfg, "Semantic Scholar", cfg.Delays.SemanticScholar)}
	if cfg.SemanticScholarKey != "" {
		s.svc.header.Set("x-api-key", cfg.SemanticScholarKey)
	}
	return s
}

func (s *SemanticScholar) Name() string { return "s2" }

type s2Paper struct {
	IDs     struct{ ArXiv, ACL string } `json:"externalIds"` // of others, CorpusId is a number
	PDF     *s2PDF                      `json:"openAccessPdf"`
	Authors []s2PaperAuthor             `json:"authors"`
	// Citations is filled where citationCount was asked for.
	Citations int64 `json:"citationCount"`
}

type s2PDF struct {
	URL     string `json:"url"`
	Status  string `json:"status"`
	License string `json:"license"`
}

type s2PaperAuthor struct {
	ID   string `json:"authorId"`
	Name string `json:"name"`
}

// s2ID names a paper as Semantic Scholar takes it, or "".
func s2ID(p gleaner.Paper) string {
	switch {
	case p.ArXiv != "":
		return "ARXIV:" + p.ArXiv
	case p.DOI != "":
		return "DOI:" + p.DOI
	}
	for _, link := range p.Links {
		if id := aclID(link); id != "" {
			return "ACL:" + id
		}
	}
	return ""
}

// lookUp asks for many papers; the answer has one place for each, nil where the
// paper is unknown.
func (s *SemanticScholar) lookUp(ctx context.Context, papers []gleaner.Paper, fields string) ([]*s2Paper, error) {
	out := make([]*s2Paper, len(papers))
	var at []int // the papers that have an id
	for i, p := range papers {
		if s2ID(p) != "" {
			at = append(at, i)
		}
	}
	for some := range slices.Chunk(at, s2Batch) {
		var ans []*s2Paper
		addr := query(s.url, "/graph/v1/paper/batch", url.Values{"fields": {fields}})
		ids := each.Of(some, func(i int) string { return s2ID(papers[i]) })
		err := s.svc.post(ctx, addr, map[string][]string{"ids": ids}, &ans)
		if refused, ok := errors.AsType[ErrRefused](err); ok && strings.Contains(refused.Reason, "No valid paper ids") {
			continue // all of them unknown
		}
		if err != nil {
			return nil, err
		}
		if len(ans) != len(some) {
			return nil, ErrBadAnswer{"Semantic Scholar", addr, errors.New("the answer is not as long as the question")}
		}
		for i, a := range ans {
			out[some[i]] = a
		}
	}
	return out, nil
}

// Copies looks one paper up.
func (s *SemanticScholar) Copies(ctx context.Context, p gleaner.Paper) ([]Copy, error) {
	return copiesOfOne(ctx, p, s.CopiesOf)
}

// CopiesOf looks many papers up, five hundred a request.
func (s *SemanticScholar) CopiesOf(ctx context.Context, papers []gleaner.Paper) ([][]Copy, error) {
	found, err := s.lookUp(ctx, papers, "externalIds,openAccessPdf")
	if err != nil {
		return nil, err
	}
	out := make([][]Copy, len(papers))
	for i, f := range found {
		if f != nil {
			out[i] = f.copies()
		}
	}
	return out, nil
}

// copies reads openAccessPdf, whose address may be blank, and stands there for
// papers that are CLOSED too. An arXiv identifier is an open copy in itself.
func (p s2Paper) copies() []Copy {
	var out []Copy
	if p.PDF != nil && strings.TrimSpace(p.PDF.URL) != "" && !strings.EqualFold(p.PDF.Status, "CLOSED") {
		c := Copy{URL: p.PDF.URL, Version: UnknownVersion, License: strings.ReplaceAll(strings.ToLower(p.PDF.License), "ccby", "cc-by"), Host: AtUnknown, Source: "s2"}
		switch strings.ToUpper(p.PDF.Status) {
		case "GOLD", "HYBRID", "BRONZE", "DIAMOND":
			c.Version, c.Host = Published, AtPublisher
		case "GREEN":
			c.Host = AtRepository
		}
		// DOI resolvers and abstract pages stand in this field at times.
		c.Landing = gleaner.ParseDOI(c.URL) != "" || strings.Contains(c.URL, "arxiv.org/abs/")
		out = append(out, c)
	}
	if id := p.IDs.ArXiv; id != "" {
		out = append(out, arxivCopy(id, "s2"))
	}
	if id := p.IDs.ACL; id != "" {
		out = append(out, aclCopy(id, 0, "s2"))
	}
	return out
}

// AuthorIDs names the Semantic Scholar authors of papers: for each paper, in its
// own order of authors, the ids ("" where unknown). They match the paper's
// authors one by one only if there are as many.
func (s *SemanticScholar) AuthorIDs(ctx context.Context, papers []gleaner.Paper) ([][]string, error) {
	found, err := s.lookUp(ctx, papers, "externalIds,authors")
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(papers))
	for i, f := range found {
		if f == nil || len(f.Authors) != len(papers[i].Authors) {
			continue
		}
		for _, a := range f.Authors {
			out[i] = append(out[i], a.ID)
		}
	}
	return out, nil
}

type s2Author struct {
	ID           string                 `json:"authorId"`
	Name         string                 `json:"name"`
	Homepage     string                 `json:"homepage"`
	Affiliations []string               `json:"affiliations"`
	IDs          struct{ ORCID string } `json:"externalIds"` // of others, DBLP is a list of names
	URL          string                 `json:"url"`
}

// s2AuthorBatch is how many authors one request may name.
const s2AuthorBatch = 1000

// Persons looks many authors up, a thousand a request; unknown ones are absent.
func (s *SemanticScholar) Persons(ctx context.Context, ids []string) (map[string]gleaner.Person, error) {
	out := map[string]gleaner.Person{}
	addr := query(s.url, "/graph/v1/author/batch", url.Values{"fields": {"name,homepage,affiliations,externalIds,url"}})
	for some := range slices.Chunk(ids, s2AuthorBatch) {
		var ans []*s2Author
		if err := s.svc.post(ctx, addr, map[string][]string{"ids": some}, &ans); err != nil {
			return nil, err
		}
		if len(ans) > len(some) {
			return nil, ErrBadAnswer{"Semantic Scholar", addr, ErrTooMuch{"authors, which is what was asked for", len(some)}}
		}
		for _, a := range ans {
			if a == nil || a.ID == "" {
				continue
			}
			p := a.person()
			if err := soundPerson(p); err != nil {
				return out, ErrBadAnswer{"Semantic Scholar", cut(a.ID), err}
			}
			out[a.ID] = p
		}
	}
	return out, nil
}

func (a s2Author) person() gleaner.Person {
	p := gleaner.Person{Author: gleaner.Author{PID: "s2:" + a.ID, Name: cleanName(a.Name)}, Affiliations: a.Affiliations}
	addURL(&p, a.Homepage)
	if a.URL != "" {
		addProfile(&p, "s2", a.URL)
	}
	if id := a.IDs.ORCID; id != "" {
		addProfile(&p, "orcid", "https://orcid.org/"+id)
	}
	return p
}
