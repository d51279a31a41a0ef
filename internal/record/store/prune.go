package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
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
