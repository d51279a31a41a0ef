package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Chore is what one process of all does for all, every so often.
type Chore struct {
	Name   string
	Every  time.Duration // from its end to its next beginning
	Within time.Duration // then it is broken off, and anybody may take it on
}

// Chore does c where it is due and nobody is at it, and keeps what it brought (nil
// leaves what it brought before); ran says whether it was done here. Whoever
// claims its row does it, so no connection is held meanwhile. One that fails is
// due again when its time is up, one that is broken off by the end of ctx at once.
func (db CrawlRecords) Chore(ctx context.Context, c Chore, do func(context.Context) (result any, err error)) (ran bool, err error) {
	// The time begins before the claim, so that it is up here before it is there.
	within, cancel := context.WithTimeout(ctx, c.Within)
	defer cancel()
	var until time.Time
	err = db.Pool.QueryRow(within, `INSERT INTO chores AS c (name, claimed_until) VALUES ($1, now() + $3)
		ON CONFLICT (name) DO UPDATE SET claimed_until = EXCLUDED.claimed_until WHERE c.last <= now() - $2::interval AND c.claimed_until <= now()
		RETURNING claimed_until`, c.Name, c.Every, c.Within).Scan(&until)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("store: chore %s: %w", c.Name, err)
	}
	result, err := do(within)
	if err != nil {
		if result = nil; ctx.Err() == nil {
			return true, err
		}
	}
	told, cancelTold := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancelTold()
	_, settled := db.Pool.Exec(told, `UPDATE chores SET claimed_until = '-infinity', last = CASE WHEN $3 THEN clock_timestamp() ELSE last END, result = coalesce($4::jsonb, result)
		WHERE name = $1 AND claimed_until = $2`, c.Name, until, err == nil, result)
	return true, errors.Join(err, settled)
}
