package app

import (
	"context"

	"gleaner/internal/each"
	"gleaner/internal/record/store"
)

// SiteView is a site with all that is shown of it.
type SiteView struct {
	store.SiteRow
	store.SiteHold
	Papers   int             `json:"papers"`   // found there
	Harvests []string        `json:"harvests"` // that want it now
	Venues   []string        `json:"venues"`   // that ever wanted it
	Scopes   []string        `json:"scopes"`   // paths that may be crawled
	Failures []store.Failure `json:"failures"`
}

// ViewSite reads what is shown of a site. The error is pgx.ErrNoRows where there is none.
func ViewSite(ctx context.Context, db *store.DB, host string) (v SiteView, err error) {
	site, err := db.Site(ctx, host)
	if err != nil {
		return v, err
	}
	var row []store.SiteRow
	var papers map[string]int
	for _, read := range []func() error{
		func() (err error) { row, err = db.Sites(ctx, store.SiteQuery{Host: host, Limit: 1}); return },
		func() (err error) { v.SiteHold, err = db.SiteHold(ctx, host); return },
		func() (err error) { papers, err = db.SitePapers(ctx, []string{host}); return },
		func() (err error) { v.Harvests, err = db.SiteWatchers(ctx, host); return },
		func() (err error) { v.Venues, err = db.SiteVenues(ctx, host); return },
		func() (err error) { v.Scopes, err = db.Scopes(ctx, site.ID); return },
		func() (err error) { v.Failures, err = db.Failures(ctx, store.RetryFilter{Host: host}); return },
	} {
		if err := read(); err != nil {
			return v, err
		}
	}
	v.SiteRow, v.Papers = row[0], papers[host]
	v.Harvests, v.Venues, v.Scopes = each.List(v.Harvests), each.List(v.Venues), each.List(v.Scopes)
	v.Failures = each.List(v.Failures)
	return v, nil
}
