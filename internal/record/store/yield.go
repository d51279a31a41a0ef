package store

import (
	"context"
	"time"
)

// Yield is a crawl policy's yield over a period, in the terms of Wu et al.
// (WebSci 2012, Table 2).
type Yield struct {
	Policy      string  `json:"policy"`
	Crawls      int     `json:"crawls"`
	Days        float64 `json:"days"`         // from the beginning of the first to the end of the last, one at least
	Requests    int     `json:"requests"`     // Q
	Fetched     int     `json:"fetched"`      // F: URLs that came
	New         int     `json:"new"`          // N: documents not known before
	Good        int     `json:"good"`         // G: of these, accepted
	Parents     int     `json:"parents"`      // P: pages by which the new ones were found
	GoodParents int     `json:"good_parents"` // P_G: those of the good ones
}

// PolicyYields computes Table 2 for the crawls that began in a period. A
// document counts for the crawl during which, and on whose site, it was first
// found: the dates of an import from before it was on record do not count.
func (db StatisticRecords) PolicyYields(ctx context.Context, from, to time.Time) ([]Yield, error) {
	return List[Yield](ctx, db, `
		WITH c AS (SELECT * FROM crawls WHERE started_at >= $1 AND started_at < $2),
		first AS (SELECT DISTINCT ON (l.sha256) l.sha256, l.site_id, l.parent, l.found_at, d.state, d.discovered_at FROM locations l JOIN documents d ON d.sha256=l.sha256
			WHERE l.found_at >= d.discovered_at - interval '1 hour' ORDER BY l.sha256, l.found_at, l.url),
		n AS (SELECT c.policy, count(*) AS new, count(*) FILTER (WHERE f.state='accepted') AS good, count(DISTINCT f.parent) FILTER (WHERE f.parent <> '') AS parents,
				count(DISTINCT f.parent) FILTER (WHERE f.state='accepted' AND f.parent <> '') AS good_parents
			FROM c JOIN first f ON f.site_id=c.site_id AND f.found_at >= c.started_at AND f.found_at <= c.finished_at
				AND f.discovered_at >= c.started_at GROUP BY c.policy),
		q AS (SELECT policy, count(*) AS crawls, greatest(1, extract(epoch FROM max(finished_at) - min(started_at)) / 86400)::float8 AS days,
				sum(requests)::int AS requests, sum(fetched)::int AS fetched FROM c GROUP BY policy)
		SELECT q.policy, q.crawls, q.days, q.requests, q.fetched, coalesce(n.new, 0), coalesce(n.good, 0), coalesce(n.parents, 0), coalesce(n.good_parents, 0)
		FROM q LEFT JOIN n ON n.policy=q.policy ORDER BY q.policy`, from, to)
}
