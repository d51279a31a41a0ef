package harvest

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/singleflight"

	"gleaner/internal/fetch"
	"gleaner/internal/frontier"
	"gleaner/internal/page"
	"gleaner/internal/store"
	"gleaner/internal/weburl"
)

// Getter fetches pages as evidence for homepages (homepage.Getter): politely,
// and each once, whoever asks. The crawl takes what was fetched here.
type Getter struct {
	DB    *store.DB
	Fetch *fetch.Client

	once singleflight.Group // authors looked for side by side share candidates
}

// pageAge is how old a fetched page may be as evidence.
const pageAge = 24 * time.Hour

// Get implements homepage.Getter.
func (g *Getter) Get(ctx context.Context, url string) (*page.Page, string, error) {
	h := frontier.HashOf(url)
	shared, err, _ := g.once.Do(string(h[:]), func() (any, error) {
		p, ok, err := g.DB.CachedPage(ctx, h[:], pageAge)
		if err != nil || ok {
			return p, err
		}
		return g.ask(ctx, h, url)
	})
	if err != nil {
		return nil, "", err
	}
	p := shared.(store.CachedPage)
	if o := fetch.Outcome(p.Outcome); o != fetch.OK {
		return nil, p.FinalURL, &fetch.Error{Outcome: o, URL: p.FinalURL, Status: p.Status}
	}
	parsed, err := page.ParseContext(ctx, p.FinalURL, p.Header, p.Body)
	return parsed, p.FinalURL, err
}

// ask fetches and keeps the answer, the failure too: that a page does not answer
// is evidence for every author it was thought of for.
func (g *Getter) ask(ctx context.Context, h frontier.Hash, url string) (store.CachedPage, error) {
	p := store.CachedPage{Hash: h[:], Host: weburl.Host(url), URL: url, FinalURL: url, At: time.Now()}
	known := func(to string) bool {
		th := frontier.HashOf(to)
		_, ok, err := g.DB.CachedPage(ctx, th[:], pageAge)
		return ok && err == nil
	}
	resp, err := g.Fetch.Fetch(ctx, fetch.Request{URL: url, FollowOffHost: true, Known: known})
	defer resp.Release()
	var fe *fetch.Error
	switch {
	case errors.As(err, &fe) && fe.Outcome == fetch.RedirectKnown:
		th := frontier.HashOf(fe.Location)
		to, ok, err := g.DB.CachedPage(ctx, th[:], pageAge)
		if err != nil || !ok {
			return p, err
		}
		p.FinalURL, p.Outcome, p.Status, p.Header, p.Body, p.At = to.FinalURL, to.Outcome, to.Status, to.Header, to.Body, to.At
	case err != nil && ctx.Err() != nil:
		return p, ctx.Err()
	case errors.As(err, &fe):
		p.Outcome, p.Status, p.FinalURL = string(fe.Outcome), fe.Status, fe.URL
	case err != nil:
		return p, err
	default:
		p.Outcome, p.Status, p.FinalURL, p.Header, p.Body = string(fetch.OK), resp.Status, resp.URL, resp.Header, resp.Body
	}
	// What was fetched is kept also when the worker is being stopped.
	ctx = context.WithoutCancel(ctx)
	if err := g.DB.SavePage(ctx, p); err != nil || p.Outcome != string(fetch.OK) || p.FinalURL == url {
		return p, err
	}
	// Whoever asks for the address behind the redirect has it, too.
	final := p
	fh := frontier.HashOf(p.FinalURL)
	final.Hash, final.Host, final.URL = fh[:], weburl.Host(p.FinalURL), p.FinalURL
	return p, g.DB.SavePage(ctx, final)
}
