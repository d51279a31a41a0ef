package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/procfs"
)

// withDatabase makes a database on the server, and drops it when do is done.
func withDatabase(ctx context.Context, server string, do func(dsn string) error) (err error) {
	name := "bench_" + strings.ToLower(rand.Text())
	if err := execute(ctx, server, "CREATE DATABASE "+name); err != nil {
		return err
	}
	defer func() {
		drop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, execute(drop, server, "DROP DATABASE "+name))
	}()
	u, err := url.Parse(server)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	u.Path = "/" + name
	return do(u.String())
}

func execute(ctx context.Context, dsn, sql string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
}

// counters are the server's own, of one database; WAL is the whole server's.
type counters struct{ transactions, rows, wal, backends float64 }

func readCounters(ctx context.Context, server, dsn string) (c counters, err error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return c, err
	}
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return c, fmt.Errorf("bench: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = conn.QueryRow(ctx, `SELECT xact_commit, tup_inserted + tup_updated + tup_deleted, pg_current_wal_insert_lsn() - '0/0', numbackends
		FROM pg_stat_database WHERE datname = $1`, strings.TrimPrefix(u.Path, "/")).
		Scan(&c.transactions, &c.rows, &c.wal, &c.backends)
	return c, err
}

func (c counters) since(before counters, pages int) *Database {
	n := float64(max(pages, 1))
	return &Database{Transactions: (c.transactions - before.transactions) / n, Rows: (c.rows - before.rows) / n, WALBytes: (c.wal - before.wal) / n}
}

// ServerCPU returns a function that adds up the CPU seconds of a process and its
// children; nil where the system does not tell them.
func ServerCPU(pid int) func() float64 {
	if _, err := procfs.NewProc(pid); err != nil {
		return nil
	}
	return func() (seconds float64) {
		all, _ := procfs.AllProcs()
		for _, p := range all {
			if s, err := p.Stat(); err == nil && (s.PID == pid || s.PPID == pid) { // else it has ended
				seconds += s.CPUTime()
			}
		}
		return seconds
	}
}

// resident is the memory that a process has now, in bytes; 0 where the system does not
// tell it.
func resident(pid int) int64 {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	s, err := p.Stat()
	if err != nil {
		return 0
	}
	return int64(s.ResidentMemory())
}
