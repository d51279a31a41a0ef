package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// txTries is how often a transaction is tried that others stand in the way of.
const txTries = 5

// Tx runs do in a transaction, and as a whole once more where the server undid it
// since it and another one stood in each other's way. So do may run several times,
// and leaves behind what its last run did.
func (db base) Tx(ctx context.Context, do func(pgx.Tx) error) error {
	for try := 1; ; try++ {
		err := pgx.BeginFunc(ctx, db.Pool, do)
		if err == nil || try == txTries || !undone(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(rand.N(20 * time.Millisecond << try)): // #nosec G404 -- it keeps two apart
		}
	}
}

// undone reports whether the server undid a transaction that passes when it is
// tried again: a deadlock, or one that could not be put in an order.
func undone(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40P01" || pg.Code == "40001")
}
