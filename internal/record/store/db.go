package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// DB is the record. Its parts, one for each noun, share the pool; a caller that needs
// one part takes that.
type DB struct {
	base
	HarvestRecords
	ReportRecords
	PaperRecords
	PersonRecords
	SiteRecords
	StatisticRecords
	CrawlRecords
	RetryRecords
	PageRecords
	DocumentRecords
	MatchRecords
	JobRecords
	UserRecords
	ListRecords
}

// New returns the record behind a pool, whose schema must be up to date (Open).
func New(pool *pgxpool.Pool) *DB {
	b := base{pool}
	return &DB{
		base:             b,
		HarvestRecords:   HarvestRecords{b},
		ReportRecords:    ReportRecords{b},
		PaperRecords:     PaperRecords{b},
		PersonRecords:    PersonRecords{b},
		SiteRecords:      SiteRecords{b},
		StatisticRecords: StatisticRecords{b},
		CrawlRecords:     CrawlRecords{b},
		RetryRecords:     RetryRecords{b},
		PageRecords:      PageRecords{b},
		DocumentRecords:  DocumentRecords{b},
		MatchRecords:     MatchRecords{b},
		JobRecords:       JobRecords{b},
		UserRecords:      UserRecords{b},
		ListRecords:      ListRecords{b},
	}
}

// base is the pool of connections that all parts of the record share.
type base struct{ Pool *pgxpool.Pool }

// Query runs a query on any connection.
func (db base) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return db.Pool.Query(ctx, sql, args...)
}

// Exec runs a statement on any connection.
func (db base) Exec(ctx context.Context, sql string, args ...any) error {
	_, err := db.Pool.Exec(ctx, sql, args...)
	return err
}

// changed runs a statement on any connection, and returns how many rows it changed.
func (db base) changed(ctx context.Context, sql string, args ...any) (int, error) {
	tag, err := db.Pool.Exec(ctx, sql, args...)
	return int(tag.RowsAffected()), err
}

// unlessNone is the error of a statement: none where it changed no row.
func unlessNone(none error) func(pgconn.CommandTag, error) error {
	return func(tag pgconn.CommandTag, err error) error {
		if err == nil && tag.RowsAffected() == 0 {
			return none
		}
		return err
	}
}

type (
	// HarvestRecords are harvests, their options and progress.
	HarvestRecords struct{ base }
	// ReportRecords are what reports are made of, and those that were kept.
	ReportRecords struct{ base }
	// PaperRecords are venues, papers, holdings and open copies.
	PaperRecords struct{ base }
	// PersonRecords are authors and their homepages.
	PersonRecords struct{ base }
	// SiteRecords are sites, who wants them, and recrawls.
	SiteRecords struct{ base }
	// StatisticRecords are rates of sites and directories, counters and growth.
	StatisticRecords struct{ base }
	// CrawlRecords are crawls and their slices, and what is repaired after a crash.
	CrawlRecords struct{ base }
	// RetryRecords are what failed or was not answered, and is asked again.
	RetryRecords struct{ base }
	// PageRecords are pages and answers that are kept for a while, and the local index.
	PageRecords struct{ base }
	// DocumentRecords are documents and where they were found.
	DocumentRecords struct{ base }
	// MatchRecords are judgements on documents, and the papers that these are.
	MatchRecords struct{ base }
	// JobRecords are jobs, and the resources of imports.
	JobRecords struct{ base }
	// UserRecords are the console's users and sessions.
	UserRecords struct{ base }
	// ListRecords are the whitelist, the blacklist and citation counts.
	ListRecords struct{ base }
)

// A source of rows is the record or a transaction of it. The error of a query is left to
// its rows, as pgx lets one: whoever reads them gets it.
type source interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Collect runs a query and scans each row.
func Collect[T any](ctx context.Context, db source, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, _ := db.Query(ctx, sql, args...)
	return pgx.CollectRows(rows, scan)
}

// List runs a query whose columns are T's fields in order.
func List[T any](ctx context.Context, db source, sql string, args ...any) ([]T, error) {
	return Collect(ctx, db, pgx.RowToStructByPos[T], sql, args...)
}

// Column runs a query of one column.
func Column[T any](ctx context.Context, db source, sql string, args ...any) ([]T, error) {
	return Collect(ctx, db, pgx.RowTo[T], sql, args...)
}

// Map runs a query of two columns, keys and values.
func Map[K comparable, V any](ctx context.Context, db source, sql string, args ...any) (map[K]V, error) {
	rows, _ := db.Query(ctx, sql, args...)
	all := map[K]V{}
	var k K
	var v, zero V
	_, err := pgx.ForEachRow(rows, []any{&k, &v}, func() error {
		all[k], v = v, zero // the next scan writes to memory of its own
		return nil
	})
	return all, err
}

// Get runs a query for one value.
func Get[T any](ctx context.Context, db source, sql string, args ...any) (T, error) {
	rows, _ := db.Query(ctx, sql, args...)
	return pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
}

// One runs a query for one row; the error is unknown where there is none, and the row zero.
func One[T any](ctx context.Context, db source, scan pgx.RowToFunc[T], unknown error, sql string, args ...any) (row T, err error) {
	rows, _ := db.Query(ctx, sql, args...)
	row, err = pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		err = unknown
	}
	return row, err
}
