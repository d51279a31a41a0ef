package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/recrawl"
	"gleaner/internal/text"
)

// forGood lists the outcomes that another try does not change.
const forGood = `('robots-denied', 'not-found', 'soft-not-found', 'address-denied', 'bad-url', 'wrong-mimetype', 'forbidden')`

// RetryFilter says what of the failed is meant; every empty field is all.
type RetryFilter struct {
	Harvest   string
	Host      string
	Reason    string        // an outcome of fetch, refused or stopped of whole sites, or stalled of documents
	OlderThan time.Duration // that failed so long ago, or longer
}

// failedSites selects the sites of a filter ($1 harvest, $2 host).
const failedSites = `SELECT s.id FROM sites s WHERE ($1='' OR EXISTS (SELECT 1 FROM harvest_sites h WHERE h.site_id=s.id AND h.harvest_id=$1)) AND ($2='' OR s.host=$2)`

// failedURLs selects the URLs of a filter ($3 reason, $4 age beside).
const failedURLs = `site_id IN (` + failedSites + `) AND state IN (3, 4)
	AND CASE WHEN $3='' THEN outcome NOT IN ` + forGood + ` ELSE outcome=$3 END AND coalesce(fetched_at, '-infinity') <= now() - $4::interval`

// givenUp is true of a site s whose URLs wait in vain until it is crawled again.
const givenUp = `s.state IN ('refused', 'stopped')`

// stalled is that outcome in SQL.
const stalled = `'` + gleaner.Stalled + `'`

// stalledDocuments selects the documents d of a filter ($1 to $4) over which a
// reader stalled: those that were given up, and those that still wait.
const stalledDocuments = `d.outcome=` + stalled + ` AND d.state IN ('new', 'failed') AND ($3='' OR $3=` + stalled + `) AND d.updated_at <= now() - $4::interval
	AND ($1='' AND $2='' OR EXISTS (SELECT 1 FROM locations l WHERE l.sha256=d.sha256 AND l.site_id IN (` + failedSites + `)))`

// StalledDocuments counts the documents that RequeueStalled would take up.
func (db RetryRecords) StalledDocuments(ctx context.Context, f RetryFilter) (int, error) {
	return Get[int](ctx, db, `SELECT count(*) FROM documents d WHERE `+stalledDocuments, f.Harvest, f.Host, f.Reason, f.OlderThan)
}

// RequeueStalled has the documents of a filter examined again, as often as if no
// reader had stalled over them yet. It returns how many they are.
func (db RetryRecords) RequeueStalled(ctx context.Context, f RetryFilter) (int, error) {
	return db.changed(ctx, `UPDATE documents SET state='new', tries=0 WHERE sha256 IN (
		SELECT d.sha256 FROM documents d WHERE `+stalledDocuments+` ORDER BY d.sha256 FOR UPDATE)`, f.Harvest, f.Host, f.Reason, f.OlderThan)
}

// retriedSites is true of a site that is asked again though none of its URLs failed ($3 and $4
// as of a filter).
const retriedSites = `($3='' OR state=$3) AND (failures > 0 OR parked_until > now() OR state IN ('refused', 'stopped'))
	AND coalesce(crawl_finished, '-infinity') <= now() - $4::interval`

// RetriedSites counts the sites that RequeueFailed would have asked again without failed URLs.
func (db RetryRecords) RetriedSites(ctx context.Context, f RetryFilter) (int, error) {
	return Get[int](ctx, db, `SELECT count(*) FROM sites WHERE id IN (`+failedSites+`) AND `+retriedSites,
		f.Harvest, f.Host, f.Reason, f.OlderThan)
}

// FailedURLs counts the URLs that RequeueFailed would put back.
func (db RetryRecords) FailedURLs(ctx context.Context, f RetryFilter) (int, error) {
	return Get[int](ctx, db, `SELECT count(*) FROM urls WHERE `+failedURLs, f.Harvest, f.Host, f.Reason, f.OlderThan)
}

