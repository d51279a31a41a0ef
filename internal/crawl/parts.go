package crawl

import (
	"context"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/library/collection"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/render"
	"gleaner/internal/web/page"
)

// Source answers requests for the URLs of one site: the web, or a recording of it.
type Source interface {
	// Ready returns an error if no request may be made now.
	Ready(ctx context.Context) error
	// Ask requests a URL. known reports whether a URL to which it redirects was fetched
	// already. A *fetch.Error is the outcome of the URL; any other error ends the slice.
	Ask(ctx context.Context, e *frontier.Entry, known func(url string) bool) (*Answer, error)
	// Sitemaps returns the sitemaps in robots.txt.
	Sitemaps(ctx context.Context) ([]string, error)
	// Paced reports whether there is a pause between requests. Each visit is then written
	// before the next request.
	Paced() bool
}

// Answer is what a source gives for a URL.
type Answer struct {
	*fetch.Response
	Page   *page.Page // nil if the body has to be parsed
	Cached bool       // it was fetched before the crawl, and needed no request
	Parent string     // the page that led to it, if known; addresses in data are relative to it
}

// Release releases the answer's body.
func (a *Answer) Release() {
	if a != nil {
		a.Response.Release()
	}
}

// What returns the kind of the answer.
func (a *Answer) What() collection.ContentKind {
	if a.Page != nil {
		return collection.ContentPage
	}
	what := collection.Sniff(a.URL, a.Header.Get("Content-Type"), a.Body)
	if what == collection.ContentUnknown && a.data() == bibTeX {
		return collection.ContentPage // its entries are links
	}
	return what
}

// Parse parses the page. If it cannot be parsed, or has unexpected content, it returns the
// outcome, and perhaps the reason.
func (a *Answer) Parse(ctx context.Context) (p *page.Page, outcome gleaner.Outcome, why string) {
	if p = a.Page; p == nil {
		if kind := a.data(); kind != "" {
			return a.readData(kind), "", ""
		}
		var err error
		if p, err = page.ParseContext(ctx, a.URL, a.Header, a.Body); err != nil {
			return nil, WrongKind, err.Error()
		}
	}
	switch {
	case p.Wall != page.NoWall:
		outcome = gleaner.Outcome(p.Wall)
	case p.SoftMissing:
		outcome = SoftMissing
	}
	return p, outcome, ""
}

// cacheAge is the greatest age of an answer in the page cache.
const cacheAge = 24 * time.Hour

// CachedAnswer returns the answer for a URL in the page cache, nil for none.
func CachedAnswer(ctx context.Context, db *store.DB, h frontier.Hash) *Answer {
	p, ok, err := db.CachedPage(ctx, h[:], cacheAge)
	if err != nil || !ok || p.Outcome != string(gleaner.OK) {
		return nil
	}
	return &Answer{Cached: true, Response: &fetch.Response{URL: p.FinalURL, Status: p.Status, Header: p.Header, Body: p.Body, FetchedAt: p.At}}
}

// resources is a Source that also serves the requests of a page's scripts.
type resources interface {
	resource(ctx context.Context, r fetch.Request, parent string) (*fetch.Response, error)
	// foreign notes a page's request to another host, which counts as a lead to it.
	foreign(ctx context.Context, url string) error
	// madeOf returns the parts of which a page was rendered last.
	madeOf(ctx context.Context, page frontier.Hash) ([]byte, error)
}

// Browser renders pages whose content scripts make (render.Browser).
type Browser interface {
	Show(ctx context.Context, p render.Page, wait time.Duration, get render.Get) render.Shown
}

// Recorder stores the URLs of one site: those that wait, and the outcomes of the others.
type Recorder interface {
	// Window returns the best waiting entries (frontier.Window), and whether these are
	// all.
	Window(ctx context.Context, size int) (best []frontier.Entry, all bool, err error)
	// Write writes a batch, all of it or nothing.
	Write(ctx context.Context, w store.SliceWrite) (frontier.Written, error)
	// LookUp returns what is known of URLs.
	LookUp(ctx context.Context, hashes []frontier.Hash) ([]frontier.Known, error)
	// Fetched reports whether a URL was fetched in this crawl.
	Fetched(ctx context.Context, h frontier.Hash) bool
	// Left is called if nothing waits. It returns how many URLs that were too deep wait now,
	// since a shorter path to them was found, and when a failed one may be retried.
	Left(ctx context.Context, maxDepth int) (relaxed int, next time.Time, err error)
	// Hold makes sure that this crawl still has the lease.
	Hold(ctx context.Context) error
}

// Judge stores the documents that a crawl finds, and judges them.
type Judge interface {
	// Ready returns an error if documents cannot be stored now.
	Ready(ctx context.Context) error
	// Keep stores a file, and holds the documents in it until they are released.
	Keep(ctx context.Context, f collection.File) (*collection.Kept, error)
	// Judge judges a document that is held.
	Judge(ctx context.Context, d collection.Document) (Verdict, error)
	// KeepPage stores a page if it is itself a paper.
	KeepPage(ctx context.Context, f collection.File, titles []string, visible string) (v Verdict, is bool, err error)
}

// Verdict is the judgement on a document.
type Verdict struct {
	Accepted bool
	Found    bool     // it is a wanted paper
	Titles   []string // of the papers that it is
}
