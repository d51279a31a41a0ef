// Package migrations makes the schema of the record.
package migrations

import (
	"context"
	"embed"

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

// Apply applies the migrations that a database lacks, under an advisory lock.
func Apply(ctx context.Context, pool *pgxpool.Pool) error {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, db, Files, goose.WithTableName(VersionTable), goose.WithSessionLocker(locker))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}
