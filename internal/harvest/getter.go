package harvest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/singleflight"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/homepage"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Getter fetches pages as evidence for homepages (homepage.Getter), politely and each only
// once for all searches. The crawl uses its pages, too.
type Getter struct {
	DB    *store.DB
	Fetch *fetch.Client

	// Parse is page.ParseContext; nil is that.
	Parse func(ctx context.Context, url string, header http.Header, body []byte) (*page.Page, error)

	once singleflight.Group // parallel searches share candidates
	one  guard.Mutex        // held while a page is fetched or parsed over which a process may have died
}

// pageAge is the greatest age of a page as evidence. A retryable failure counts for minutes
// only, so that parallel searches do not send request after request to a failing host.
const (
	pageAge    = 24 * time.Hour
	failureAge = 5 * time.Minute
)

// asker is the Getter of one search.
type asker struct {
	*Getter
	since time.Time  // older failures do not count: a person requested a retry
	gate  fetch.Gate // grants the turns; nil is the client's
}

// kept returns a stored answer that still counts.
func (g asker) kept(ctx context.Context, url string) (store.CachedPage, bool, error) {
	h := frontier.HashOf(url)
	p, ok, err := g.DB.CachedPage(ctx, h[:], pageAge)
	if err != nil || !ok || p.Outcome == string(gleaner.OK) {
		return p, ok, err
	}
	passing := fetch.Retryable(gleaner.Outcome(p.Outcome)) && time.Since(p.At) > failureAge
	return p, !passing && p.At.After(g.since), nil
}

func (g *Getter) Get(ctx context.Context, url string) (*page.Page, string, error) {
	return asker{Getter: g}.Get(ctx, url)
}

func (g asker) Get(ctx context.Context, url string) (*page.Page, string, error) {
	h := frontier.HashOf(url)
	var shared singleflight.Result
	select {
	case shared = <-g.once.DoChan(string(h[:]), func() (p any, err error) {
		err = guard.Run(func() error { p, err = g.get(ctx, url); return err })
		return p, err
	}):
	case <-ctx.Done():
		return nil, "", context.Cause(ctx)
	}
	err := shared.Err
	switch {
	case errors.Is(err, homepage.ErrBlacklisted):
		return nil, "", err
	case err != nil && ctx.Err() == nil:
		return nil, "", fmt.Errorf("%w: %w", homepage.ErrRecord, err)
	case err != nil:
		return nil, "", err
	}
	p := shared.Val.(store.CachedPage)
	if o := gleaner.Outcome(p.Outcome); o != gleaner.OK {
		return nil, p.FinalURL, &fetch.Error{Outcome: o, URL: p.FinalURL, Status: p.Status, RetryAfter: p.RetryAfter}
	}
	parsed, err := g.read(ctx, p)
	return parsed, p.FinalURL, err
}

// get returns a stored answer that still counts, or a new one.
func (g asker) get(ctx context.Context, url string) (store.CachedPage, error) {
	p, ok, err := g.kept(ctx, url)
	if err != nil || ok {
		return p, err
	}
	return g.ask(ctx, url)
}

// read parses a page. It sets a page aside if the parser panics or frontier.MaxDeaths
// processes died over it. Pages over which one may have died are parsed one at a time, so
// that none is charged with another's deaths.
func (g *Getter) read(ctx context.Context, p store.CachedPage) (parsed *page.Page, err error) {
	if p.Suspect {
		if err := g.one.Lock(ctx); err != nil {
			return nil, err
		}
		defer g.one.Unlock()
	}
	deaths, err := g.DB.BeginPage(ctx, p.Hash)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", homepage.ErrRecord, err)
	}
	parse := g.Parse
	if parse == nil {
		parse = page.ParseContext
	}
	var outcome gleaner.Outcome
	if deaths >= frontier.MaxDeaths {
		outcome = frontier.Killed
	} else if err = guard.Run(func() (err error) { parsed, err = parse(ctx, p.FinalURL, p.Header, p.Body); return err }); guard.Panicked(err) {
		outcome = frontier.Panicked
	}
	if err := g.DB.EndPage(context.WithoutCancel(ctx), p.Hash, outcome); err != nil {
		return nil, fmt.Errorf("%w: %w", homepage.ErrRecord, err)
	}
	if outcome != "" {
		return nil, &fetch.Error{Outcome: outcome, URL: p.FinalURL, Err: err}
	}
	return parsed, err
}

