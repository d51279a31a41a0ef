package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
)

// Retention says how long what is kept. Zero is for ever.
type Retention struct {
	Pages    time.Duration // pages fetched as evidence, since they were
	Searches time.Duration // answers of search engines, since they came
	Robots   time.Duration // robots.txt, since it ran out
	Rejected time.Duration // files of documents that are no paper, since they were judged
	Harvests time.Duration // harvests that ended, where a later one of the venue covers their years
	Lines    time.Duration // what imports and other jobs noted of each resource, since the job ended
	Waiting  time.Duration // what waited to be asked for by collections, since they ended
}

// PruneOptions say how to prune.
type PruneOptions struct {
	DryRun bool // count only
	Batch  int  // rows removed by one statement; 0 is 2,000
	// Told, where it is set, is told of each sort how many were removed, of how many.
	Told func(what string, done, of int)
}

// Pruned is what was removed of one sort, or would be.
type Pruned struct {
	What  string `json:"what"`
	Why   string `json:"why"`
	Rows  int    `json:"rows"`
	Bytes int64  `json:"bytes"` // of their content, about
}

// sort is one sort of rows that are kept for a while. of is true of those that
// may go; $1 is their age.
type prunable struct {
	what, why, table, key, of, bytes string
	keep                             time.Duration
	always                           bool // whatever the age: nothing refers to them
	changes                          bool // what is wanted
}

func prunables(r Retention) []prunable {
	return []prunable{
		{what: "pages", why: "fetched as evidence", table: "page_cache t", key: "hash", of: `t.fetched_at < now() - $1::interval`, bytes: `coalesce(length(t.body), 0)`, keep: r.Pages},
		{what: "searches", why: "answers of search engines", table: "searches t", key: "ctid", of: `t.asked_at < now() - $1::interval`, bytes: `pg_column_size(t.results)`, keep: r.Searches},
		// The rules are read again when the host is asked; one that is being
		// crawled has them in memory.
		{what: "robots", why: "robots.txt that ran out", table: "robots t", key: "host", of: `t.expires_at < now() - $1::interval`, bytes: `coalesce(length(t.body), 0)`, keep: r.Robots},
		{what: "urls", why: "of sites that were removed", table: "urls t", key: "ctid", of: `$1::interval IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sites s WHERE s.id=t.site_id)`,
			bytes: `length(t.url) + length(t.context)`, always: true},
		{what: "links", why: "of pages that are gone", table: "links t", key: "ctid", of: `$1::interval IS NOT NULL AND NOT EXISTS (SELECT 1 FROM urls u
			WHERE u.site_id=t.site_id AND u.hash=t.page AND u.state <> 4) AND (EXISTS (SELECT 1 FROM urls u WHERE u.site_id=t.site_id AND u.hash=t.page)
			OR NOT EXISTS (SELECT 1 FROM parents i JOIN sites s ON s.host=i.host WHERE i.page=t.page AND s.id=t.site_id))`, bytes: `length(t.page) + length(t.target)`, always: true},
		{what: "kept links", why: "of pages that are gone", table: "kept_links t", key: "ctid", of: `$1::interval IS NOT NULL AND NOT EXISTS (SELECT 1 FROM urls u
			WHERE u.site_id=t.site_id AND u.hash=t.page AND u.state <> 4)`, bytes: `coalesce(octet_length(t.data), 0)`, always: true},
		{what: "lines", why: "of jobs that ended", table: "import_records t", key: "ctid", of: `t.job IN (SELECT j.id FROM jobs j WHERE j.ended_at < now() - $1::interval)`,
			bytes: `length(t.url) + length(t.source) + length(t.detail) + length(t.parent) + length(t.sha256)`, keep: r.Lines},
		// By far the most that a collection has: links of pages that were not followed.
		{
			what: "waiting", why: "met for collections that ended", table: "collection_urls t", key: "ctid",
			of:    `t.waiting AND t.collection IN (` + overSQL + `)`,
			bytes: `length(t.url) + length(t.parent) + length(t.anchor)`, keep: r.Waiting,
		},
		// A report is of one harvest; one that a later harvest of the same venue
		// covers has nothing to tell that the later one does not.
		{what: "harvests", why: "a later one covers their years", table: "harvests t", key: "id", of: `t.completed_at < now() - $1::interval AND EXISTS (SELECT 1 FROM harvests h
			WHERE h.venue=t.venue AND h.id <> t.id AND h.stage='complete' AND h.completed_at > t.completed_at AND (` + yearsSQL + `) @> (` + strings.ReplaceAll(yearsSQL, "h.", "t.") + `))`,
			bytes: `length(t.id) + length(t.options::text)`, keep: r.Harvests, changes: true},
	}
}

const overSQL = `SELECT c.id FROM collections c
	WHERE c.state NOT IN ('new', 'running') AND c.ended_at < now() - $1::interval`

