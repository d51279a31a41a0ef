package migrations_test

import (
	"context"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/record/store/migrations"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

// TestAMigrationLetsLeasesPass: while a dump holds a table that a migration is to change,
// leases are renewed, and the migration is applied when the dump is through. An index that
// was cut off is made again.
func TestAMigrationLetsLeasesPass(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	pool, err := pgxpool.New(ctx, devtest.Postgres(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	storetest.Exec(t, pool, `INSERT INTO sites (host) VALUES ('a.example')`)
	baseline, err := migrations.Files.ReadFile("0001_baseline.sql")
	require.NoError(t, err)
	files := fstest.MapFS{
		"0001_baseline.sql": {Data: baseline},
		"0002_more.sql":     {Data: []byte("-- +goose Up\nALTER TABLE sites ADD COLUMN more text;\n")},
		"0003_index.sql": {Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\n" +
			"DROP INDEX CONCURRENTLY IF EXISTS sites_more;\nCREATE INDEX CONCURRENTLY sites_more ON sites (more);\n")},
	}
	begun := func(statement string) pgx.Tx {
		tx, err := pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
		require.NoError(t, err)
		t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
		_, err = tx.Exec(ctx, statement)
		require.NoError(t, err)
		return tx
	}
	dump, query := begun(`SELECT FROM sites`), begun(`SELECT FROM venues`)
	migrated := make(chan error, 1)
	go func() { migrated <- migrations.ApplyAll(ctx, pool, files, time.Minute) }()
	until := func(condition string) {
		require.Eventually(t, func() (is bool) {
			require.NoError(t, pool.QueryRow(ctx, `SELECT `+condition).Scan(&is))
			return is
		}, 30*time.Second, time.Millisecond)
	}
	const active = `EXISTS (SELECT FROM pg_stat_activity
		WHERE datname=current_database() AND pid<>pg_backend_pid() AND state='active' AND query LIKE `
	until(active + `'%ADD COLUMN more%' AND wait_event_type='Lock')`)
	// As long as a lease lasts: the migration gives way before.
	lease := begun(`SET LOCAL lock_timeout = '6s'`)
	_, err = lease.Exec(ctx, `UPDATE sites SET expires_at=now() + interval '6 seconds'`)
	require.NoError(t, err, "the lease is lost")
	require.NoError(t, lease.Commit(ctx))
	require.NoError(t, dump.Commit(ctx))
	const invalid = `EXISTS (SELECT FROM pg_index WHERE NOT indisvalid)`
	until(invalid + ` AND NOT ` + active + `'%INDEX CONCURRENTLY%')`)
	require.NoError(t, query.Commit(ctx))
	require.NoError(t, <-migrated)
	until(`NOT ` + invalid + ` AND 'sites_more'::regclass IS NOT NULL`)
}

// TestALongMigrationIsNotCutOff: patience is for locks of others, not for the work.
func TestALongMigrationIsNotCutOff(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), devtest.Postgres(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	baseline, err := migrations.Files.ReadFile("0001_baseline.sql")
	require.NoError(t, err)
	files := fstest.MapFS{
		"0001_baseline.sql": {Data: baseline},
		"0002_long.sql":     {Data: []byte("-- +goose Up\nSELECT pg_sleep(1);\n")},
	}
	require.NoError(t, migrations.ApplyAll(t.Context(), pool, files, time.Millisecond))
}

// TestAnotherBaselineIsRefused, of whatever version of the program, and not one whose comments
// alone are others.
func TestAnotherBaselineIsRefused(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), devtest.EmptyPostgres(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	of := func(baseline string) error {
		files := fstest.MapFS{"0001_baseline.sql": {Data: []byte("-- +goose Up\n" + baseline)}}
		return migrations.ApplyAll(t.Context(), pool, files, time.Minute)
	}
	require.NoError(t, of("CREATE TABLE a (one int);\n"))
	require.NoError(t, of("-- What is so.\nCREATE TABLE a (one int); -- of one\n"))
	require.ErrorIs(t, of("CREATE TABLE a (two int);\n"), migrations.ErrBaseline)
	storetest.Exec(t, pool, `COMMENT ON TABLE schema_version IS NULL`) // as before there were digests
	require.ErrorIs(t, of("CREATE TABLE a (one int);\n"), migrations.ErrBaseline)
}
