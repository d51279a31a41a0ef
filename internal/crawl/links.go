package crawl

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// indexedDepth is how many links from a homepage pages are indexed: further down
// there are papers, not people.
const indexedDepth = 2

// Outcomes of answers that came with status 200 and are not what was asked for.
const (
	SoftMissing gleaner.Outcome = "soft-not-found"
	WrongKind   gleaner.Outcome = "wrong-mimetype"
	outcomeLoop gleaner.Outcome = "link-loop"
)

// page takes the links of a page.
func (l *loop) page(ctx context.Context, e *frontier.Entry, v *frontier.Visit, a *Answer) (rank.Result, error) {
	v.State = frontier.Page
	l.progress.Pages++
	a.Parent = e.Parent
	p, outcome, why := a.Parse(context.WithoutCancel(ctx))
	shell := l.shells.is(e, p)
	if shell && l.cfg.Browser == nil {
		shell, v.ETag, v.LastModified = false, "", "" // it comes whole when there is one
	}
	if shell && outcome == gleaner.Outcome(page.WallCookie) {
		outcome = ""
	}
	dir := l.seen.around(a.URL, v.Content)
	if outcome == "" && dir != "" && e.Role == frontier.Member && !forwards(p) && !shell {
		outcome, why = outcomeLoop, "the same page as one in "+dir
	}
	if outcome != "" {
		v.State, v.Outcome, v.Reason = frontier.Gone, outcome, cmp.Or(why, v.Reason)
		return rank.Result{Page: p, Failed: true}, nil
	}
	if shell {
		return l.shells.page(ctx, e, v, a, p)
	}
	return l.readPage(ctx, e, v, a, p)
}

// readPage takes the links of a page that is what was asked for.
func (l *loop) readPage(
	ctx context.Context, e *frontier.Entry, v *frontier.Visit, a *Answer, p *page.Page,
) (rank.Result, error) {
	v.Reason = leftOut(v.Reason, p.Truncated)
	if l.cfg.About != nil {
		about := l.cfg.About(p)
		v.About = &about
	}
	if l.cfg.Index != nil && e.Role == frontier.Member && e.Depth <= indexedDepth && !p.NoIndex {
		l.pages = append(l.pages, p)
	}
	r := rank.Result{Page: p}
	read := frontier.Reading{Page: e.Hash(), URL: e.Link.URL, Day: a.FetchedAt, Files: files(e, p), Again: e.Was == frontier.Page}
	read.Unread = strings.Join(p.Truncated, ", ")
	l.batch.Read = append(l.batch.Read, read)
	if p.NoFollow {
		last := &l.batch.Read[len(l.batch.Read)-1]
		last.Unread = "nofollow"
		l.keepLinks(last, nil)
		return r, nil
	}
	if err := l.seen.learn(ctx, l.Recorder, p.Links); err != nil {
		return r, err
	}
	relevant := l.takeLinks(e, p, &r)
	if e.Role == frontier.Member {
		l.seen.addContent(a.URL, v.Content)
		l.reads(a.URL, relevant)
	}
	return r, nil
}

// takeLinks enters the links of a page and keeps those that are not taken now. It reports
// whether one is named like a document.
func (l *loop) takeLinks(e *frontier.Entry, p *page.Page, r *rank.Result) (relevant bool) {
	var kept []page.Link
	about := l.cfg.Inspect && l.cfg.Rank.Lists.About(p)
	for i := range p.Links {
		link := p.Links[i] // the page may be read again
		if e.Role == frontier.Landing && link.Heading == "" {
			link.Heading = p.Title // the paper's, where the link says "PDF"
		}
		citeAs(p, &link)
		if l.prune(e, about, &link) {
			kept = append(kept, link)
			continue
		}
		isNew, isDoc, taken := l.enter(e, link)
		if !taken && keepable(e, &link) {
			kept = append(kept, link)
		}
		relevant = relevant || isDoc
		if isNew && isDoc {
			r.NewDocs++
		}
	}
	l.keepLinks(&l.batch.Read[len(l.batch.Read)-1], kept)
	return relevant
}

// forwards reports whether a page does no more than show others: such a page may
// well stand in many directories, and leads to something else in each.
func forwards(p *page.Page) bool {
	return len(p.Links) == 0 || slices.ContainsFunc(p.Links, func(l page.Link) bool {
		return l.Source == page.SourceFrame || l.Source == page.SourceRefresh
	})
}

// leftOut adds to a reason what a limit cut off.
func leftOut(reason string, what []string) string {
	if len(what) == 0 {
		return reason
	}
	return reason + "; left out beyond the limit: " + strings.Join(what, ", ")
}

// enter gives a link of a page its role, and enters it if it has one. It reports
// whether the link was new on this site, whether it is named like a document that may
// be taken, and whether it is on record in the widest role that its place allows.
func (l *loop) enter(from *frontier.Entry, link page.Link) (isNew, isDoc, taken bool) {
	e, here, ok := l.scope.take(from, link)
	if !ok {
		return false, false, false
	}
	taken = e.Document || e.Role == frontier.Member
	if !here {
		l.scope.weigh(&e)
		return false, e.Document, l.lead(weburl.Host(link.URL), &e)
	}
	asGood, met := l.seen.known(e.Hash(), e.Depth, e.Role)
	if asGood {
		return false, e.Document, taken
	}
	l.scope.weigh(&e)
	if why := l.limit(&e, met); why != "" {
		return false, false, l.skip(e, why) && taken
	}
	l.scope.unfound(&e, l.found)
	l.Strategy.Enter(own(&e))
	l.seen.add(e.Hash(), e.Depth, e.Role)
	if !met {
		l.seen.enter(&e)
	}
	l.batch.AddLink(e)
	return !met, e.Document, taken
}

// prune reports whether a link of a page is left out for its words. Documents never
// are, nor what forwards.
func (l *loop) prune(from *frontier.Entry, about bool, link *page.Link) bool {
	if !l.cfg.Inspect || from.Role != frontier.Member || link.Source != page.SourceAnchor || weburl.IsDocumentName(link.URL) {
		return false
	}
	_, pruned := l.cfg.Rank.Lists.Pruned(about, *link)
	if pruned {
		l.pruned++
	}
	return pruned
}

// own gives an entry its own copy of the words that are parts of the page's
// text: a waiting link must not keep the page in memory.
func own(e *frontier.Entry) *page.Candidate {
	l := &e.Link
	l.Anchor, l.Context, l.Heading, l.TagPath = strings.Clone(l.Anchor), strings.Clone(l.Context), strings.Clone(l.Heading), strings.Clone(l.TagPath)
	return &e.Candidate
}

// maxFiles is how many files of one page are put on record as linked there: more
// than all the papers of a busy life.
const maxFiles = 1000

// files are those that a page links to, taken or not, on whatever host: what turns
// out to be a paper may have been found by another page, and this one leads there
// as well.
func files(e *frontier.Entry, p *page.Page) (of []frontier.Hash) {
	var met map[frontier.Hash]bool // made for the few pages that need it
	for link := range p.Files() {
		if met == nil {
			met = map[frontier.Hash]bool{e.Hash(): true}
		}
		if h := frontier.HashOf(link.URL); !met[h] {
			met[h] = true
			of = append(of, h)
		}
		if len(of) == maxFiles {
			break
		}
	}
	return of
}