func (o PruneOptions) told(what string, done, of int) {
	if o.Told != nil {
		o.Told(what, done, of)
	}
}

// Prune removes what was kept long enough, in batches, so that nobody waits long
// for a lock. Interrupted, it goes on the next time.
func (db DocumentRecords) Prune(ctx context.Context, r Retention, blobs Blobs, o PruneOptions) ([]Pruned, error) {
	if o.Batch <= 0 {
		o.Batch = 2000
	}
	var all []Pruned
	for _, p := range prunables(r) {
		if p.keep <= 0 && !p.always {
			continue
		}
		done, err := db.pruneRows(ctx, p, o)
		all = append(all, done)
		if err != nil {
			return all, fmt.Errorf("store: prune %s: %w", p.what, err)
		}
	}
	if r.Rejected > 0 {
		done, err := db.pruneFiles(ctx, r.Rejected, blobs, o)
		all = append(all, done)
		if err != nil {
			return all, fmt.Errorf("store: prune rejected documents: %w", err)
		}
	}
	return all, nil
}

func (db DocumentRecords) pruneRows(ctx context.Context, p prunable, o PruneOptions) (Pruned, error) {
	done := Pruned{What: p.what, Why: p.why}
	all := done
	if o.told(p.what, 0, 0); o.DryRun || o.Told != nil {
		err := db.Pool.QueryRow(ctx, `SELECT count(*), coalesce(sum(`+p.bytes+`), 0) FROM `+p.table+` WHERE `+p.of, p.keep).Scan(&all.Rows, &all.Bytes)
		if err != nil || o.DryRun {
			return all, err
		}
	}
	for {
		n, bytes, err := db.pruneBatch(ctx, p, o.Batch)
		done.Rows, done.Bytes = done.Rows+n, done.Bytes+bytes
		o.told(p.what, done.Rows, all.Rows)
		if err != nil || n < o.Batch {
			return done, err
		}
	}
}

// pruneBatch removes some rows; that other papers are wanted is known when they are
// gone, whatever ends the process.
func (db DocumentRecords) pruneBatch(ctx context.Context, p prunable, limit int) (n int, bytes int64, err error) {
	err = db.Tx(ctx, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `WITH gone AS (DELETE FROM `+p.table+` WHERE t.`+p.key+` = ANY (ARRAY(
				SELECT t.`+p.key+` FROM `+p.table+` WHERE `+p.of+` LIMIT $2)) RETURNING `+p.bytes+` AS bytes)
			SELECT count(*), coalesce(sum(bytes), 0) FROM gone`, p.keep, limit).Scan(&n, &bytes)
		if err != nil || n == 0 || !p.changes {
			return err
		}
		return nobodyWants(ctx, tx)
	})
	if err != nil {
		return 0, 0, err
	}
	return n, bytes, nil
}

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

// Known is what the record says of a document's file.
type Known struct {
	SHA256  string
	Bytes   int64
	State   gleaner.DocumentState
	HasText bool // its text was read and kept
	SameAs  string
	Places  int
	Removed bool // its file was pruned, and the row stays
}

// EachKnown calls do with every document in the order of its SHA-256.
func (db DocumentRecords) EachKnown(ctx context.Context, do func(Known) error) error {
	last := ""
	for {
		batch, err := List[Known](ctx, db, `SELECT d.sha256, d.bytes, d.state, d.first_pages<>'', d.same_as, (SELECT count(*) FROM locations l WHERE l.sha256=d.sha256)::int, d.blob_removed_at IS NOT NULL
			FROM documents d WHERE d.sha256 COLLATE "C" > $1 ORDER BY d.sha256 COLLATE "C" LIMIT 1000`, last)
		if err != nil || len(batch) == 0 {
			return err
		}
		for _, k := range batch {
			if err := do(k); err != nil {
				return err
			}
		}
		last = batch[len(batch)-1].SHA256
	}
}

// LostPrimaries lists documents that are said to be the same as one that is not
// there, or that is itself another one's copy.
func (db DocumentRecords) LostPrimaries(ctx context.Context) ([]string, error) {
	return Column[string](ctx, db, `SELECT d.sha256 FROM documents d LEFT JOIN documents p ON p.sha256=d.same_as
		WHERE d.same_as<>'' AND (p.sha256 IS NULL OR p.same_as<>'') ORDER BY 1`)
}

// Rival is a document that is not alone current where it was found.
type Rival struct{ SHA256, URL string }

// Rivals lists the documents of URLs at which several are current, by URL.
func (db DocumentRecords) Rivals(ctx context.Context) ([]Rival, error) {
	return List[Rival](ctx, db, `SELECT sha256, url FROM locations WHERE current
		AND hash IN (SELECT hash FROM locations WHERE current GROUP BY hash HAVING count(*) > 1) ORDER BY url, sha256`)
}
