package synthesis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"gleaner/internal/crawl"
	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/library/collection"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/text"
	"gleaner/internal/topic"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Outcomes of fetched URLs that are no entries.
const (
	OffTopic      gleaner.Outcome = "off-topic"
	NearDuplicate                 = collections.NearDuplicate
	NotCollected                  = collections.NoPlace // on topic, but its collection is full
	NoText        gleaner.Outcome = "no-text"
	setAside      gleaner.Outcome = "set-aside" // its answer caused a panic or a stalled reader
)

// visit requests a URL and records the result. An error is the system's.
func (l *loop) visit(ctx context.Context, u *collections.URL) error {
	v := &collections.Visit{URL: u, At: time.Now()}
	work, end := fetch.Linger(ctx, 15*time.Second) // longer than a request lingers, shorter than a worker waits
	defer end()
	err := guard.Logged(ctx, l.Log, u.URL, func() error {
		a, err := l.Source.Ask(ctx, u)
		defer a.Release()
		if err != nil {
			return err
		}
		return l.answered(work, v, a)
	})
	var fe *fetch.Error
	switch {
	case errors.Is(err, errLeft):
		return nil
	case errors.As(err, &fe) && fe.Outcome != fetch.Canceled:
		l.failed(v, fe)
	case collection.Later(err): // a retry would have the same result
		v = &collections.Visit{URL: u, At: v.At, Outcome: setAside, Reason: text.Head(err.Error(), 300)}
		l.progress.Failed++
	case err != nil:
		return err
	}
	if v.Refused {
		l.progress.Refused++
	} else {
		l.progress.Requests++
	}
	l.progress.URL = u.URL
	l.progress.Entries += len(v.Entries)
	return l.write(ctx, v)
}

// write records the result of a URL. Results that the database rejects must not lead to repeated
// requests.
func (l *loop) write(ctx context.Context, v *collections.Visit) error {
	err := l.Queue.Write(ctx, v)
	if store.Unfit(err) {
		err = l.Queue.Write(ctx, &collections.Visit{URL: v.URL, At: v.At, Outcome: crawl.Unfit, Reason: text.Head(err.Error(), 300)})
	}
	return err
}

func (l *loop) failed(v *collections.Visit, fe *fetch.Error) {
	v.Refused = fe.Outcome == fetch.Blacklisted || fe.Outcome == fetch.RobotsDenied && weburl.Key(fe.URL) == weburl.Key(v.URL.URL) // otherwise after a redirect
	v.Outcome, v.Trouble = fe.Outcome, fetch.Retryable(fe.Outcome) && fe.Outcome != fetch.Parked
	switch {
	case v.Refused:
	case fe.Outcome == fetch.RedirectKnown, fe.Outcome == fetch.RedirectOffHost:
		v.Reason = "redirects to " + fe.Location
		to := *v.URL
		to.URL, to.Host, to.Parent, to.Depth, to.Tries = fe.Location, weburl.Host(fe.Location), v.URL.URL, v.Depth+1, 0
		if to.Host != "" && l.fits(&to, to.Anchor) {
			v.Links = []collections.URL{to}
		}
	default:
		v.Again = crawl.Again(fe, v.At, v.Tries+1, l.cfg.MaxTries, l.cfg.RetryBase)
		l.progress.Failed++
	}
}

func (l *loop) answered(ctx context.Context, v *collections.Visit, a *crawl.Answer) error {
	v.Outcome, v.Bytes = gleaner.OK, a.Bytes
	if weburl.Key(a.URL) != weburl.Key(v.URL.URL) && weburl.Host(a.URL) == v.Host {
		v.Alias = a.URL
	}
	l.progress.Bytes += a.Bytes
	switch what := a.What(); {
	case what == collection.ContentPage:
		return l.page(ctx, v, a)
	case what == collection.ContentDocument && l.Documents != nil:
		return l.document(ctx, v, a)
	}
	v.Outcome = crawl.WrongKind
	return nil
}

func (l *loop) page(ctx context.Context, v *collections.Visit, a *crawl.Answer) error {
	p, outcome, why := a.Parse(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case outcome != "":
		v.Outcome, v.Reason = outcome, why
		return nil
	}
	l.progress.Pages++
	v.Kind, v.Title = collections.Page, text.Head(p.Title, 300)
	if l.cfg.learns() && !p.NoFollow {
		v.Leads = l.linksOf(v, p)
	}
	verdict, err := l.judge(ctx, v, topic.Page{URL: a.URL, Title: p.Title, Text: p.Text})
	if err != nil || p.NoFollow || !verdict.Follow {
		return err
	}
	l.links(v, p, verdict)
	return nil
}

