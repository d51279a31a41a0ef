package crawl

import (
	"context"
	"strings"

	"gleaner/internal/collection"
	"gleaner/internal/fetch"
	"gleaner/internal/frontier"
	"gleaner/internal/gleaner"
	"gleaner/internal/page"
	"gleaner/internal/rank"
)

// doiMark stands before a DOI in the context of a link that a landing page names
// in its metadata, where there is no text around it.
const doiMark = "doi:"

// citeAs gives the link to a document that a landing page names in its metadata
// the words that it says there: the title and the DOI.
func citeAs(p *page.Page, l *page.Link) {
	if l.Source != page.SourceCitation {
		return
	}
	for _, name := range []string{"citation_title", "bepress_citation_title", "eprints.title", "dc.title"} {
		if t := p.Meta[name]; t != "" && l.Anchor == "" {
			l.Anchor = strings.ToValidUTF8(t[:min(len(t), 300)], "")
		}
	}
	for _, name := range []string{"citation_doi", "bepress_citation_doi", "prism.doi"} {
		if d := gleaner.ParseDOI(p.Meta[name]); d != "" && l.Context == "" {
			l.Context = doiMark + d
		}
	}
}

// file is what came back for an entry, with all that is known of where it was
// found.
func (s *slice) file(e *frontier.Entry, v *frontier.Visit, resp *fetch.Response) collection.File {
	f := collection.File{SiteID: s.site.ID, URL: resp.URL, Parent: e.Parent, Anchor: e.Link.Anchor, Context: e.Link.Context, Heading: e.Link.Heading,
		Header: resp.Header, Body: resp.Body, At: v.At}
	if e.Link.Source == page.SourceCitation {
		f.MetaTitle = e.Link.Anchor
		if doi, ok := strings.CutPrefix(e.Link.Context, doiMark); ok {
			f.DOI, f.Context = doi, ""
		}
	}
	return f
}

// paperPage keeps a page that is itself a wanted paper.
func (s *slice) paperPage(ctx context.Context, e *frontier.Entry, v *frontier.Visit, resp *fetch.Response, r rank.Result) (rank.Result, error) {
	if r.Page == nil || v.State != frontier.Page || r.Page.NoIndex {
		return r, nil
	}
	titles := append([]string{r.Page.Title, r.Page.Meta["citation_title"]}, r.Page.Headings[:min(len(r.Page.Headings), 3)]...)
	var j collection.Judgement
	is, f := false, s.file(e, v, resp)
	err := s.patiently(ctx, func() (err error) {
		j, is, err = s.coll.AddPage(context.WithoutCancel(ctx), f, titles, len(r.Page.Text))
		return err
	})
	if err != nil || !is {
		return r, err
	}
	s.progress.Documents++
	if j.Academic() {
		s.progress.Accepted++
	}
	if j.Found() {
		s.progress.Found++
	}
	return r, nil
}
