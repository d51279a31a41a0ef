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

// Source answers for the URLs of one site: the web, or a recording of it.
type Source interface {
	// Ready says whether the site may be asked now.
	Ready(ctx context.Context) error
	// Ask asks for a URL that waits. known says whether a URL to which it
	// redirects was fetched already. A *fetch.Error says what became of the URL;
	// any other error ends the slice.
	Ask(ctx context.Context, e *frontier.Entry, known func(url string) bool) (*Answer, error)
	// Sitemaps are those that the site names.
	Sitemaps(ctx context.Context) ([]string, error)
	// Paced reports whether the site is given time between requests: what was done
	// is then written before the next one.
	Paced() bool
}

// Answer is what a source gives for a URL.
type Answer struct {
	*fetch.Response
	Page   *page.Page // where it is known already; else the body is parsed
	Cached bool       // it was fetched before the crawl, and took no request now
	Parent string     // the page that led to it, where that is known; addresses in data are relative to it
}

// Release says that the answer's body is no longer needed.
func (a *Answer) Release() {
	if a != nil {
		a.Response.Release()
	}
}

// What tells what the answer is.
func (a *Answer) What() collection.What {
	if a.Page != nil {
		return collection.APage
	}
	what := collection.Sniff(a.URL, a.Header.Get("Content-Type"), a.Body)
	if what == collection.Neither && a.data() == bibTeX {
		return collection.APage // its entries are links
	}
	return what
}

// Parse reads the page that came. If it cannot be read, or is not what was asked for,
// outcome says so, and why says more where there is more to say.
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

// cacheAge is how old an answer fetched outside a crawl may be.
const cacheAge = 24 * time.Hour

// CachedAnswer is what was fetched of a URL outside a crawl not long ago; nil for nothing.
func CachedAnswer(ctx context.Context, db *store.DB, h frontier.Hash) *Answer {
	p, ok, err := db.CachedPage(ctx, h[:], cacheAge)
	if err != nil || !ok || p.Outcome != string(gleaner.OK) {
		return nil
	}
	return &Answer{Cached: true, Response: &fetch.Response{URL: p.FinalURL, Status: p.Status, Header: p.Header, Body: p.Body, FetchedAt: p.At}}
}

// resources is a Source that also answers for what the scripts of a page ask.
type resources interface {
	resource(ctx context.Context, r fetch.Request, parent string) (*fetch.Response, error)
	// foreign notes that a page asks another host for something, which counts as a link
	// that the site gives to it.
	foreign(ctx context.Context, url string) error
	// madeOf is what a page was made of when a browser showed it last.
	madeOf(ctx context.Context, page frontier.Hash) ([]byte, error)
}

// Browser shows pages of which scripts make what they say (render.Browser).
type Browser interface {
	Show(ctx context.Context, p render.Page, wait time.Duration, get render.Get) render.Shown
}

// Recorder keeps the URLs of one site: those that wait, and what became of the
// others.
type Recorder interface {
	// Window returns the best of what waits (frontier.Window), and whether that
	// is all of it.
	Window(ctx context.Context, size int) (best []frontier.Entry, all bool, err error)
	// Write keeps what was done since the last time, all of it or nothing.
	Write(ctx context.Context, w store.SliceWrite) (frontier.Written, error)
	// LookUp tells what is known of URLs.
	LookUp(ctx context.Context, hashes [][]byte) ([]frontier.Known, error)
	// Fetched reports whether a URL was fetched in this crawl.
	Fetched(ctx context.Context, h frontier.Hash) bool
	// Left is asked when nothing waits: how many URLs that lay too deep wait now,
	// since a shorter way to them was found, and when one that failed may be
	// asked again.
	Left(ctx context.Context, maxDepth int) (relaxed int, next time.Time, err error)
	// Hold makes sure that the site is still this crawl's to write.
	Hold(ctx context.Context) error
}

// Judge keeps the documents that a crawl finds, and says what they are.
type Judge interface {
	// Ready says whether documents can be kept now.
	Ready(ctx context.Context) error
	// Keep stores a file, and has the documents in it in hand until they are
	// released.
	Keep(ctx context.Context, f collection.File) (*collection.Kept, error)
	// Judge says what a document in hand is.
	Judge(ctx context.Context, d collection.Document) (Verdict, error)
	// KeepPage keeps a page if it is itself a paper.
	KeepPage(ctx context.Context, f collection.File, titles []string, visible string) (v Verdict, is bool, err error)
}

// Verdict is what a document turned out to be.
type Verdict struct {
	Accepted bool
	Found    bool     // it is a wanted paper
	Titles   []string // of the papers that it is
}
