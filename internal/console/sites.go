package console

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

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
	app.SiteView
	Blocked string `json:"blocked,omitempty"` // why nothing there is asked for
}

func (p sitePage) Live() bool { return p.State == gleaner.SiteCrawling }

func site(ctx context.Context, c *Console, a *asked) (any, error) {
	s, err := app.ViewSite(ctx, c.App.DB, a.get("host"))
	if errors.Is(err, pgx.ErrNoRows) {
		err = fmt.Errorf("%w: no site %s", errNoPage, a.get("host"))
	}
	return sitePage{s, s.Blocked}, err
}

func actOnSite(ctx context.Context, c *Console, a *asked) (any, error) {
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
