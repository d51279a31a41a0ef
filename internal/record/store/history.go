package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
	"gleaner/internal/web/rules"
)

// History is what harvests asked so far, by which it is guessed what another one will.
type History struct {
	Authors  int           // looked for
	Found    int           // of these, with a homepage
	Requests float64       // for one of them, searches among them
	Hosts    float64       // of one who was found
	Crawls   int           // first crawls of sites
	OfCrawl  float64       // requests of one
	Largest  float64       // requests of the one with the most
	Paced    int           // sites that were crawled and whose pace is known
	Pace     time.Duration // of one
}

// History sums up the record.
func (db HarvestRecords) History(ctx context.Context) (History, error) {
	return One(ctx, db, pgx.RowToStructByPos[History], nil, `SELECT (SELECT count(*) FROM homepage_decisions), (SELECT count(DISTINCT author_id) FROM homepages),
			(SELECT coalesce(avg(requests), 0)::float8 FROM homepage_decisions),
			(SELECT coalesce(count(DISTINCT host)::float8 / nullif(count(DISTINCT author_id), 0), 0) FROM homepages),
			(SELECT count(*) FROM crawls WHERE crawl=1), (SELECT coalesce(avg(requests), 0)::float8 FROM crawls WHERE crawl=1),
			(SELECT coalesce(max(requests), 0)::float8 FROM crawls WHERE crawl=1),
			(SELECT count(*) FROM sites WHERE pace_by <> '' AND crawl > 0), (SELECT coalesce(avg(pace), '0') FROM sites WHERE pace_by <> '' AND crawl > 0)`)
}

// AuthorsKnown is what the record knows of some authors and of where they are.
type AuthorsKnown struct {
	Found   int           `json:"with_homepage"`
	InVain  int           `json:"looked_for_in_vain"` // of late
	Sites   int           `json:"sites"`              // of their homepages, and those that the harvest crawled before
	Crawled int           `json:"crawled"`            // of these, before
	Waiting int           `json:"waiting"`            // URLs on those, and what is due again
	Longest time.Duration `json:"-"`                  // that the one with the most takes at its pace
}

// Again says what a harvest asks again of what was asked before.
type Again struct {
	Harvest string // its id
	Due     bool   // what is due
	All     bool   // everything
}

// AuthorsKnown looks some authors up. Decisions before since do not stand any more;
// pace is that of sites of which none is known.
func (db HarvestRecords) AuthorsKnown(ctx context.Context, ids []string, since time.Time, pace time.Duration, again Again) (AuthorsKnown, error) {
	return One(ctx, db, pgx.RowToStructByPos[AuthorsKnown], nil, `WITH h AS (SELECT author_id, host FROM homepages WHERE author_id = ANY($1)),
			at AS (SELECT host FROM h UNION SELECT s.host FROM sites s JOIN harvest_sites hs ON hs.site_id=s.id WHERE hs.harvest_id=$4 AND s.crawl > 0),
			s AS (SELECT at.host, s.id, coalesce(s.crawl, 0) AS crawl, CASE WHEN coalesce(s.pace_by, '')='' THEN $3::float8 ELSE extract(epoch FROM s.pace)::float8 END AS pace
				FROM at LEFT JOIN sites s ON s.host=at.host),
			w AS (SELECT s.*, (SELECT count(*) FROM urls u WHERE u.site_id=s.id AND (u.state=0 OR $5 AND u.due_at <= now() OR $6 AND u.due_at IS NOT NULL)) AS waiting
				FROM s WHERE s.crawl > 0)
		SELECT (SELECT count(DISTINCT author_id) FROM h),
			(SELECT count(*) FROM homepage_decisions d WHERE d.author_id = ANY($1) AND d.decided_at >= $2 AND d.author_id NOT IN (SELECT author_id FROM h)),
			(SELECT count(*) FROM s), (SELECT count(*) FROM w), (SELECT coalesce(sum(waiting), 0)::int FROM w),
			make_interval(secs => (SELECT coalesce(max(waiting*pace), 0) FROM w))`,
		ids, since, pace.Seconds(), again.Harvest, again.Due, again.All)
}

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
	o.Strategy = cmp.Or(later.Strategy, o.Strategy)
	o.Leads = cmp.Or(later.Leads, o.Leads)
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
	Lists   rules.Lists
}

