package crawl

import (
	"context"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/library/collection"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
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
func (l *loop) file(e *frontier.Entry, v *frontier.Visit, a *Answer) collection.File {
	f := collection.File{SiteID: l.site.ID, URL: a.URL, Asked: e.Link.URL, Parent: e.Parent, Anchor: e.Link.Anchor, Context: e.Link.Context, Heading: e.Link.Heading,
		Header: a.Header, Body: a.Body, At: v.At}
	if e.Link.Source == page.SourceCitation {
		f.MetaTitle = e.Link.Anchor
		if doi, ok := strings.CutPrefix(e.Link.Context, doiMark); ok {
			f.DOI, f.Context = doi, ""
		}
	}
	return f
}

// paperPage keeps a page that is itself a paper.
func (l *loop) paperPage(ctx context.Context, e *frontier.Entry, v *frontier.Visit, a *Answer, r rank.Result) error {
	if r.Page == nil || v.State != frontier.Page || r.Page.NoIndex {
		return nil
	}
	verdict, is, err := l.library.KeepPage(ctx, l.file(e, v, a), r.Page.Titles(), r.Page.Text)
	if err != nil || !is {
		return err
	}
	l.progress.Documents++
	l.count(verdict)
	return nil
}
