package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// Blobs removes files (repository.Repository). There reports why the store is not there, or not the record's.
type Blobs interface {
	Delete(ctx context.Context, sha256 string) error
	There(ctx context.Context) error
}

// rejectedSQL is true of a document d whose file nobody needs: no paper by the
// filter, matched with none (different does not count, but a person's word
// does), and no better copy of anything. What reports say of it is in its row.
const rejectedSQL = `d.state='rejected' AND d.blob_removed_at IS NULL AND d.updated_at < now() - $1::interval
	AND NOT EXISTS (SELECT 1 FROM matches m WHERE m.sha256=d.sha256 AND (m.verdict <> 'different' OR m.settled <> ''))
	AND NOT EXISTS (SELECT 1 FROM documents c WHERE c.same_as=d.sha256 AND c.state <> 'rejected')`

// pruneFiles removes files. Their rows are marked first: a crash in between leaves
// a file that its row says is gone, and that the next run removes, never a row
// that promises a file that is not there.
func (db DocumentRecords) pruneFiles(ctx context.Context, keep time.Duration, blobs Blobs, o PruneOptions) (Pruned, error) {
	done := Pruned{What: "files", Why: "of documents that are no paper"}
	all := done
	if o.told(done.What, 0, 0); o.DryRun || o.Told != nil {
		err := db.Pool.QueryRow(ctx, `SELECT count(*), coalesce(sum(bytes), 0) FROM documents d WHERE d.blob_left OR `+rejectedSQL, keep).Scan(&all.Rows, &all.Bytes)
		if err != nil || o.DryRun {
			return all, err
		}
	}
	if err := blobs.There(ctx); err != nil {
		return done, err
	}
	for {
		tag, err := db.Pool.Exec(ctx, `UPDATE documents SET blob_removed_at=now(), blob_left=true WHERE sha256 = ANY (ARRAY(
			SELECT d.sha256 FROM documents d WHERE `+rejectedSQL+` LIMIT $2 FOR UPDATE SKIP LOCKED))`, keep, o.Batch)
		if err != nil {
			return done, err
		}
		left, err := Column[string](ctx, db, `SELECT sha256 FROM documents WHERE blob_left ORDER BY sha256`)
		if err != nil {
			return done, err
		}
		for _, sha := range left {
			bytes, is, err := db.removeFile(ctx, sha, blobs)
			if err != nil {
				return done, err
			}
			if is {
				done.Rows, done.Bytes = done.Rows+1, done.Bytes+bytes
				o.told(done.What, done.Rows, all.Rows)
			}
		}
		if tag.RowsAffected() < int64(o.Batch) {
			return done, nil
		}
	}
}

// removeFile removes the file of a marked row, if it is still marked: a crawl may
// have brought it back since. The row is locked until the file is gone, so that
// whoever brings it back comes before, or stores it anew.
func (db DocumentRecords) removeFile(ctx context.Context, sha string, blobs Blobs) (bytes int64, is bool, err error) {
	err = db.Tx(ctx, func(tx pgx.Tx) error {
		bytes, is = 0, false
		err := tx.QueryRow(ctx, `UPDATE documents SET blob_left=false WHERE sha256=$1 AND blob_left RETURNING bytes`, sha).Scan(&bytes)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			err = blobs.Delete(ctx, sha)
		}
		is = err == nil
		return err
	})
	return bytes, is && err == nil, err
}