// RetryHosts lists the hosts of a filter, whatever their state, after one host;
// at most limit.
func (db RetryRecords) RetryHosts(ctx context.Context, f RetryFilter, after string, limit int) ([]string, error) {
	return Column[string](ctx, db, `SELECT host FROM sites WHERE id IN (`+failedSites+`) AND host > $3 COLLATE "C" ORDER BY host COLLATE "C" LIMIT $4`,
		f.Harvest, f.Host, after, limit)
}

// retriedAtOnce are so many URLs that to put them back takes half a second.
const retriedAtOnce = 5000

// RequeueFailed puts failed URLs back among the waiting, and lets parked, refused
// and stopped sites be asked again. What failed for good is left, unless its
// reason is named. It returns how many URLs wait anew, also where not all could be put
// back. Of many, some are put back at a time: leases of their sites are renewed meanwhile.
func (db RetryRecords) RequeueFailed(ctx context.Context, f RetryFilter) (int, error) {
	n := 0
	var last urlKey
	for more := true; more; {
		var put []urlKey
		err := db.Tx(ctx, func(tx pgx.Tx) (err error) {
			put, err = requeue(ctx, tx, f, last)
			return err
		})
		if err != nil {
			return n, err
		}
		n += len(put)
		if more = len(put) == retriedAtOnce; more {
			last = put[len(put)-1]
		}
	}
	return n, nil
}

// urlKey is a URL's place in the order of all.
type urlKey struct {
	Site int
	Hash []byte
}

// requeue puts back the first failed URLs of a filter after one, and returns them in order.
func requeue(ctx context.Context, tx pgx.Tx, f RetryFilter, after urlKey) ([]urlKey, error) {
	// Sites before their URLs, in the order in which everybody locks them.
	if _, err := tx.Exec(ctx, `SELECT FROM sites WHERE id IN (`+failedSites+`) ORDER BY host COLLATE "C" FOR NO KEY UPDATE`, f.Harvest, f.Host); err != nil {
		return nil, err
	}
	// A server is not to say "not modified" of what was left unread.
	put, err := List[urlKey](ctx, tx, `WITH put AS (UPDATE urls SET state=0, tries=0, deaths=0, next_try=NULL,
			etag=CASE WHEN content IS NOT NULL THEN etag ELSE '' END, last_modified=CASE WHEN content IS NOT NULL THEN last_modified ELSE '' END
		WHERE (site_id, hash) IN (SELECT site_id, hash FROM urls
			WHERE `+failedURLs+` AND (site_id, hash) > ($5, coalesce($6, ''::bytea)) ORDER BY site_id, hash LIMIT $7)
		RETURNING site_id, hash)
		SELECT * FROM put ORDER BY site_id, hash`, f.Harvest, f.Host, f.Reason, f.OlderThan, after.Site, after.Hash, retriedAtOnce)
	if err != nil {
		return nil, err
	}
	of := slices.Compact(each.Of(put, func(u urlKey) int { return u.Site }))
	// The ordinary pause stays, and what the host itself asked for.
	again, err := Column[int](ctx, tx, `UPDATE sites SET failures=0, parked_until='-infinity', next_allowed_at=least(next_allowed_at, greatest(paced_until, asked_until)),
			reason='', state=CASE WHEN state='crawling' THEN state ELSE 'new' END
		WHERE id IN (`+failedSites+`) AND (id = ANY($5) OR `+retriedSites+`)
		RETURNING id`, f.Harvest, f.Host, f.Reason, f.OlderThan, of)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, `UPDATE robots SET expires_at=now() WHERE (NOT available OR $2='robots-denied') AND host IN (SELECT host FROM sites WHERE id = ANY($1))`, again, f.Reason)
	return put, err
}

// Asked is a host that asked to be left alone (Retry-After), until when.
type Asked struct {
	Host  string    `json:"host"`
	Until time.Time `json:"until"`
}

