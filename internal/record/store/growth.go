package store

import "context"

// Month is what came to the collection in one month.
type Month struct {
	Month     string `json:"month"` // as 2026-01
	Documents int    `json:"documents"`
	Accepted  int    `json:"accepted"`
}

// Months lists what came in the last 24 months, the oldest first, from the first month
// with a document on.
func (db StatisticRecords) Months(ctx context.Context) ([]Month, error) {
	return List[Month](ctx, db, `
		WITH came AS (SELECT date_trunc('month', discovered_at AT TIME ZONE 'UTC') AS month, count(*) AS n, count(*) FILTER (WHERE state='accepted') AS accepted
			FROM documents WHERE discovered_at >= (date_trunc('month', now() AT TIME ZONE 'UTC') - interval '23 months') AT TIME ZONE 'UTC' GROUP BY 1)
		SELECT to_char(m, 'YYYY-MM'), coalesce(n, 0)::int, coalesce(accepted, 0)::int
		FROM generate_series((SELECT min(month) FROM came), date_trunc('month', now() AT TIME ZONE 'UTC'), interval '1 month') m
		LEFT JOIN came ON came.month=m ORDER BY m`)
}

// PaceTally counts sites by how long they are left alone between two requests.
type PaceTally struct {
	Every   string `json:"every"`
	Sites   int    `json:"sites"`
	Resting int    `json:"resting"` // of them, those that are left alone for longer now: they asked for it, or failed
}

// PaceTallies counts the sites that were asked, from the shortest pause to the longest.
func (db StatisticRecords) PaceTallies(ctx context.Context) ([]PaceTally, error) {
	return List[PaceTally](ctx, db, `
		WITH s AS (SELECT extract(epoch FROM pace) AS every, asked_until > now() OR parked_until > now() AS rests FROM sites WHERE pace_by <> ''),
		step (n, most, every) AS (VALUES (1, 1.0, 'up to 1 s'), (2, 2.0, 'up to 2 s'), (3, 5.0, 'up to 5 s'), (4, 15.0, 'up to 15 s'), (5, 60.0, 'up to 1 min'), (6, 'Infinity'::numeric, 'more than 1 min'))
		SELECT step.every, count(*)::int, count(*) FILTER (WHERE s.rests)::int
		FROM s CROSS JOIN LATERAL (SELECT * FROM step WHERE s.every <= step.most ORDER BY n LIMIT 1) step GROUP BY step.n, step.every ORDER BY step.n`)
}
