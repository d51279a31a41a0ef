// Package migrations makes the schema of the record.
package migrations

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
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

// ErrBaseline is returned where another version's first migration made the database: the
// migrations after it are for a schema that is not there.
var ErrBaseline = errors.New("another version of this program made the database, and no migration leads from its " +
	"schema to this one's; use that version, or begin with another database or data folder (GLEANER_DATA_DIR)")

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
	at, err := applied(ctx, pool, files)
	if err == nil && at == 0 {
		err = mark(ctx, pool, p, files)
	}
	if err == nil {
		_, err = p.Up(ctx)
	}
	return err
}

// mark notes in an empty database what its first migration will be.
func mark(ctx context.Context, pool *pgxpool.Pool, p *goose.Provider, files fs.FS) error {
	of, err := baseline(files)
	if err == nil {
		_, err = p.GetDBVersion(ctx) // makes the table
	}
	if err == nil {
		_, err = pool.Exec(ctx, `COMMENT ON TABLE `+VersionTable+` IS '`+of+`'`)
	}
	return err
}

// querier is a pool or a connection.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Applied is the latest migration that was applied, 0 in an empty database. Of one that
// another version's first migration made it returns ErrBaseline, too.
func Applied(ctx context.Context, db querier) (latest int64, err error) {
	return applied(ctx, db, Files)
}

func applied(ctx context.Context, db querier, files fs.FS) (latest int64, err error) {
	var exists bool
	if err := db.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, VersionTable).Scan(&exists); err != nil || !exists {
		return 0, err
	}
	of, err := baseline(files)
	if err != nil {
		return 0, err
	}
	var made string
	const latestSQL = `SELECT coalesce(max(version_id), 0), coalesce(obj_description($1::text::regclass, 'pg_class'), '')
		FROM ` + VersionTable + ` WHERE is_applied`
	if err = db.QueryRow(ctx, latestSQL, VersionTable).Scan(&latest, &made); err == nil && latest > 0 && made != of {
		err = ErrBaseline
	}
	return latest, err
}

// baseline is the digest of the first migration, but for its comments.
func baseline(files fs.FS) (string, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil || len(names) == 0 {
		return "", errors.Join(err, fs.ErrNotExist)
	}
	text, err := fs.ReadFile(files, names[0])
	sum := sha256.New()
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "--")
		fmt.Fprint(sum, strings.TrimSpace(line))
	}
	return fmt.Sprintf("baseline %x", sum.Sum(nil)[:16]), err
}