// AskedSites lists the hosts of a filter that asked to be left alone for longer
// than the ordinary pause, the longest pause first: no retry goes before it.
func (db RetryRecords) AskedSites(ctx context.Context, f RetryFilter) ([]Asked, error) {
	return List[Asked](ctx, db, `SELECT host, asked_until FROM sites WHERE id IN (`+failedSites+`) AND asked_until > now() AND asked_until > paced_until
		ORDER BY asked_until DESC, host`, f.Harvest, f.Host)
}

// Failure is one reason for which URLs failed, or something else did not answer.
type Failure struct {
	Reason  string     `json:"reason"`
	URLs    int        `json:"urls"`
	Stalled int        `json:"documents"` // over which a reader stalled
	Authors int        `json:"authors"`   // of whom a page, a search or a directory did not answer while they were looked for
	Sources int        `json:"sources"`   // questions to catalogues: volumes and years, and papers whose copies were looked for
	Sites   int        `json:"sites"`
	Oldest  time.Time  `json:"oldest"`
	Next    *time.Time `json:"next_try,omitempty"` // the first automatic try; nil for none
	ForGood bool       `json:"for_good"`           // not tried again but by `starter retry --reason`
}

// Words says how much failed so: "3 URLs, 1 author".
func (f Failure) Words() string {
	var words []string
	for i, n := range []int{f.URLs, f.Stalled, f.Authors, f.Sources} {
		if n > 0 {
			words = append(words, text.Count(n, []string{"URL", "document", "author", "catalogue question"}[i]))
		}
	}
	if words == nil {
		return text.Count(f.Sites, "site")
	}
	return strings.Join(words, ", ")
}

// NextWords says when what failed so is tried again, in a form for times. A time that has
// passed is no promise: nothing tries again but a schedule, a harvest or a person.
func (f Failure) NextWords(form string) string {
	switch {
	case f.ForGood:
		return "never, unless a retry names the reason"
	case f.Next == nil:
		return "not by itself"
	case f.Next.Before(time.Now()):
		return "due since " + f.Next.Local().Format(form)
	}
	return f.Next.Local().Format(form)
}

// blocked is true of a site s on the blacklist, or that a person has not asked.
const blocked = `(s.paused <> '' OR EXISTS (SELECT 1 FROM blacklist b WHERE b.host=s.host))`

// siteDue is when a site s is asked again by a recrawl of what is due; null for never.
const siteDue = `CASE WHEN s.due_at IS NOT NULL AND NOT ` + blocked + ` THEN greatest(s.due_at, s.parked_until, s.asked_until) END`

// nextTry is when a URL u of a site s is asked again: by the crawl that goes on, or by a
// recrawl, where the site is due as well.
const nextTry = `CASE WHEN ` + blocked + ` OR coalesce(u.next_try, u.due_at) IS NULL THEN NULL
	WHEN s.state IN ('new', 'crawling') AND u.next_try IS NOT NULL THEN greatest(u.next_try, s.parked_until, s.asked_until)
	ELSE greatest(coalesce(u.next_try, u.due_at), s.due_at, s.parked_until, s.asked_until) END`

