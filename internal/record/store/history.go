package store

import (
	"context"
	"time"
)

// History is what harvests asked so far, by which it is guessed what another one will.
type History struct {
	Authors  int           // looked for
	Found    int           // of these, with a homepage
	Requests float64       // for one of them, searches among them
	Hosts    float64       // of one who was found
	Crawls   int           // first crawls of sites
	OfCrawl  float64       // requests of one
	Paced    int           // sites that were crawled and whose pace is known
	Pace     time.Duration // of one
}

// History sums up the record.
func (db HarvestRecords) History(ctx context.Context) (h History, err error) {
	var pace float64
	err = db.Pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM homepage_decisions), (SELECT count(DISTINCT author_id) FROM homepages),
			(SELECT coalesce(avg(requests), 0)::float8 FROM homepage_decisions),
			(SELECT coalesce(count(DISTINCT host)::float8 / nullif(count(DISTINCT author_id), 0), 0) FROM homepages),
			(SELECT count(*) FROM crawls WHERE crawl=1), (SELECT coalesce(avg(requests), 0)::float8 FROM crawls WHERE crawl=1),
			(SELECT count(*) FROM sites WHERE pace_by <> '' AND crawl > 0), (SELECT coalesce(avg(extract(epoch FROM pace)), 0)::float8 FROM sites WHERE pace_by <> '' AND crawl > 0)`).
		Scan(&h.Authors, &h.Found, &h.Requests, &h.Hosts, &h.Crawls, &h.OfCrawl, &h.Paced, &pace)
	h.Pace = time.Duration(pace * float64(time.Second))
	return h, err
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
func (db HarvestRecords) AuthorsKnown(ctx context.Context, ids []string, since time.Time, pace time.Duration, again Again) (k AuthorsKnown, err error) {
	var longest float64
	err = db.Pool.QueryRow(ctx, `WITH h AS (SELECT author_id, host FROM homepages WHERE author_id = ANY($1)),
			at AS (SELECT host FROM h UNION SELECT s.host FROM sites s JOIN harvest_sites hs ON hs.site_id=s.id WHERE hs.harvest_id=$4 AND s.crawl > 0),
			s AS (SELECT at.host, s.id, coalesce(s.crawl, 0) AS crawl, CASE WHEN coalesce(s.pace_by, '')='' THEN $3::float8 ELSE extract(epoch FROM s.pace)::float8 END AS pace
				FROM at LEFT JOIN sites s ON s.host=at.host),
			w AS (SELECT s.*, (SELECT count(*) FROM urls u WHERE u.site_id=s.id AND (u.state=0 OR $5 AND u.due_at <= now() OR $6 AND u.due_at IS NOT NULL)) AS waiting
				FROM s WHERE s.crawl > 0)
		SELECT (SELECT count(DISTINCT author_id) FROM h),
			(SELECT count(*) FROM homepage_decisions d WHERE d.author_id = ANY($1) AND d.decided_at >= $2 AND d.author_id NOT IN (SELECT author_id FROM h)),
			(SELECT count(*) FROM s), (SELECT count(*) FROM w), (SELECT coalesce(sum(waiting), 0)::int FROM w), (SELECT coalesce(max(waiting*pace), 0) FROM w)`,
		ids, since, pace.Seconds(), again.Harvest, again.Due, again.All).Scan(&k.Found, &k.InVain, &k.Sites, &k.Crawled, &k.Waiting, &longest)
	k.Longest = time.Duration(longest * float64(time.Second))
	return k, err
}
