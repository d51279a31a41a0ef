package devtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack"
	"gleaner/internal/record/store/migrations"
)

// Postgres returns the DSN of a database that holds the record's schema and is this
// test's own. All records made by it have the same identity.
func Postgres(tb testing.TB) (dsn string) {
	tb.Helper()
	template, err := templateOn(server(tb))
	require.NoError(tb, err, "template of the test databases")
	return Copy(tb, template)
}

// EmptyPostgres returns the DSN of a database without a table that is this test's own.
func EmptyPostgres(tb testing.TB) (dsn string) {
	tb.Helper()
	return create(tb, "")
}

// Copy returns the DSN of a database that begins as a copy of another, to which nobody
// may be connected, and is this test's own.
func Copy(tb testing.TB, of string) (dsn string) {
	tb.Helper()
	return create(tb, databaseOf(of))
}

// PostgresApart is Postgres with a clock that is ahead of this machine's by some
// time, or with a time below zero behind it.
func PostgresApart(tb testing.TB, ahead time.Duration) (dsn string) {
	tb.Helper()
	dsn = EmptyPostgres(tb)
	sql := "create schema apart; "
	for name, kind := range map[string]string{"now": "stable", "clock_timestamp": "volatile"} {
		sql += fmt.Sprintf("create function apart.%s() returns timestamptz language sql %s as "+
			"$$ select pg_catalog.%s() + interval '%d ms' $$; ", name, kind, name, ahead.Milliseconds())
	}
	// Named before the catalogue the schema's functions are found before those of
	// the catalogue, by the defaults of the tables that are made in it, too.
	sql += "alter database " + databaseOf(dsn) + " set search_path = apart, pg_catalog"
	require.NoError(tb, execute(dsn, sql), "test database")
	return dsn
}

// server returns the DSN of the test server.
func server(tb testing.TB) string {
	tb.Helper()
	if dsn := os.Getenv(devstack.TestDatabase); dsn != "" {
		return dsn
	}
	return start(tb, &shared.postgres, devstack.Options{NoTemporal: true}).DatabaseURL
}

// dropping counts the databases that are being dropped. To drop one takes a checkpoint,
// for which no test waits.
var dropping sync.WaitGroup

// create makes a database, a copy of template where that is not empty, and drops it
// after the test.
func create(tb testing.TB, template string) (dsn string) {
	tb.Helper()
	server, name := server(tb), "test_"+strings.ToLower(rand.Text())
	copyDatabase(tb, server, name, template)
	tb.Cleanup(func() { drop(server, name) })
	return named(server, name)
}

func copyDatabase(tb testing.TB, server, name, template string) {
	tb.Helper()
	err := connected(server, func(ctx context.Context, conn *pgx.Conn) error {
		sql := "create database " + name
		if template != "" {
			sql += " template " + template
			// By default version 15 logs every page of the copy, for twice the processor time.
			if major, _, _ := strings.Cut(conn.PgConn().ParameterStatus("server_version"), "."); major >= "15" {
				sql += " strategy file_copy"
			}
		}
		_, err := conn.Exec(ctx, sql)
		return err
	})
	require.NoError(tb, err, "test database")
}

// kept are the databases that outlive their test: name → server.
var kept sync.Map

// KeptPostgres is Postgres for a database that Main drops: tests Copy it.
func KeptPostgres(tb testing.TB) (dsn string) {
	tb.Helper()
	server, name := server(tb), "kept_"+strings.ToLower(rand.Text())
	template, err := templateOn(server)
	require.NoError(tb, err, "template of the test databases")
	copyDatabase(tb, server, name, databaseOf(template))
	kept.Store(name, server)
	return named(server, name)
}

func dropKept() {
	kept.Range(func(name, server any) bool {
		drop(server.(string), name.(string))
		return true
	})
}

// drop begins to drop a database.
func drop(server, name string) {
	dropping.Go(func() {
		// Force: a test that failed may have left a connection open.
		if err := execute(server, "drop database if exists "+name+" with (force)"); err != nil {
			fmt.Fprintln(os.Stderr, "devtest:", err)
		}
	})
}

func databaseOf(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		panic(err) // made by named
	}
	return strings.TrimPrefix(u.Path, "/")
}

// named is the DSN of another database of a server.
func named(server, database string) string {
	u, err := url.Parse(server)
	if err != nil {
		panic(err) // the server has been connected to by it
	}
	u.Path = "/" + database
	return u.String()
}

func execute(dsn, sql string) error {
	return connected(dsn, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql)
		return err
	})
}

func connected(dsn string, do func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, conn), conn.Close(ctx))
}

// template is the DSN of the migrated database on the server of this process.
var template struct {
	sync.Mutex
	dsn string
}

func templateOn(server string) (dsn string, err error) {
	template.Lock()
	defer template.Unlock()
	if template.dsn == "" {
		if dsn, err = makeTemplate(server); err != nil {
			return "", err
		}
		template.dsn = dsn
	}
	return template.dsn, nil
}

// makeTemplate makes the migrated database unless the server has it. Its name has the
// digest of the migrations in it: programs of several versions may share a server.
func makeTemplate(server string) (dsn string, err error) {
	name, err := templateName()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	// The lock ends with the connection.
	if _, err := conn.Exec(ctx, "select pg_advisory_lock(hashtext($1))", name); err != nil {
		return "", err
	}
	var there bool
	err = conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", name).Scan(&there)
	if err != nil || there {
		return named(server, name), err
	}
	// The name is given last, so that a template is never half of one.
	unfinished := name + "_unfinished"
	for _, sql := range []string{"drop database if exists ", "create database "} {
		if _, err := conn.Exec(ctx, sql+unfinished); err != nil {
			return "", err
		}
	}
	pool, err := pgxpool.New(ctx, named(server, unfinished))
	if err != nil {
		return "", err
	}
	err = migrations.Apply(ctx, pool)
	pool.Close()
	if err != nil {
		return "", err
	}
	_, err = conn.Exec(ctx, "alter database "+unfinished+" rename to "+name)
	return named(server, name), err
}

func templateName() (string, error) {
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range names {
		text, err := fs.ReadFile(migrations.Files, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	return fmt.Sprintf("template_%x", h.Sum(nil)[:8]), nil
}
