// Package migrations makes the schema of the record.
package migrations

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// Files holds the numbered migrations, NNNN_name.sql.
//
//go:embed *.sql
var Files embed.FS

// VersionTable is the table in which goose records the migrations of a database.
const VersionTable = "schema_version"

// A migration waits for a table for at most lockTime: whoever asks for the table meanwhile
// waits behind it, and a lease that is not renewed for seconds is lost. Then it lets the
// others pass for a while, and tries again until patience is over: a dump of the database
// may hold all tables for hours.
const (
	lockTime = "1s"
	mostRest = 15 * time.Second
	patience = 10 * time.Minute
)

// ErrLocked is returned by Apply where others held a table all the time.
var ErrLocked = errors.New("another session (a dump of the database, or a long query) holds a table " +
	"that a migration changes; try again when it has ended")

// Apply applies the migrations that a database lacks, under an advisory lock.
func Apply(ctx context.Context, pool *pgxpool.Pool) error {
	return applyAll(ctx, pool, Files, patience)
}

func applyAll(ctx context.Context, pool *pgxpool.Pool, files fs.FS, patience time.Duration) error {
	cfg := pool.Config()
	before := cfg.AfterConnect
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if before != nil {
			if err := before(ctx, conn); err != nil {
				return err
			}
		}
		_, err := conn.Exec(ctx, `SET lock_timeout = '`+lockTime+`'`)
		return err
	}
	own, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer own.Close()
	var since time.Time // when a lock was waited for first
	for rest := time.Second; ; rest = min(2*rest, mostRest) {
		err := apply(ctx, own, files)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "55P03" {
			return err
		}
		if since.IsZero() {
			since = time.Now()
		}
		if time.Since(since) > patience {
			return fmt.Errorf("%w: %w", ErrLocked, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(rest):
		}
	}
}

// apply applies the migrations of a file system once.
func apply(ctx context.Context, pool *pgxpool.Pool, files fs.FS) error {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithTableName(VersionTable), goose.WithSessionLocker(locker))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}
