package metadata

import (
	"context"

	"gleaner/internal/gleaner"
)

// Links finds copies in what is known of a paper already: its identifiers and
// electronic editions. It never sends a request.
type Links struct{}

const (
	// Editions is the source of a copy that the record of a paper links to.
	Editions = "ee"
	// mostEditions bounds the copies of a paper that its record links to. DBLP and Crossref give
	// one or two; a list that somebody made may name anything.
	mostEditions = 10
)

// NewLinks returns the source.
func NewLinks(Config) *Links { return &Links{} }

func (l *Links) Name() string { return "links" }

// Copies takes documents from addresses of known patterns (arXiv, the ACL
// Anthology) and by their ending; every other address, and the DOI, is a landing
// page.
func (l *Links) Copies(_ context.Context, p gleaner.Paper) ([]Copy, error) {
	var out []Copy
	arxiv, acl := p.ArXiv, aclID(p.DOI)
	for _, link := range p.Links {
		if id := gleaner.LabelledArXiv(link); id != "" {
			arxiv = id
			continue
		}
		if id := aclID(link); id != "" {
			acl = id
			continue
		}
		if doi := gleaner.ParseDOI(link); doi != "" && doi == p.DOI {
			continue // below, once
		}
		if len(out) == mostEditions {
			continue
		}
		c := Copy{URL: link, Version: UnknownVersion, Host: AtUnknown, Source: Editions, Landing: !looksDocument(link)}
		if c.Landing {
			// DBLP's editions are those of the publisher or of the venue itself.
			c.Version = Published
		}
		out = append(out, c)
	}
	if acl != "" {
		out = append(out, aclCopy(acl, p.Year, "acl"))
	}
	if arxiv != "" {
		out = append(out, arxivCopy(arxiv, "arxiv"))
	}
	if p.DOI != "" && gleaner.LabelledArXiv(p.DOI) == "" {
		out = append(out, Copy{URL: "https://doi.org/" + escapeDOI(p.DOI), Landing: true, Version: Published, Host: AtPublisher, Source: "doi"})
	}
	return out, nil
}
