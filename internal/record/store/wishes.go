package store

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/web/rules"
)

// SiteOptions are what a harvest asks of the crawl of its sites, as they lie
// among its own options. An empty field is the worker's setting.
type SiteOptions struct {
	Delay    time.Duration `json:"delay,omitempty"`     // between requests
	MaxPages int           `json:"max_pages,omitempty"` // of one crawl
	Strategy string        `json:"strategy,omitempty"`
	Leads    string        `json:"leads,omitempty"`  // wanted, all or none
	Budget   float64       `json:"budget,omitempty"` // requests that one more accepted document may cost; 0 is no limit

	WARC bool `json:"warc,omitempty"` // keep what is exchanged in WARC files

	Links *rules.Lists  `json:"links,omitempty"` // what one harvest leaves out; nil is the worker's
	Kept  []rules.Lists `json:"-"`               // of all that want the site, each over the worker's
}

// or fills in what a harvest left to the worker.
func (o SiteOptions) or(worker SiteOptions) SiteOptions {
	o.Delay = cmp.Or(o.Delay, worker.Delay)
	o.MaxPages = cmp.Or(o.MaxPages, worker.MaxPages)
	o.Budget = cmp.Or(o.Budget, worker.Budget)
	o.WARC = o.WARC || worker.WARC
	o.Kept = worker.Kept
	if o.Links != nil {
		o.Kept = []rules.Lists{*o.Links}
		for _, l := range worker.Kept {
			o.Kept[0] = o.Links.Over(l)
		}
	}
	return o
}

// merge takes the politer delay and the larger limits of two harvests, and the
// strategy and leads of the later one that names any; WARC files are kept where one
// of them wants some.
func (o SiteOptions) merge(later SiteOptions) SiteOptions {
	o.Delay, o.MaxPages = max(o.Delay, later.Delay), max(o.MaxPages, later.MaxPages)
	if o.Budget == 0 || later.Budget == 0 {
		o.Budget = 0 // one of them sets no limit
	} else {
		o.Budget = max(o.Budget, later.Budget)
	}
	o.WARC = o.WARC || later.WARC
	if later.Strategy != "" {
		o.Strategy = later.Strategy
	}
	if later.Leads != "" {
		o.Leads = later.Leads
	}
	o.Links, o.Kept = nil, append(o.Kept[:len(o.Kept):len(o.Kept)], later.Kept...)
	return o
}

// SiteOptions tells what is asked of a site's crawl now: by the harvests that
// want it and are under way, which may be none. What a harvest leaves open is the
// worker's before the harvests are compared, so that one in a hurry does not
// hurry the others; with its end its wishes end.
func (db SiteRecords) SiteOptions(ctx context.Context, siteID int, worker SiteOptions) (o SiteOptions, watched bool, err error) {
	asked, err := Column[SiteOptions](ctx, db, `SELECT coalesce(h.options, '{}') FROM harvests h JOIN harvest_sites hs ON hs.harvest_id=h.id
		WHERE hs.site_id=$1 AND h.completed_at IS NULL AND NOT h.cancelled ORDER BY h.started_at, h.id`, siteID)
	if err != nil || len(asked) == 0 {
		return worker, false, err
	}
	o = asked[0].or(worker)
	for _, a := range asked[1:] {
		o = o.merge(a.or(worker))
	}
	o.Strategy = cmp.Or(o.Strategy, worker.Strategy)
	o.Leads = cmp.Or(o.Leads, worker.Leads)
	return o, true, nil
}

// LinkLists are what one harvest leaves out.
type LinkLists struct {
	Harvest string
	rules.Lists
}

// LinkLists lists those of the harvests that ever wanted a host.
func (db SiteRecords) LinkLists(ctx context.Context, host string) ([]LinkLists, error) {
	return Collect(ctx, db, func(row pgx.CollectableRow) (l LinkLists, err error) {
		err = row.Scan(&l.Harvest, &l.Lists)
		return l, err
	}, `SELECT h.id, coalesce(h.options->'links', '{}') FROM harvests h JOIN harvest_sites hs ON hs.harvest_id=h.id
		JOIN sites s ON s.id=hs.site_id WHERE s.host=$1 ORDER BY h.id`, host)
}

// SiteDelay is the least time between two requests to a site that the harvests
// under way ask for, if any want it. It implements politeness.Promise.
func (db SiteRecords) SiteDelay(ctx context.Context, siteID int, worker time.Duration) (time.Duration, bool, error) {
	o, watched, err := db.SiteOptions(ctx, siteID, SiteOptions{Delay: worker})
	return o.Delay, watched, err
}
