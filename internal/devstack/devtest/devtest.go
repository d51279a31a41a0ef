package devtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"gleaner/internal/devstack"
	"gleaner/internal/gleaner"
)

// Variables that name servers to use in place of private ones.
const (
	DatabaseVariable = "GLEANER_TEST_DATABASE_URL"
	TemporalVariable = "GLEANER_TEST_TEMPORAL_ADDRESS"
)

// searchAttributes are registered in every test's namespace.
var searchAttributes = gleaner.SearchAttributes()

// shared is the pair of servers of this test binary. It is the one piece of
// package state: a server costs seconds to start, and a test binary has no
// other place to keep what outlives a single test.
var shared struct {
	mu       sync.Mutex
	postgres *devstack.Stack
	temporal *devstack.Stack
	dirs     []string
}

// Main runs a package's tests and stops the servers that they started. Call it
// from TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }
//
// Without it the servers still end with the test binary (on Linux, where
// children can be tied to their parent), but their folders stay in the
// temporary folder.
func Main(m *testing.M) int {
	code := m.Run()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for _, s := range []*devstack.Stack{shared.temporal, shared.postgres} {
		if s == nil {
			continue
		}
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "devtest:", err)
			code = max(code, 1)
		}
	}
	for _, dir := range shared.dirs {
		_ = os.RemoveAll(dir)
	}
	return code
}

// Postgres returns the DSN of an empty database that is this test's own and is
// dropped at its end.
func Postgres(tb testing.TB) (dsn string) {
	tb.Helper()
	server := os.Getenv(DatabaseVariable)
	if server == "" {
		server = start(tb, &shared.postgres, devstack.Options{NoTemporal: true}).DatabaseURL
	}
	name := "test_" + strings.ToLower(rand.Text())
	admin(tb, server, "create database "+name)
	// Force: a test that failed may have left a connection open.
	tb.Cleanup(func() { admin(tb, server, "drop database if exists "+name+" with (force)") })
	u, err := url.Parse(server)
	if err != nil {
		tb.Fatalf("%s: %v", DatabaseVariable, err)
	}
	u.Path = "/" + name
	return u.String()
}

// PostgresApart is Postgres with a clock that is ahead of this machine's by some
// time, or with a time below zero behind it.
func PostgresApart(tb testing.TB, ahead time.Duration) (dsn string) {
	tb.Helper()
	dsn = Postgres(tb)
	sql := "create schema apart; "
	for name, kind := range map[string]string{"now": "stable", "clock_timestamp": "volatile"} {
		sql += fmt.Sprintf("create function apart.%s() returns timestamptz language sql %s as $$ select pg_catalog.%s() + interval '%d ms' $$; ", name, kind, name, ahead.Milliseconds())
	}
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	// Named before the catalogue the schema's functions are found before those of
	// the catalogue, by the defaults of the tables that are made in it, too.
	admin(tb, dsn, sql+"alter database "+strings.TrimPrefix(u.Path, "/")+" set search_path = apart, pg_catalog")
	return dsn
}

func admin(tb testing.TB, dsn, sql string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err == nil {
		_, err = conn.Exec(ctx, sql)
		_ = conn.Close(ctx)
	}
	if err != nil {
		tb.Fatalf("test database: %v", err)
	}
}

// Temporal returns the address of a Temporal server and a namespace that is
// this test's own, with searchAttributes in it.
func Temporal(tb testing.TB) (address, namespace string) {
	tb.Helper()
	address = os.Getenv(TemporalVariable)
	if address == "" {
		address = start(tb, &shared.temporal, devstack.Options{NoPostgres: true, Headless: true}).TemporalAddress
	}
	namespace = "test-" + strings.ToLower(rand.Text())
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := register(ctx, address, namespace); err != nil {
		tb.Fatalf("test namespace: %v", err)
	}
	return address, namespace
}

func register(ctx context.Context, address, namespace string) error {
	c, err := client.NewNamespaceClient(client.Options{HostPort: address})
	if err != nil {
		return err
	}
	defer c.Close()
	err = c.Register(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace:                        namespace,
		WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	if err != nil {
		return err
	}
	// The namespace becomes visible to the frontend a moment later.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err = devstack.EnsureSearchAttributes(ctx, address, namespace, searchAttributes)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w (last: %w)", ctx.Err(), err)
		}
	}
}

func start(tb testing.TB, slot **devstack.Stack, o devstack.Options) *devstack.Stack {
	tb.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if *slot != nil {
		return *slot
	}
	dir, err := os.MkdirTemp("", "gleaner-test-*")
	if err != nil {
		tb.Fatal(err)
	}
	shared.dirs = append(shared.dirs, dir)
	o.DataDir, o.RelaxedCommit = dir, true
	o.Progress = func(line string) { fmt.Fprintln(os.Stderr, "devtest:", line) }
	// Not the test's context: the server outlives the test.
	*slot, err = devstack.Start(context.Background(), o)
	if err != nil {
		tb.Fatalf("test servers: %v", err)
	}
	return *slot
}
