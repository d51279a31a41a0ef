package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

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
	return &DB{b, HarvestRecords{b}, ReportRecords{b}, PaperRecords{b}, PersonRecords{b}, SiteRecords{b},
		StatisticRecords{b}, CrawlRecords{b}, RetryRecords{b}, PageRecords{b}, DocumentRecords{b}, MatchRecords{b},
		JobRecords{b}, UserRecords{b}, ListRecords{b}}
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

// Send runs the statements of a batch in one transaction. Each try sends a batch of its own:
// a batch that was sent keeps the statements of its connection.
func (db base) Send(ctx context.Context, b *pgx.Batch) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		try := &pgx.Batch{}
		for _, q := range b.QueuedQueries {
			try.Queue(q.SQL, q.Arguments...).Fn = q.Fn
		}
		return tx.SendBatch(ctx, try).Close()
	})
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

// forEach is List that calls do with each row as it comes, and keeps none.
func forEach[T any](ctx context.Context, db source, do func(T), sql string, args ...any) error {
	_, err := Collect(ctx, db, func(row pgx.CollectableRow) (none struct{}, err error) {
		one, err := pgx.RowToStructByPos[T](row)
		if err == nil {
			do(one)
		}
		return none, err
	}, sql, args...)
	return err
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

// never is the SQL of the zero time.
const never = `'0001-01-01 00:00Z'::timestamptz`

// UnlessZero is a time, or NULL where it is zero.
func UnlessZero(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// txTries is how often a transaction is tried that others stand in the way of.
const txTries = 5

// Tx runs do in a transaction, and as a whole once more where the server undid it
// since it and another one stood in each other's way. So do may run several times,
// and leaves behind what its last run did.
func (db base) Tx(ctx context.Context, do func(pgx.Tx) error) error {
	for try := 1; ; try++ {
		err := pgx.BeginFunc(ctx, db.Pool, do)
		if err == nil || try == txTries || !undone(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(rand.N(20 * time.Millisecond << try)): // #nosec G404 -- it keeps two apart
		}
	}
}

// undone reports whether the server undid a transaction that passes when it is
// tried again: a deadlock, or one that could not be put in an order.
func undone(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40P01" || pg.Code == "40001")
}

// RecordID names this record among others: a blob store is marked with it.
func (db *DB) RecordID(ctx context.Context) (string, error) {
	return Get[string](ctx, db, `SELECT id::text FROM record`)
}

// someFiles is how many of the oldest and of the latest documents SomeFiles
// names: a few of them may be lost.
const someFiles = 5

// SomeFiles names some documents whose files the blob store must have; none
// where the record has no file.
func (db *DB) SomeFiles(ctx context.Context) ([]string, error) {
	const of = `SELECT sha256 FROM documents WHERE blob_removed_at IS NULL AND state <> 'failed' ORDER BY id`
	return Column[string](ctx, db, `(`+of+` LIMIT $1) UNION (`+of+` DESC LIMIT $1)`, someFiles)
}

// ErrStale is returned for a verdict that was reached against papers that are no
// longer those wanted: it is to be reached again.
var ErrStale = errors.New("other papers are wanted by now")

// wantedLock is held shared from the look at what is wanted until a verdict is
// committed, and alone until what is wanted has changed. So a harvest that has
// listed its papers, and then looks at every document, misses none: a verdict is
// on record by then, or is refused as stale.
const wantedLock = `hashtext('gleaner wanted')`

// checkWanted refuses a verdict of another version than the present one; 0 is of
// a document that was compared with no paper.
func checkWanted(ctx context.Context, tx pgx.Tx, version int64) error {
	if version == 0 {
		return nil
	}
	b := &pgx.Batch{}
	b.Queue(`SELECT pg_advisory_xact_lock_shared(` + wantedLock + `)`)
	var now int64
	b.Queue(`SELECT wanted FROM record`).QueryRow(func(row pgx.Row) error { return row.Scan(&now) })
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if now != version {
		return ErrStale
	}
	return nil
}

// changeWanted notes that what is wanted changes in this transaction, and which
// papers that is about: those now wanted, changed, or wanted no more. It comes last
// in it: what waits for the lock holds none that the transaction still needs.
func changeWanted(ctx context.Context, tx pgx.Tx, papers []string) error {
	b := &pgx.Batch{}
	b.Queue(`SELECT pg_advisory_xact_lock(` + wantedLock + `)`)
	b.Queue(`UPDATE record SET wanted = wanted + 1`)
	b.Queue(`INSERT INTO wanted_changes (paper_key, version) SELECT DISTINCT key, wanted FROM unnest($1::text[]) key, record
		ON CONFLICT (paper_key) DO UPDATE SET version=EXCLUDED.version`, papers)
	return tx.SendBatch(ctx, b).Close()
}

// WantedVersion changes whenever Wanted would.
func (db *DB) WantedVersion(ctx context.Context) (int64, error) {
	return Get[int64](ctx, db, `SELECT wanted FROM record`)
}
