package politeness

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"gleaner/internal/fetch"
)

// Robots stores the robots.txt of hosts, for all workers.
type Robots struct{ pool *pgxpool.Pool }

// NewRobots returns a Robots over a database with the schema of package store.
func NewRobots(pool *pgxpool.Pool) Robots { return Robots{pool} }

func (r Robots) LoadRobots(ctx context.Context, host string, known fetch.RobotsRecord) (fetch.RobotsRecord, bool, error) {
	var rec fetch.RobotsRecord
	var same bool // by the database's clock, which knows no nanoseconds
	err := r.pool.QueryRow(ctx, `SELECT same, CASE WHEN NOT same THEN body END, status, available, failures, reason, fetched_at, expires_at
			FROM robots, LATERAL (SELECT (fetched_at, expires_at, available) = ($2, $3, $4)) AS s (same) WHERE host=$1`,
		host, known.FetchedAt, known.ExpiresAt, known.Available).
		Scan(&same, &rec.Body, &rec.Status, &rec.Available, &rec.Failures, &rec.Reason, &rec.FetchedAt, &rec.ExpiresAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return rec, false, nil
	}
	if err == nil && same {
		return known, true, nil
	}
	return rec, err == nil, err
}

func (r Robots) SaveRobots(ctx context.Context, host string, rec fetch.RobotsRecord) error {
	_, err := r.pool.Exec(ctx, `INSERT INTO robots (host, body, status, available, failures, reason, fetched_at, expires_at) VALUES ($1,$2,$3,$4,$5,$6,$7,$8)
		ON CONFLICT (host) DO UPDATE SET body=EXCLUDED.body, status=EXCLUDED.status, available=EXCLUDED.available,
			failures=EXCLUDED.failures, reason=EXCLUDED.reason, fetched_at=EXCLUDED.fetched_at, expires_at=EXCLUDED.expires_at`,
		host, rec.Body, rec.Status, rec.Available, rec.Failures, rec.Reason, rec.FetchedAt, rec.ExpiresAt)
	return err
}
