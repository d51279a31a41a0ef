package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/fetch"
)

// LoadRobots implements fetch.RobotsCache.
func (db *DB) LoadRobots(ctx context.Context, host string) (fetch.RobotsRecord, bool, error) {
	var r fetch.RobotsRecord
	err := db.Pool.QueryRow(ctx, `SELECT body, status, available, failures, reason, fetched_at, expires_at FROM robots WHERE host=$1`, host).
		Scan(&r.Body, &r.Status, &r.Available, &r.Failures, &r.Reason, &r.FetchedAt, &r.ExpiresAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, false, nil
	}
	return r, err == nil, err
}

// SaveRobots implements fetch.RobotsCache.
func (db *DB) SaveRobots(ctx context.Context, host string, r fetch.RobotsRecord) error {
	_, err := db.Pool.Exec(ctx, `INSERT INTO robots (host, body, status, available, failures, reason, fetched_at, expires_at) VALUES ($1,$2,$3,$4,$5,$6,$7,$8)
		ON CONFLICT (host) DO UPDATE SET body=EXCLUDED.body, status=EXCLUDED.status, available=EXCLUDED.available,
			failures=EXCLUDED.failures, reason=EXCLUDED.reason, fetched_at=EXCLUDED.fetched_at, expires_at=EXCLUDED.expires_at`,
		host, r.Body, r.Status, r.Available, r.Failures, r.Reason, r.FetchedAt, r.ExpiresAt)
	return err
}
