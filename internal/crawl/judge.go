package crawl

import (
	"context"
	"errors"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/library/collection"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
)

// judgedMembers is how many documents of one archive a slice judges. The rest is
// judged when the site ends, as all is that a slice did not get to: its host waits
// for none of that.
const judgedMembers = 8

// leastMember is what a document from an archive counts for at least, in bytes: it
// is stored, read and matched however small it is, and an archive of a few KiB has
// hundreds.
const leastMember = 1 << 20

// document keeps a file. It is judged when the visit is written.
func (l *loop) document(ctx context.Context, e *frontier.Entry, v *frontier.Visit, a *Answer) (_ rank.Result, err error) {
	v.State = frontier.Document
	l.progress.Documents++
	if l.kept, err = l.Judge.Keep(ctx, l.file(e, v, a)); err != nil {
		return rank.Result{Document: true}, err
	}
	if n := len(l.kept.Documents); n > 1 {
		l.brings(e, max(l.kept.Bytes, int64(n)*leastMember)) // of an archive there may be a thousand times what was received
	}
	if l.kept.Cut != "" {
		v.Reason = leftOut(v.Reason, []string{l.kept.Cut})
	}
	return rank.Result{Document: true}, err
}

// release lets go of the documents of the last visit.
func (l *loop) release() {
	l.kept.Release()
	l.kept = nil
}

// judge examines the documents of the last visit, for as long as the crawl is
// wanted. What they are the crawl learns from; what it leaves stays kept, to be
// examined later.
func (l *loop) judge(ctx context.Context, url string) (rank.Result, error) {
	r := rank.Result{Document: true, Unwanted: l.site.Wanted.Len() > 0}
	defer l.release()
	docs := l.kept.Documents
	for _, d := range docs[:min(len(docs), judgedMembers)] {
		if ctx.Err() != nil || l.stop.Load() != nil {
			return r, nil // the loop says why
		}
		if err := l.Recorder.Hold(ctx); err != nil {
			return r, err
		}
		err := guard.Logged(ctx, l.Log, url, func() error { return l.judgeOne(ctx, d, &r) })
		if err != nil && ctx.Err() == nil && !errors.Is(err, collection.ErrUnrecognised) {
			// It is kept and waits to be examined; one file must not hold up
			// its site.
			l.Log.WarnContext(ctx, "document cannot be examined yet", "sha256", d.SHA256, "url", url, "error", err)
		}
	}
	return r, nil
}

func (l *loop) judgeOne(ctx context.Context, d collection.Document, r *rank.Result) error {
	v, err := l.Judge.Judge(ctx, d)
	r.Accepted = r.Accepted || v.Accepted
	l.progress.Count(v)
	if v.Found {
		r.Unwanted = false
		l.noteFound(v.Titles)
		l.leaveOut()
	}
	return err
}

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
	verdict, is, err := l.Judge.KeepPage(ctx, l.file(e, v, a), r.Page.Titles(), r.Page.Text)
	if err != nil || !is {
		return err
	}
	l.progress.Documents++
	l.progress.Count(verdict)
	return nil
}