// document judges the text of a file, and stores the file if it belongs to a collection.
func (l *loop) document(ctx context.Context, v *collections.Visit, a *crawl.Answer) error {
	title, words, why, err := l.Documents.Read(ctx, v.URL, a)
	if err != nil {
		return err
	}
	l.progress.Documents++
	v.Kind, v.Title = collections.Document, text.Head(title, 300)
	if words == "" {
		v.Outcome, v.Reason = NoText, why
		return nil
	}
	if _, err = l.judge(ctx, v, topic.Page{URL: a.URL, Title: title, Text: words}); err != nil || len(v.Entries) == 0 {
		return err
	}
	sha, verdict, err := l.Documents.Keep(ctx, v.URL, a)
	v.SHA256 = sha
	l.progress.Count(verdict)
	return err
}

// judge classifies a text and returns the decision.
func (l *loop) judge(ctx context.Context, v *collections.Visit, p topic.Page) (topic.Verdict, error) {
	if l.cfg.Distinct {
		v.Print = int64(document.Fingerprint(&document.Text{Pages: []string{p.Text}}))
		if v.Print != 0 {
			like, err := l.Queue.IsDuplicate(ctx, v.Print)
			if err != nil {
				return topic.Verdict{}, err
			}
			if like {
				v.Outcome = NearDuplicate
				return topic.Verdict{}, nil
			}
		}
	}
	v.Words = l.words(p)
	verdict := l.cfg.Decide(l.Classifier.Classify(p), v.Off, l.standing)
	v.About = verdict.Best.Correlation >= l.cfg.Threshold
	verdict.Follow = l.follow(v, verdict)
	v.Best = collections.Member(verdict.Best)
	for _, e := range verdict.Entries {
		v.Entries = append(v.Entries, collections.Member(e))
	}
	switch {
	case !v.About:
		v.Outcome = OffTopic
	case len(v.Entries) == 0:
		v.Outcome = NotCollected
	}
	if c, ok := l.Classifier.(interface {
		Counts(topic.Page) map[string]int
	}); ok && l.cfg.LearnIDF {
		v.Terms = slices.Sorted(maps.Keys(c.Counts(p)))
	}
	return verdict, nil
}

// links adds the links of a page to a visit.
func (l *loop) links(v *collections.Visit, p *page.Page, verdict topic.Verdict) {
	met := map[frontier.Hash]bool{v.Hash(): true}
	left := 0
	for i := range p.Links {
		link := &p.Links[i]
		u := collections.URL{URL: link.URL, Host: weburl.Host(link.URL), Parent: p.URL, Anchor: text.Head(link.Anchor, 300), Depth: v.Depth + 1, Off: verdict.Off}
		if link.NoFollow || u.Host == "" || !l.leads(link) || l.pruned(v, link) || met[u.Hash()] || !l.fits(&u, link.Anchor) {
			continue
		}
		met[u.Hash()] = true
		if len(v.Links) == l.cfg.MaxLinks {
			left++
			continue
		}
		u.Priority = l.priority(verdict, v.Priority, u.Host != v.Host, link)
		v.Links = append(v.Links, u)
	}
	if left > 0 {
		v.Reason = fmt.Sprintf("%d links beyond the limit of %d were left out", left, l.cfg.MaxLinks)
	}
}

// linksOf returns the links of a page to be recorded.
func (l *loop) linksOf(v *collections.Visit, p *page.Page) []collections.Lead {
	out, met := []collections.Lead{}, map[frontier.Hash]bool{v.Hash(): true}
	for i := range p.Links {
		link := &p.Links[i]
		to := frontier.HashOf(link.URL)
		if len(out) < l.cfg.MaxLinks && !link.NoFollow && l.leads(link) && !met[to] {
			met[to] = true
			out = append(out, collections.Lead{To: to, Anchor: text.Head(link.Anchor, longAnchor)})
		}
	}
	return out // empty, not nil: the page is known to have no links
}

// longAnchor is the length in bytes of a link's recorded words.
const longAnchor = 80

// pruned reports whether a link is excluded by its words. Documents never are.
func (l *loop) pruned(from *collections.Visit, link *page.Link) bool {
	if !l.cfg.Inspect || weburl.IsDocumentName(link.URL) {
		return false
	}
	_, is := l.cfg.Words.Pruned(from.About, *link)
	return is
}

// leads reports whether a reader could follow a link, or whether it names a page's document.
func (l *loop) leads(link *page.Link) bool {
	if weburl.IsIgnoredType(link.URL) || l.Documents == nil && weburl.IsDocumentName(link.URL) {
		return false
	}
	switch link.Source {
	case page.SourceAnchor, page.SourceArea, page.SourceFrame, page.SourceRefresh, page.SourceCitation:
		return true
	}
	return false
}

// fits reports whether a URL is allowed by its shape, its depth, the stop lists and the
// operator's lists.
func (l *loop) fits(u *collections.URL, anchor string) bool {
	if u.Depth > l.cfg.MaxDepth || l.cfg.Limits.CheckShape(u.URL) != nil || !l.Filter.Passes(anchor, u.URL) {
		return false
	}
	return l.cfg.allows(u.URL)
}

// allows reports whether the operator's lists allow a URL.
func (c Config) allows(url string) bool {
	rule, _ := c.Rules.KeepsOut(url, weburl.IsDocumentName(url))
	return rule == ""
}
