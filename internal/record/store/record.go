package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

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
