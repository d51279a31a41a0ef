package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
	"gleaner/internal/recrawl"
)

// OpenCrawl is a site whose crawl is under way, or about to be, by its row.
type OpenCrawl struct {
	Host   string
	State  gleaner.SiteState // new or crawling
	Crawl  int
	Token  int64     // of its lease; it changes with each slice
	Since  time.Time // when the crawl began; zero where none did
	Leased bool      // a process is asking the host now
}

// OpenCrawls lists sites in state crawling, and of those in state new the hosts
// given.
func (db CrawlRecords) OpenCrawls(ctx context.Context, hosts []string) ([]OpenCrawl, error) {
	return List[OpenCrawl](ctx, db, `SELECT host, state, crawl, token, coalesce(crawl_started, '0001-01-01'), holder <> '' AND expires_at > now()
		FROM sites WHERE state='crawling' OR (state='new' AND host = ANY($1)) ORDER BY host`, hosts)
}

// sameCrawl holds for a site's row that is as it was.
const sameCrawl = `host=$1 AND state=$2 AND crawl=$3 AND token=$4 AND (holder = '' OR expires_at <= now())`

// StopCrawl is FinishCrawl of a crawl that nobody ends. It reports whether the row was as it
// is said to be.
func (db CrawlRecords) StopCrawl(ctx context.Context, c OpenCrawl, reason string, p recrawl.Policy) (same bool, err error) {
	err = db.Tx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `SELECT FROM sites WHERE `+sameCrawl+` FOR NO KEY UPDATE`, c.Host, c.State, c.Crawl, c.Token)
		if same = tag.RowsAffected() == 1; err != nil || !same {
			return err
		}
		return finishCrawl(ctx, tx, c.Host, CrawlEnd{State: gleaner.SiteStopped, Reason: reason}, p)
	})
	return same, err
}

// RequeueCrawl makes a site whose crawl nobody ends one that waits to be crawled: by
// the next wave of a harvest, or as due at once. It reports whether the row was
// as it is said to be.
func (db CrawlRecords) RequeueCrawl(ctx context.Context, c OpenCrawl, reason string) (bool, error) {
	tag, err := db.Pool.Exec(ctx, `UPDATE sites SET state='done', reason=$5, due_at=now() WHERE `+sameCrawl, c.Host, c.State, c.Crawl, c.Token, reason)
	return tag.RowsAffected() == 1, err
}

// EndHarvest ends a harvest that nobody runs, where its row is as it was. The crawls of one that
// was paused are not to go on without it: they end as if it were cancelled.
func (db CrawlRecords) EndHarvest(ctx context.Context, h Harvest, note string) (bool, error) {
	tag, err := db.Pool.Exec(ctx, `UPDATE harvests SET stage='failed', cancelled=cancelled OR paused, paused=false, note=$3, updated_at=now(), completed_at=now()
		WHERE id=$1 AND updated_at=$2 AND completed_at IS NULL`, h.ID, h.UpdatedAt, note)
	return tag.RowsAffected() == 1, err
}

// LeftDocuments counts documents that have waited to be examined since before a time, on no
// site that is being crawled, and the imports that have yet to say what became of theirs.
func (db CrawlRecords) LeftDocuments(ctx context.Context, before time.Time) (int, error) {
	return Get[int](ctx, db, `SELECT (SELECT count(*) FROM documents d WHERE d.state='new' AND d.updated_at < $1
		AND NOT EXISTS (SELECT 1 FROM locations l JOIN sites s ON s.id=l.site_id WHERE l.sha256=d.sha256 AND s.state IN ('crawling')))
		+ (SELECT count(DISTINCT j.id)`+waitedSQL+` AND j.ended_at < $1)`, before)
}

// DropLeases clears the leases that ran out before a time, and returns how many.
// Nobody needs it to take them over; people read the holder's name. A holder that comes back
// has lost them.
func (db CrawlRecords) DropLeases(ctx context.Context, before time.Time, really bool) (int, error) {
	return db.countOrDo(ctx, really, `sites WHERE holder <> '' AND expires_at < $1`, `UPDATE sites SET holder='', token=token+1 WHERE id IN (
		SELECT id FROM sites WHERE holder <> '' AND expires_at < $1 FOR NO KEY UPDATE SKIP LOCKED)`, before)
}

// DropRobots removes what is known of a robots.txt that could not be read and
// ran out before a time: the host starts with a clean slate.
func (db CrawlRecords) DropRobots(ctx context.Context, before time.Time, really bool) (int, error) {
	return db.countOrDo(ctx, really, `robots WHERE NOT available AND expires_at < $1`, `DELETE FROM robots WHERE NOT available AND expires_at < $1`, before)
}

func (db CrawlRecords) countOrDo(ctx context.Context, really bool, what, sql string, args ...any) (int, error) {
	if really {
		tag, err := db.Pool.Exec(ctx, sql, args...)
		return int(tag.RowsAffected()), err
	}
	return Get[int](ctx, db, `SELECT count(*) FROM `+what, args...)
}

// AnyLease reports whether some process asks a host now.
func (db CrawlRecords) AnyLease(ctx context.Context) (bool, error) {
	return Get[bool](ctx, db, `SELECT EXISTS (SELECT 1 FROM sites WHERE holder <> '' AND expires_at > now())`)
}

// RecrawlNames lists the recrawls that want sites crawled, by their names.
func (db CrawlRecords) RecrawlNames(ctx context.Context) ([]string, error) {
	return Column[string](ctx, db, `SELECT DISTINCT unnest(recrawled_for) FROM sites WHERE recrawled_for <> '{}' ORDER BY 1`)
}

// ForgetRecrawl takes the name of a recrawl that does not run from the sites that
// were put back for it before a time, and returns from how many: crawls that nobody
// else wants end, as they do where it was cancelled.
func (db CrawlRecords) ForgetRecrawl(ctx context.Context, name string, before time.Time) (int, error) {
	return db.changed(ctx, `WITH held AS (SELECT id FROM sites WHERE $1 = ANY(recrawled_for) AND coalesce(due_at < $2::timestamptz + interval '`+guardTime+`', true) ORDER BY host COLLATE "C" FOR NO KEY UPDATE)
		UPDATE sites s SET recrawled_for=array_remove(recrawled_for, $1) FROM held WHERE s.id=held.id`, name, before)
}
