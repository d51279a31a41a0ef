package evaluate

import (
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// graph is a site of links alone, of which a test says what is where.
type graph struct {
	pages map[string]*page.Page
	kinds map[string]Kind // documents
}

const (
	graphHost = "http://conf.example.org"
	listPath  = "html>body>div.main>ul>li>a"
)

// Start is the site's home page.
func (s *graph) Start() string { return graphHost + "/" }

// Get answers with a page, or with a document of a kind that Judge knows.
func (s *graph) Get(u string) (Answer, error) {
	if p, ok := s.pages[weburl.Key(u)]; ok {
		return Answer{URL: p.URL, Page: p}, nil
	}
	if _, ok := s.kinds[weburl.Key(u)]; ok {
		return Answer{URL: u, Document: true}, nil
	}
	return Answer{}, ErrMissing
}

// Judge is the kind of a document of the site.
func (s *graph) Judge(u string) Kind { return s.kinds[weburl.Key(u)] }

func (s *graph) page(path, title string) *page.Page {
	u := graphHost + path
	k := weburl.Key(u)
	if p, ok := s.pages[k]; ok {
		return p
	}
	p := &page.Page{URL: u, Base: u, Title: title, Headings: []string{title}}
	s.pages[k] = p
	return p
}

func (s *graph) link(from *page.Page, to, anchor, tagPath, context string) {
	from.Links = append(from.Links, page.Link{URL: to, Anchor: anchor, Context: context, Heading: from.Title,
		TagPath: tagPath, Position: len(from.Links), Source: page.SourceAnchor})
}

func (s *graph) document(from *page.Page, path, anchor, tagPath, context string, kind Kind) {
	u := graphHost + path
	s.kinds[weburl.Key(u)] = kind
	s.link(from, u, anchor, tagPath, context)
}
