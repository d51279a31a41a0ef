package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"gleaner/internal/guard"
	"gleaner/internal/record/store/migrations"
)

// ErrUnreachable is the error of Open where Postgres does not answer.
var ErrUnreachable = errors.New("the database cannot be reached")

// ErrSchema is the error of Connect where the database lacks migrations.
var ErrSchema = errors.New("the database is not at this program's schema: `starter migrate` brings it there, " +
	"as each worker does when it starts")

// Open is Connect for who may change the schema: it applies what migrations are missing.
func Open(ctx context.Context, dsn string, maxConns int) (*DB, error) {
	return connect(ctx, dsn, maxConns, func(pool *pgxpool.Pool) error {
		err := migrations.Apply(ctx, pool)
		if err != nil {
			err = fmt.Errorf("store: migrate: %w", err)
		}
		return err
	})
}

// Connect connects to dsn. maxConns is the pool's size; 0 leaves pgx's default.
func Connect(ctx context.Context, dsn string, maxConns int) (*DB, error) {
	return connect(ctx, dsn, maxConns, func(pool *pgxpool.Pool) error {
		at, err := migrations.Applied(ctx, pool)
		if err == nil && at < latest() {
			err = ErrSchema
		}
		return err
	})
}

func connect(ctx context.Context, dsn string, maxConns int, schema func(*pgxpool.Pool) error) (*DB, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("store: GLEANER_DATABASE_URL: %w", err)
	}
	if maxConns > 0 {
		cfg.MaxConns = int32(maxConns)
	}
	cfg.AfterConnect, cfg.ConnConfig.Tracer = prepare, cleanArguments{}
	hearSilence(cfg)
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	ping, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err = pool.Ping(ping); err != nil {
		err = fmt.Errorf("%w at %s:%d (GLEANER_DATABASE_URL): %w", ErrUnreachable, cfg.ConnConfig.Host, cfg.ConnConfig.Port, innermost(err))
	} else {
		err = schema(pool)
	}
	if err != nil {
		ClosePool(pool)
		return nil, err
	}
	return New(pool), nil
}

// prepare makes a new connection one of the record's. A transaction that stands still
// for longer than this is undone: what a worker had locked that is frozen, or whose
// machine is cut off, is free again long before its connection is seen to be dead.
func prepare(ctx context.Context, conn *pgx.Conn) error {
	cleanValues(conn)
	_, err := conn.Exec(ctx, `SET idle_in_transaction_session_timeout = '10s'; SET jit = off`)
	return err
}

// SidePool opens a second pool on the same database, for work that must not wait
// behind the queries of the first.
func (db *DB) SidePool(ctx context.Context, maxConns int) (*pgxpool.Pool, error) {
	cfg := db.Pool.Config()
	cfg.MaxConns, cfg.MinConns, cfg.MinIdleConns = int32(maxConns), 0, 0
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return pool, nil
}

// innermost is what an error comes to, in one line: pgx repeats itself for every
// address of a host.
func innermost(err error) error {
	for {
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			if e.Unwrap() == nil {
				return err
			}
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			err = e.Unwrap()[0]
		default:
			return err
		}
	}
}

// Close ends the pool (ClosePool).
func (db *DB) Close() { ClosePool(db.Pool) }

// ClosePool ends a pool. It waits for statements under way, but not for long: a database
// that says nothing any more is not to hold up the end of a program.
func ClosePool(pool *pgxpool.Pool) {
	select {
	case <-guard.Go(pool.Close):
	case <-time.After(closeTime):
	}
}

// closeTime is how long ClosePool waits.
const closeTime = 3 * time.Second

// Full reports whether err says that the database's disk is full (SQLSTATE 53100).
func Full(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "53100"
}

// Away reports whether err says that the database could not be asked at all: the
// connection failed or broke, or the server is starting or stopping.
func Away(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code[:2] == "57" || pg.Code[:2] == "08" || pg.Code == "53300"
	}
	// A server that is killed says nothing: the connection just ends.
	return errors.As(err, new(*pgconn.ConnectError)) || errors.As(err, new(*net.OpError)) ||
		errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// Broken reports whether err, of a call of the database alone, says that the
// connection broke under it: what was asked may have been done or not.
func Broken(err error) bool {
	return errors.As(err, new(*net.OpError)) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// Crossed reports whether err says that two transactions stood in each other's
// way, or that one stood still for too long: the same one passes later.
func Crossed(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code[:2] == "40" || pg.Code == "55P03" || pg.Code == "25P03")
}

// Passes reports whether err, of a call of the database alone, passes: the database is
// away, its disk is full, or two transactions stood in each other's way.
func Passes(err error) bool { return Away(err) || Broken(err) || Crossed(err) || Full(err) }

// Patiently does something with the database, and does it again until it can be asked,
// as passes tells; first is told of the first error. It gives up when ctx ends.
func Patiently(ctx context.Context, passes func(error) bool, first func(error), do func() error) error {
	for tries, wait := 0, 50*time.Millisecond; ; tries++ {
		err := do()
		if err == nil || !passes(err) {
			return err
		}
		if tries == 0 {
			first(err)
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		case <-time.After(wait):
		}
		wait = min(2*wait, time.Second)
	}
}

// Refused reports whether err is the database's own word.
func Refused(err error) bool {
	return errors.As(err, new(*pgconn.PgError))
}

// Unfit reports whether err says that the database was asked, and will not hold
// what it was given, however often it is given.
func Unfit(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code[:2] == "22" || pg.Code[:2] == "23" || pg.Code[:2] == "54")
}
