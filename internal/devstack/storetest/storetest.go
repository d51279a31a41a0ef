// Package storetest opens records of tests.
package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// Open opens an empty record of the test's own, with at most conns connections.
func Open(t testing.TB, conns int) *store.DB {
	t.Helper()
	return At(t, devtest.Postgres(t), conns)
}

// At opens the record in a database.
func At(t testing.TB, dsn string, conns int) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), dsn, conns)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return db
}

// Exec executes a statement.
func Exec(t testing.TB, db frontier.Querier, sql string, args ...any) {
	t.Helper()
	_, err := db.Exec(context.Background(), sql, args...)
	require.NoError(t, err, sql)
}

// Get asks for one value.
func Get[T any](t testing.TB, db *pgxpool.Pool, sql string, args ...any) T {
	t.Helper()
	value, err := store.Get[T](context.Background(), db, sql, args...)
	require.NoError(t, err, sql)
	return value
}

// Column asks for one column.
func Column[T any](t testing.TB, db *pgxpool.Pool, sql string, args ...any) []T {
	t.Helper()
	values, err := store.Column[T](context.Background(), db, sql, args...)
	require.NoError(t, err, sql)
	return values
}

// Map asks for two columns, keys and values.
func Map[K comparable, V any](t testing.TB, db *pgxpool.Pool, sql string, args ...any) map[K]V {
	t.Helper()
	all, err := store.Map[K, V](context.Background(), db, sql, args...)
	require.NoError(t, err, sql)
	return all
}

// AwaitLock waits until a statement waits for a lock.
func AwaitLock(t testing.TB, db *pgxpool.Pool) {
	t.Helper()
	require.Eventually(t, func() bool {
		var waits bool
		err := db.QueryRow(context.Background(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity
			WHERE datname=current_database() AND wait_event_type='Lock')`).Scan(&waits)
		return err == nil && waits
	}, time.Minute, 5*time.Millisecond)
}