// LinkLists lists those of the harvests that ever wanted a host.
func (db SiteRecords) LinkLists(ctx context.Context, host string) ([]LinkLists, error) {
	return List[LinkLists](ctx, db, `SELECT h.id, coalesce(h.options->'links', '{}') FROM harvests h JOIN harvest_sites hs ON hs.harvest_id=h.id
		JOIN sites s ON s.id=hs.site_id WHERE s.host=$1 ORDER BY h.id`, host)
}

// SiteDelay is the least time between two requests to a site that the harvests
// under way ask for, if any want it. It implements politeness.Promise.
func (db SiteRecords) SiteDelay(ctx context.Context, siteID int, worker time.Duration) (time.Duration, bool, error) {
	o, watched, err := db.SiteOptions(ctx, siteID, SiteOptions{Delay: worker})
	return o.Delay, watched, err
}

// Change is what became of a paper, or of a document of a site, since a time.
type Change struct {
	What    string    `json:"what"` // found, lost or changed
	At      time.Time `json:"at"`
	Paper   string    `json:"paper,omitempty"`
	Title   string    `json:"title"`
	Year    int       `json:"year,omitempty"`
	Authors []string  `json:"authors,omitempty"`
	SHA256  string    `json:"sha256"`
	URL     string    `json:"url"`
}

// GoalTitle is what people call the goal of a harvest: the title of a venue, the name of
// a person; the goal's own name where neither is known.
func (db HarvestRecords) GoalTitle(ctx context.Context, goal string) (string, error) {
	return Get[string](ctx, db, `SELECT coalesce((SELECT coalesce(nullif(title, ''), nullif(name, '')) FROM venues WHERE key=$1),
		(SELECT name FROM authors WHERE pid<>'' AND 'author:' || pid=$1 LIMIT 1), $1)`, goal)
}

// Changes lists what became since a time of what a harvest wants: what was found
// first, at the earliest when the harvest came to want it, what is at none of its places any more (its file stays), and what was found
// before and has a new version at a known place. All come by time.
func (db HarvestRecords) Changes(ctx context.Context, h Harvest, since time.Time) ([]Change, error) {
	item := `SELECT p.key, p.key AS paper, p.title, p.year, p.authors, m.sha256, greatest(m.matched_at, hp.wanted_at) AS at, NULL::text AS url
		FROM harvest_papers hp JOIN papers p ON p.key=hp.paper_key JOIN matches m ON m.paper_key=p.key WHERE hp.harvest_id=$1 AND NOT hp.held AND ` + FoundSQL
	if gleaner.ParseGoal(h.Venue).Site != "" {
		item = `SELECT l.url, '', d.meta_title, 0, '[]'::jsonb, d.sha256, l.found_at, l.url
			FROM documents d JOIN locations l USING (sha256) JOIN harvest_sites hs USING (site_id) WHERE hs.harvest_id=$1 AND d.state='accepted' AND d.same_as=''`
	}
	out, err := List[Change](ctx, db, fmt.Sprintf(`
		WITH item (key, paper, title, year, authors, sha256, at, url) AS (%s),
		place AS (SELECT i.*, l.url AS place, l.current, l.found_at, n.old, coalesce(l.gone_at, n.replaced, l.seen_at) AS ended
			FROM item i JOIN locations l ON l.sha256=i.sha256 AND (i.url IS NULL OR i.url=l.url)
			CROSS JOIN LATERAL (SELECT coalesce(bool_or(o.found_at < l.found_at), false) AS old, max(o.found_at) FILTER (WHERE o.found_at > l.found_at) AS replaced
				FROM locations o WHERE o.hash=l.hash AND o.sha256<>l.sha256) n),
		of AS (SELECT key, min(at) AS first, bool_or(current) AS there, max(ended) AS ended,
			max(found_at) FILTER (WHERE current AND old) AS renewed FROM place GROUP BY key),
		told AS (SELECT key, CASE WHEN NOT there THEN 'lost' WHEN first >= $2 THEN 'found' ELSE 'changed' END AS what,
			CASE WHEN NOT there THEN ended WHEN first >= $2 THEN first ELSE renewed END AS at FROM of)
		SELECT DISTINCT ON (t.key) t.what, t.at, p.paper, p.title, p.year, ARRAY(SELECT a->>'name' FROM jsonb_array_elements(p.authors) a), p.sha256, p.place
		FROM told t JOIN place p ON p.key=t.key WHERE t.at >= $2
		ORDER BY t.key, p.current DESC, p.found_at DESC, p.place`, item), h.ID, since)
	slices.SortStableFunc(out, func(a, b Change) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Title, b.Title)) })
	return out, err
}
