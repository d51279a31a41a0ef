package migrations_test

import (
	"context"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/record/store/migrations"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

// TestAMigrationLetsLeasesPass: while a dump holds a table that a migration is to change,
// leases are renewed, and the migration is applied when the dump is through.
func TestAMigrationLetsLeasesPass(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	pool, err := pgxpool.New(ctx, devtest.Postgres(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(ctx, `INSERT INTO sites (host) VALUES ('a.example')`)
	require.NoError(t, err)
	baseline, err := migrations.Files.ReadFile("0001_baseline.sql")
	require.NoError(t, err)
	files := fstest.MapFS{
		"0001_baseline.sql": {Data: baseline},
		"0002_more.sql":     {Data: []byte("-- +goose Up\nALTER TABLE sites ADD COLUMN more text;\n")},
	}
	dump, err := pool.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = dump.Rollback(context.Background()) }()
	_, err = dump.Exec(ctx, `SELECT FROM sites`)
	require.NoError(t, err)
	migrated := make(chan error, 1)
	go func() { migrated <- migrations.ApplyAll(ctx, pool, files) }()
	require.Eventually(t, func() bool {
		var waits bool
		err := pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE datname=current_database() AND wait_event_type='Lock' AND query LIKE '%ADD COLUMN more%')`).Scan(&waits)
		require.NoError(t, err)
		return waits
	}, 30*time.Second, time.Millisecond)
	// As long as a lease lasts: the migration gives way before.
	lease, err := pool.Begin(ctx)
	require.NoError(t, err)
	_, err = lease.Exec(ctx, `SET LOCAL lock_timeout = '6s'`)
	require.NoError(t, err)
	_, err = lease.Exec(ctx, `UPDATE sites SET expires_at=now() + interval '6 seconds'`)
	require.NoError(t, err, "the lease is lost")
	require.NoError(t, lease.Commit(ctx))
	require.NoError(t, dump.Commit(ctx))
	require.NoError(t, <-migrated)
	_, err = pool.Exec(ctx, `SELECT more FROM sites`)
	require.NoError(t, err)
}
