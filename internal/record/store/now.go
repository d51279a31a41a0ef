package store

import (
	"context"
	"time"

	"gleaner/internal/gleaner"
)

// Now is what is under way of a harvest.
type Now struct {
	Listed  int           // papers of its venue and years in the longest list of a source
	Waiting int           // URLs on sites that are crawled or will be
	Sites   int           // these
	Longest time.Duration // that the one with the most takes for its own, at its pace
	All     time.Duration // that they take together, one after the other
	At      []SiteNow     // that are crawled, and those that fail or refuse
}

// SiteNow is a site of a harvest.
type SiteNow struct {
	Host                              string
	State                             gleaner.SiteState
	Reason                            string // why it failed last, or ended as it did
	Pages, Documents, Papers, Waiting int
	Failures                          int // in a row
	Next                              time.Time
}

// Fails reports whether a site does not answer as it should.
func (s SiteNow) Fails() bool { return s.Failures > 0 || s.State != gleaner.SiteCrawling }

// HarvestNow looks at what is under way of a harvest: its sites, so many at most, first
// those that fail. pace is that of a site of which nothing was asked yet.
func (db HarvestRecords) HarvestNow(ctx context.Context, id string, pace time.Duration, limit int) (Now, error) {
	var n Now
	var longest, all float64
	err := db.Pool.QueryRow(ctx, `
		WITH s AS (SELECT s.id, CASE WHEN s.pace_by='' THEN $2::float8 ELSE extract(epoch FROM s.pace)::float8 END AS pace
				FROM sites s JOIN harvest_sites hs ON hs.site_id=s.id WHERE hs.harvest_id=$1 AND s.state IN ('new', 'crawling')),
			u AS (SELECT s.id, s.pace, sum(u.n)::int AS waiting FROM s JOIN url_counts u ON u.site_id=s.id AND u.state=0 GROUP BY s.id, s.pace)
		SELECT (SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM listings l JOIN harvests h ON h.venue=l.venue
				WHERE h.id=$1 AND l.year <@ (`+yearsSQL+`) GROUP BY l.source) x),
			coalesce(sum(waiting), 0)::int, count(*) FILTER (WHERE waiting > 0), coalesce(max(waiting*pace), 0), coalesce(sum(waiting*pace), 0) FROM u`,
		id, pace.Seconds()).Scan(&n.Listed, &n.Waiting, &n.Sites, &longest, &all)
	if err != nil {
		return n, err
	}
	n.Longest, n.All = time.Duration(longest*float64(time.Second)), time.Duration(all*float64(time.Second))
	n.At, err = List[SiteNow](ctx, db, `
		WITH s AS (SELECT s.*, (SELECT coalesce(sum(n), 0)::int FROM url_counts u WHERE u.site_id=s.id AND u.state=0) AS waiting
				FROM sites s JOIN harvest_sites hs ON hs.site_id=s.id WHERE hs.harvest_id=$1 AND s.state IN ('crawling', 'refused', 'stopped')),
			shown AS (SELECT * FROM s ORDER BY state='crawling' AND failures=0, waiting DESC, host LIMIT $2)
		SELECT s.host, s.state, CASE WHEN s.state='crawling' AND s.failures > 0
				THEN coalesce((SELECT u.outcome FROM urls u WHERE u.site_id=s.id AND u.state=3 ORDER BY u.next_try DESC LIMIT 1), '') ELSE s.reason END,
			u.pages, `+siteDocuments+`,
			(SELECT count(DISTINCT m.paper_key)::int FROM locations l JOIN matches m ON m.sha256=l.sha256 JOIN harvest_papers hp ON hp.paper_key=m.paper_key
				WHERE l.site_id=s.id AND hp.harvest_id=$1 AND NOT hp.held AND `+FoundSQL+`),
			s.waiting, s.failures, greatest(s.next_allowed_at, s.asked_until, s.parked_until, s.crawl_started, '2000-01-01')
		FROM shown s CROSS JOIN LATERAL (SELECT `+urlCounts+` FROM url_counts u WHERE u.site_id=s.id) u
		ORDER BY s.state='crawling' AND s.failures=0, s.waiting DESC, s.host`, id, limit)
	return n, err
}