// Failures counts what failed by reason: URLs by their outcome, whole sites that
// were refused or stopped, documents over which a reader stalled, and what did not
// answer while authors, papers and copies were looked for.
func (db RetryRecords) Failures(ctx context.Context, f RetryFilter) ([]Failure, error) {
	return List[Failure](ctx, db, `WITH failed AS (
		SELECT outcome AS reason, count(*) AS urls, 0 AS documents, 0 AS authors, 0 AS sources, count(DISTINCT site_id) AS sites, min(fetched_at) AS oldest, min(`+nextTry+`) AS next,
			outcome IN `+forGood+` AND min(`+nextTry+`) IS NULL AS for_good
		FROM urls u JOIN sites s ON s.id=u.site_id WHERE s.id IN (`+failedSites+`) AND u.state IN (3, 4) GROUP BY outcome
		UNION ALL
		SELECT s.state, (SELECT count(*) FROM urls u WHERE u.state=0 AND u.site_id = ANY(array_agg(s.id))), 0, 0, 0, count(*), min(coalesce(s.crawl_finished, now())),
			min(`+siteDue+`), false
		FROM sites s WHERE s.id IN (`+failedSites+`) AND `+givenUp+` GROUP BY s.state
		UNION ALL
		SELECT `+openReason+`, 0, 0, count(DISTINCT d.author_id), 0, 0, min(d.decided_at), min(d.next_try), false
		FROM homepage_decisions d, jsonb_array_elements(d.decision->'unanswered') u WHERE `+openAuthors+` AND ($2='' OR `+openHost+`=$2) GROUP BY 1
		UNION ALL
		SELECT '`+ReasonUnanswered+`' || stage, 0, 0, 0, count(*), 0, min(asked_at), min(next_try), false FROM unanswered q WHERE `+openSources+` GROUP BY stage
		UNION ALL
		SELECT outcome, 0, count(*), 0, 0, 0, min(updated_at), NULL, false FROM documents d WHERE `+stalledDocuments+` GROUP BY outcome)
		SELECT reason, sum(urls)::int, sum(documents)::int, sum(authors)::int, sum(sources)::int, sum(sites)::int, coalesce(min(oldest), now()), min(next), bool_and(for_good)
		FROM failed GROUP BY reason ORDER BY 9, 2 DESC, 4 DESC, 1`, f.Harvest, f.Host, f.Reason, f.OlderThan)
}

// FailedURL is a URL that failed, or that waits at a site that was refused or stopped.
type FailedURL struct {
	URL    string     `json:"url"`
	Host   string     `json:"host"`
	Reason string     `json:"reason"`
	At     *time.Time `json:"failed_at,omitempty"`
	Next   *time.Time `json:"next_try,omitempty"` // nil for none
	Hash   []byte     `json:"-"`
}

// Place is where the list goes on behind it.
func (u FailedURL) Place() ParentAt { return ParentAt{Host: u.Host, Page: u.Hash} }

// FailedList lists the URLs that Failures counts, by host and hash, after one of them;
// at most limit.
func (db RetryRecords) FailedList(ctx context.Context, f RetryFilter, after ParentAt, limit int) ([]FailedURL, error) {
	return List[FailedURL](ctx, db, failedListSQL, planned([]any{f.Harvest, f.Host, f.Reason, after.Host, each.List(after.Page), limit})...)
}

// failedListSQL reads the sites in their order, and of each the URLs by its primary key: a
// part of the list costs what it and those passed over on its sites are, not what the whole is.
const failedListSQL = `SELECT u.url, s.host, u.reason, u.at, u.next, u.hash
	FROM (SELECT * FROM sites WHERE id IN (` + failedSites + `) AND host >= $4 COLLATE "C" ORDER BY host COLLATE "C") s CROSS JOIN LATERAL (
		SELECT u.url, r.reason, coalesce(u.fetched_at, s.crawl_finished) AS at, CASE WHEN u.state=0 THEN ` + siteDue + ` ELSE ` + nextTry + ` END AS next, u.hash
		FROM urls u CROSS JOIN LATERAL (SELECT CASE WHEN u.state=0 THEN s.state ELSE u.outcome END AS reason) r
		WHERE u.site_id=s.id AND u.hash > CASE WHEN s.host=$4 THEN $5 ELSE ''::bytea END AND ($3='' OR r.reason=$3)
			AND (u.state IN (3, 4) OR u.state=0 AND ` + givenUp + `)
		ORDER BY u.hash LIMIT $6) u
	ORDER BY s.host COLLATE "C", u.hash LIMIT $6`

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
	return List[OpenCrawl](ctx, db, `SELECT host, state, crawl, token, coalesce(crawl_started, `+never+`), holder <> '' AND expires_at > now()
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
		return db.changed(ctx, sql, args...)
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
