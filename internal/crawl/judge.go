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

// judgedMembers is how many documents of one archive a slice judges. The rest is judged
// after the crawl, with all other documents that no slice judged.
const judgedMembers = 8

// leastMember is the least size that a document from an archive counts as, in bytes. Each
// is stored, read and matched however small it is, and a small archive may have hundreds.
const leastMember = 1 << 20

// document stores a file. It is judged after the visit is written.
func (l *loop) document(ctx context.Context, e *frontier.Entry, v *frontier.Visit, a *Answer) (_ rank.Result, err error) {
	v.State = frontier.Document
	l.progress.Documents++
	if l.kept, err = l.Judge.Keep(ctx, l.file(e, v, a)); err != nil {
		return rank.Result{Document: true}, err
	}
	if n := len(l.kept.Documents); n > 1 {
		// an archive may unpack to far more than its size
		l.limits.countBytes(e, max(l.kept.Bytes, int64(n)*leastMember))
	}
	if l.kept.Cut != "" {
		v.Reason = leftOut(v.Reason, []string{l.kept.Cut})
	}
	return rank.Result{Document: true}, err
}

// release releases the documents of the last visit.
func (l *loop) release() {
	l.kept.Release()
	l.kept = nil
}

// judge judges the documents of the last visit, as long as the crawl is not stopped. The
// strategy learns from the verdicts. The rest is judged later.
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
			// It is stored and will be judged later; one file must not stop the crawl.
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

// doiMark precedes a DOI in the context of a link from a landing page's metadata, which has
// no text around it.
const doiMark = "doi:"

// citeAs sets title and DOI of a landing page's metadata as the words of its link to the
// document.
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

// file describes the answer for an entry, with all that is known of where it was found.
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

// paperPage stores a page that is itself a paper.
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
