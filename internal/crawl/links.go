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

// indexedDepth is the greatest depth of pages that are indexed: deeper pages are about
// papers, not people.
const indexedDepth = 2

// Outcomes of answers with status 200 and unexpected content.
const (
	SoftMissing gleaner.Outcome = "soft-not-found"
	WrongKind   gleaner.Outcome = "wrong-mimetype"
	outcomeLoop gleaner.Outcome = "link-loop"
)

// page processes an answer that is a page.
func (l *loop) page(ctx context.Context, e *frontier.Entry, v *frontier.Visit, a *Answer) (rank.Result, error) {
	v.State = frontier.Page
	l.progress.Pages++
	a.Parent = e.Parent
	p, outcome, why := a.Parse(context.WithoutCancel(ctx))
	shell := l.shells.needsBrowser(e, p)
	if shell && l.cfg.Browser == nil {
		shell, v.ETag, v.LastModified = false, "", "" // it is fetched in full when there is one
	}
	if shell && outcome == gleaner.Outcome(page.WallCookie) {
		outcome = ""
	}
	dir := l.links.seen.around(a.URL, v.Content)
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

// readPage indexes a page and takes its links.
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
	read := frontier.Reading{Page: e.Hash(), URL: e.Link.URL, Day: a.FetchedAt, Files: l.links.files(e, p)}
	read.Again = e.Was == frontier.Page && l.links.fileRoom > 0 // else what is on record of it stays
	read.Unread = strings.Join(p.Truncated, ", ")
	l.batch.Read = append(l.batch.Read, read)
	if p.NoFollow {
		last := &l.batch.Read[len(l.batch.Read)-1]
		last.Unread = "nofollow"
		l.links.keepLinks(last, nil)
		return r, nil
	}
	if err := l.links.seen.learn(ctx, l.Recorder, p.Links); err != nil {
		return r, err
	}
	relevant := l.links.takeLinks(e, p, &r)
	if e.Role == frontier.Member {
		l.links.seen.addContent(a.URL, v.Content)
		l.limits.countPage(a.URL, relevant)
	}
	return r, nil
}

// takeLinks enters the links of a page and keeps the others. It reports whether one has the
// name of a document.
func (q *enqueuer) takeLinks(e *frontier.Entry, p *page.Page, r *rank.Result) (relevant bool) {
	var kept []page.Link
	about := q.scope.Inspect && q.scope.Rank.Lists.About(p)
	for i := range p.Links {
		link := p.Links[i] // the page may be read again
		if e.Role == frontier.Landing && link.Heading == "" {
			link.Heading = p.Title // the paper's, where the link says "PDF"
		}
		citeAs(p, &link)
		if q.prune(e, about, &link) {
			kept = append(kept, link)
			continue
		}
		isNew, isDoc, taken := q.enter(e, link)
		if !taken && keepable(e, &link) {
			kept = append(kept, link)
		}
		relevant = relevant || isDoc
		if isNew && isDoc {
			r.NewDocs++
		}
	}
	q.keepLinks(&q.batch.Read[len(q.batch.Read)-1], kept)
	return relevant
}

// forwards reports whether a page only leads to others. The same page may be in many
// directories, and lead to another page from each.
func forwards(p *page.Page) bool {
	return len(p.Links) == 0 || slices.ContainsFunc(p.Links, func(l page.Link) bool {
		return l.Source == page.SourceFrame || l.Source == page.SourceRefresh
	})
}

// leftOut adds the parts that a limit cut off to a reason.
func leftOut(reason string, what []string) string {
	if len(what) == 0 {
		return reason
	}
	return reason + "; left out beyond the limit: " + strings.Join(what, ", ")
}

// enqueuer decides which links of a site's pages enter the frontier, and adds them to the
// batch.
type enqueuer struct {
	scope      scope
	limits     *limits
	strategy   rank.Strategy
	batch      *frontier.Batch
	seen       *seenSet
	leads      leads
	found      map[string]bool // normalised titles of the papers found on the site
	keptBytes  int             // of links that were not taken, over all pages of the site
	fileRoom   int             // for further links of the site to files
	unrecorded int             // links that a limit kept out, beyond those recorded
	pruned     int             // links left out for their words
}

// enter assigns a role to a link of a page, and adds it to the batch if it has one. It
// reports whether the link is new on this site, whether it has the name of a document and
// may be taken, and whether it is on record in the widest role that its place allows.
func (q *enqueuer) enter(from *frontier.Entry, link page.Link) (isNew, isDoc, taken bool) {
	e, here, ok := q.scope.take(from, link)
	if !ok {
		return false, false, false
	}
	taken = e.Document || e.Role == frontier.Member
	if !here {
		q.scope.weigh(&e)
		return false, e.Document, q.lead(weburl.Host(link.URL), &e)
	}
	asGood, met := q.seen.known(e.Hash(), e.Depth, e.Role)
	if asGood {
		return false, e.Document, taken
	}
	q.scope.weigh(&e)
	if why := q.limit(&e, met); why != "" {
		return false, false, q.skip(e, why) && taken
	}
	q.scope.discountFound(&e, q.found)
	q.strategy.Enter(cloneWords(&e))
	q.seen.add(e.Hash(), e.Depth, e.Role)
	if !met {
		q.seen.enter(&e)
	}
	q.batch.AddLink(e)
	return !met, e.Document, taken
}

// prune reports whether a link of a page is left out for its words. Documents and
// forwarding links never are.
func (q *enqueuer) prune(from *frontier.Entry, about bool, link *page.Link) bool {
	if !q.scope.Inspect || from.Role != frontier.Member || link.Source != page.SourceAnchor || weburl.IsDocumentName(link.URL) {
		return false
	}
	_, pruned := q.scope.Rank.Lists.Pruned(about, *link)
	if pruned {
		q.pruned++
	}
	return pruned
}

// cloneWords copies the words of an entry, which are parts of the page's text: a waiting link
// must not keep the page in memory.
func cloneWords(e *frontier.Entry) *page.Candidate {
	l := &e.Link
	l.Anchor, l.Context, l.Heading, l.TagPath = strings.Clone(l.Anchor), strings.Clone(l.Context), strings.Clone(l.Heading), strings.Clone(l.TagPath)
	return &e.Candidate
}

// maxFiles bounds the recorded links of one page to files. It exceeds the number of papers
// of any person. maxSiteFiles bounds those of all pages of a site, about 64 MB.
const (
	maxFiles     = 1000
	maxSiteFiles = 250_000
)

// files returns the files that a page links to, taken or not, on any host. A paper found
// by another page has this page as a parent, too.
func (q *enqueuer) files(e *frontier.Entry, p *page.Page) (of []frontier.Hash) {
	var met map[frontier.Hash]bool // made for the few pages that need it
	for link := range p.Files() {
		if len(of) >= min(maxFiles, q.fileRoom) {
			break
		}
		if met == nil {
			met = map[frontier.Hash]bool{e.Hash(): true}
		}
		if h := frontier.HashOf(link.URL); !met[h] {
			met[h] = true
			of = append(of, h)
		}
	}
	if e.Was != frontier.Page { // whose links are counted as those on record
		q.fileRoom -= len(of)
	}
	return of
}