// unanswered returns the row of a URL that is or was requested now.
func unanswered(url string) store.CachedPage {
	h := frontier.HashOf(url)
	return store.CachedPage{Hash: h[:], Host: weburl.Host(url), URL: url, FinalURL: url, At: time.Now()}
}

// asking is the URL that ask requests at present, in the turn of its host.
type asking struct {
	asker
	hash  []byte
	since *time.Time // nil outside of a turn
	alone bool       // it holds Getter.one
}

// begin notes that a URL is requested. It returns false if another search has fetched it
// meanwhile. It also returns false if frontier.MaxDeaths processes died over it, and sets it
// aside. URLs over which one may have died are requested one at a time.
func (a *asking) begin(ctx context.Context, url string) bool {
	a.end(ctx)
	if _, ok, err := a.kept(ctx, url); ok && err == nil {
		return false
	}
	p := unanswered(url)
	p.Outcome = string(frontier.Killed)
	deaths, since, err := a.DB.BeginAsk(ctx, p, false)
	if err == nil && deaths >= frontier.MaxDeaths {
		return errors.Join(a.DB.SavePage(ctx, p), a.DB.EndPage(ctx, p.Hash, frontier.Killed)) != nil
	}
	if err == nil && since == nil {
		if a.alone = a.one.Lock(ctx) == nil; a.alone {
			_, since, _ = a.DB.BeginAsk(ctx, p, true)
		}
	}
	a.hash, a.since = p.Hash, since
	return true
}

// end notes that the request has ended.
func (a *asking) end(ctx context.Context) {
	if a.since != nil { // if this cannot be written, the next request counts a death
		_ = a.DB.EndAsk(context.WithoutCancel(ctx), a.hash, *a.since)
		a.since = nil
	}
	if a.alone {
		a.alone = false
		a.one.Unlock()
	}
}

// ask fetches a page and saves the answer, also a failure, since that is evidence for all
// authors with this candidate. It neither requests nor follows redirects to blacklisted
// hosts. An error is the program's own.
func (g asker) ask(ctx context.Context, url string) (store.CachedPage, error) {
	var resp *fetch.Response
	at := &asking{asker: g}
	err := guard.Run(func() (err error) {
		resp, err = g.Fetch.Fetch(ctx, fetch.Request{Terms: fetch.Terms{Gate: g.gate}, URL: url, FollowOffHost: true,
			Meanwhile: func(u string) bool { return !at.begin(ctx, u) },
			Known: func(u string) bool {
				at.end(ctx)
				_, ok, err := g.kept(ctx, u)
				return ok && err == nil
			}})
		return err
	})
	at.end(ctx)
	defer resp.Release()
	p := unanswered(url)
	var fe *fetch.Error
	switch {
	case err != nil && ctx.Err() != nil:
		return p, ctx.Err()
	case errors.As(err, &fe) && fe.Outcome == fetch.RedirectKnown:
		to, _, err := g.kept(ctx, fe.Location)
		if err != nil {
			return p, err
		}
		p.FinalURL, p.Outcome, p.Status, p.Header, p.Body, p.At = to.FinalURL, to.Outcome, to.Status, to.Header, to.Body, to.At
	case errors.As(err, &fe) && fe.Outcome == fetch.Blacklisted:
		return p, homepage.ErrBlacklisted // there was no request to save
	case errors.As(err, &fe) && fe.Outcome == fetch.Canceled:
		return p, err // the gate failed, not the page
	case errors.As(err, &fe):
		p.Outcome, p.Status, p.FinalURL, p.RetryAfter = string(fe.Outcome), fe.Status, fe.URL, fe.RetryAfter
	case guard.Panicked(err):
		p.Outcome = string(frontier.Panicked)
	case err != nil:
		return p, err
	default:
		p.Outcome, p.Status, p.FinalURL, p.Header, p.Body = string(gleaner.OK), resp.Status, resp.URL, resp.Header, resp.Body
	}
	return p, g.keep(ctx, p)
}

// keep saves an answer, also if the worker is being stopped.
func (g *Getter) keep(ctx context.Context, p store.CachedPage) error {
	ctx = context.WithoutCancel(ctx)
	if err := g.DB.SavePage(ctx, p); err != nil || p.Outcome != string(gleaner.OK) || p.FinalURL == p.URL {
		return err
	}
	// It is also the answer for the target of the redirect.
	final := p
	fh := frontier.HashOf(p.FinalURL)
	final.Hash, final.Host, final.URL = fh[:], weburl.Host(p.FinalURL), p.FinalURL
	return g.DB.SavePage(ctx, final)
}
