package console

import (
	"context"
	"fmt"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/web/weburl"
)

// sitesPage lists sites, by host.
type sitesPage struct {
	Harvest string          `json:"harvest,omitempty"`
	Name    string          `json:"name,omitempty"`
	State   string          `json:"state,omitempty"`
	Barred  bool            `json:"barred,omitempty"` // only those that are paused or on the blacklist
	Sites   []store.SiteRow `json:"sites"`
	Next    string          `json:"next,omitempty"`
}

func sites(ctx context.Context, c *Console, a *asked) (any, error) {
	p := sitesPage{Harvest: a.get("harvest"), State: a.get("state"), Barred: a.get("barred") == "yes"}
	p.Name = strings.ToLower(strings.TrimSpace(a.get("name")))
	rows, err := c.App.DB.Sites(ctx, store.SiteQuery{Harvest: p.Harvest, Begins: p.Name, State: p.State, Barred: p.Barred,
		After: a.get("after"), Limit: pageSize + 1})
	p.Sites, p.Next = more(rows, func(s store.SiteRow) string { return s.Host })
	return p, err
}

// sitePage is one site.
type sitePage struct {
	store.SiteRow
	Blocked  string          `json:"blocked,omitempty"` // why nothing there is asked for
	Watchers []string        `json:"harvests"`          // that want it now
	Venues   []string        `json:"venues"`            // that ever wanted it
	Scopes   []string        `json:"scopes"`            // paths that may be crawled
	Failures []store.Failure `json:"failures"`
}

func (p sitePage) Live() bool { return p.State == gleaner.SiteCrawling }

func site(ctx context.Context, c *Console, a *asked) (any, error) {
	db, host := c.App.DB, a.get("host")
	rows, err := db.Sites(ctx, store.SiteQuery{Host: host, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%w: no site %s", errNoPage, host)
	}
	p := sitePage{SiteRow: rows[0]}
	s, err := db.Site(ctx, host)
	if err != nil {
		return nil, err
	}
	if p.Blocked, err = db.Blocked(ctx, host); err != nil {
		return nil, err
	}
	for _, of := range []struct {
		into *[]string
		read func() ([]string, error)
	}{
		{&p.Watchers, func() ([]string, error) { return db.SiteWatchers(ctx, host) }},
		{&p.Venues, func() ([]string, error) { return db.SiteVenues(ctx, host) }},
		{&p.Scopes, func() ([]string, error) { return db.Scopes(ctx, s.ID) }},
	} {
		got, err := of.read()
		if err != nil {
			return nil, err
		}
		*of.into = listed(got)
	}
	failures, err := db.Failures(ctx, store.RetryFilter{Host: host})
	p.Failures = listed(failures)
	return p, err
}

func actOnSite(ctx context.Context, c *Console, a *asked) (any, error) {
	if c.Harvests == nil {
		return nil, errReadOnly
	}
	if _, err := site(ctx, c, a); err != nil {
		return nil, err
	}
	host, reason := a.get("host"), strings.TrimSpace(a.get("reason"))
	if len(reason) > 500 || !isText(reason) {
		return nil, fmt.Errorf("%w: the reason has more than 500 bytes", errInput)
	}
	if a.get("do") == doSlow {
		reason = strings.TrimSpace(a.get("delay"))
	}
	did, err := c.Harvests.SteerSite(ctx, host, a.get("do"), reason)
	return c.done(ctx, a, donePage{host, did, redirect{to: a.URL.EscapedPath()}}, err, "reason", reason)
}

// urlPage is all that is known of a URL.
type urlPage struct {
	*app.Explanation
}

func explained(ctx context.Context, c *Console, a *asked) (any, error) {
	address, err := weburl.Canonical("", a.get("url"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	e, err := c.App.Explain(ctx, address)
	if err != nil {
		return nil, err
	}
	return urlPage{e}, nil
}
