package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// mostCopies bounds how many documents that share a band are compared: the bands
// of much-used boilerplate lead to many, of which those that share most come
// first.
const mostCopies = 64

// mostShared bounds how many documents that share a band are looked at. A copy
// shares most of its bands, and so many share one only where boilerplate is all
// that a text has.
const mostShared = 4096

// copiesLock is what a judgement holds until it is committed: shared with the
// others where the text has no copy, alone where groups are put together. Of two
// copies that are judged at once the first holds it shared, and the second, which
// sees the first one's sketch, waits until that is judged.
const copiesLock = `hashtext('gleaner copies')`

// copiesOf takes the lock, alone or shared, and lists the documents whose text is
// that of one.
func copiesOf(ctx context.Context, tx pgx.Tx, sha string, kin Kin, alone bool) ([]string, error) {
	if len(kin.Bands) == 0 {
		return nil, nil
	}
	lock := `SELECT pg_advisory_xact_lock_shared(` + copiesLock + `)`
	if alone {
		lock = `SELECT pg_advisory_xact_lock(` + copiesLock + `)`
	}
	// In one round; each statement sees what was committed until it began, and the
	// last one thus what was until the lock was had. How many rows share a band
	// the planner cannot tell, and would at some size read them all.
	b := &pgx.Batch{}
	b.Queue(lock)
	b.Queue(`SET LOCAL enable_seqscan = off`)
	var out []string
	b.Queue(`SELECT s.sha256, s.sketch FROM (SELECT * FROM sketches WHERE bands && $1 AND sha256 <> $2 LIMIT $4) s
		ORDER BY (SELECT count(*) FROM unnest(s.bands) b WHERE b = ANY($1)) DESC, s.sha256 LIMIT $3`, kin.Bands, sha, mostCopies, mostShared).
		Query(func(rows pgx.Rows) error {
			var other string
			var sketch []byte
			_, err := pgx.ForEachRow(rows, []any{&other, &sketch}, func() error {
				if kin.Same(sketch) {
					out = append(out, other)
				}
				return nil
			})
			return err
		})
	err := tx.SendBatch(ctx, b).Close()
	return out, err
}

// group makes one group of all groups that the documents belong to, with the best
// copy as the one that same_as names. Those not judged yet join when they are.
// Whole groups are joined, so the result does not depend on the order in which
// copies were met.
func group(ctx context.Context, tx pgx.Tx, shas []string) error {
	_, err := tx.Exec(ctx, `
		WITH roots AS (SELECT DISTINCT CASE WHEN same_as='' THEN sha256 ELSE same_as END AS sha256 FROM documents WHERE sha256 = ANY($1) AND state <> 'new'),
		members AS (SELECT d.* FROM documents d WHERE d.state <> 'new' AND (d.sha256 IN (SELECT sha256 FROM roots) OR d.same_as IN (SELECT sha256 FROM roots))),
		best AS (SELECT d.sha256 FROM members d`+besideSQL+`ORDER BY `+bestFirst+` LIMIT 1)
		UPDATE documents u SET same_as = CASE WHEN u.sha256 = b.sha256 THEN '' ELSE b.sha256 END, updated_at = now()
		FROM best b WHERE u.sha256 IN (SELECT sha256 FROM members)
			AND u.same_as <> CASE WHEN u.sha256 = b.sha256 THEN '' ELSE b.sha256 END`, shas)
	return err
}

// Duplicates lists the documents of the same text as one, the best first, itself
// among them; only itself where there are none.
func (db DocumentRecords) Duplicates(ctx context.Context, sha string) ([]string, error) {
	return Column[string](ctx, db, `SELECT d.sha256 FROM documents d, (SELECT CASE WHEN same_as='' THEN sha256 ELSE same_as END AS sha256 FROM documents WHERE sha256=$1) r
		WHERE d.sha256=r.sha256 OR d.same_as=r.sha256 ORDER BY d.same_as<>'', d.sha256`, sha)
}
