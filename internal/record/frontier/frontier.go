package frontier

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"gleaner/internal/gleaner"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// State is the state of a URL. The numbers are stored.
type State int16

// The states of a URL.
const (
	Waiting  State = 0 // to be requested
	Page     State = 1 // fetched, a page
	Document State = 2 // fetched, a file
	Failed   State = 3 // failed; retried at next_try
	Gone     State = 4 // failed permanently
	Skipped  State = 5 // not requested, for a named reason
	Moved    State = 6 // redirected to another URL, which has a row of its own
)

// Role is the use of a URL. The numbers are stored.
type Role int16

// The roles of a URL, from the widest to the narrowest.
const (
	Member  Role = 0 // in scope: its links are followed
	Landing Role = 1 // its documents are taken, its pages are not
	Lead    Role = 2 // only the URL itself is taken
)

// Hash identifies a URL within a site.
type Hash [16]byte

// HashOf returns the hash of a canonical URL's identity.
func HashOf(canonical string) Hash {
	sum := sha256.Sum256([]byte(weburl.Key(canonical)))
	return Hash(sum[:16])
}

// BytesValue makes a Hash a bytea.
func (h Hash) BytesValue() ([]byte, error) { return h[:], nil }

// ScanBytes reads one back, NULL as the zero Hash.
func (h *Hash) ScanBytes(b []byte) error {
	*h = Hash{}
	copy(h[:], b)
	return nil
}

// Entry is one URL of a site. Candidate.ID is its row's seq.
type Entry struct {
	page.Candidate
	Role         Role
	Tries        int
	ETag         string // of the last visit, for a conditional request
	LastModified string
	Content      []byte          // SHA-256 of the answer at the last visit
	Was          State           // Page or Document, if it ever answered as one
	Interval     time.Duration   // between the last two visits that were due; 0 before the second
	Visited      time.Time       // when it was last requested; zero if never
	Skip         gleaner.Outcome // the limit that excludes it; "" if none

	hash   Hash   // of hashed
	hashed string // the URL when hash was computed
}

// Hash is the entry's identity. It is computed once for a URL.
func (e *Entry) Hash() Hash {
	if e.hashed != e.Link.URL {
		e.hash, e.hashed = HashOf(e.Link.URL), e.Link.URL
	}
	return e.hash
}

// Querier is a pool, a connection or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// failed names what an error is of; it is nil for none.
func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("frontier: %s: %w", what, err)
}

// addSQL inserts links. A link met again keeps its row and its seq; a lesser depth, a wider
// role and a better priority are taken. A link excluded by a limit waits once it is met
// within the limits. A page fetched for itself alone is requested again if its links may be
// followed now. The seq is the order of discovery, in which the rows are inserted.
//
// A row met again that is not improved is filtered before the insert: ON CONFLICT locks the
// row, which is a write, before it evaluates its WHERE.
const addSQL = `
INSERT INTO urls (site_id, hash, url, queue, mark, priority, depth, role, wanted, position, parent, source, anchor, context, heading, tag_path, state, outcome)
SELECT $1, v.* FROM unnest($2::bytea[], $3::text[], $4::smallint[], $5::int[], $6::real[], $7::smallint[], $8::smallint[], $9::real[], $10::int[],
	$11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::smallint[], $18::text[])
	AS v (hash, url, queue, mark, priority, depth, role, wanted, position, parent, source, anchor, context, heading, tag_path, state, outcome)
WHERE coalesce((
	SELECT v.state = 0 AND (v.depth < o.depth OR v.role < o.role AND o.state IN (0, 1, 3, 6)
		OR o.state = 0 AND (v.queue > o.queue OR v.wanted > o.wanted) OR o.state = 5)
	FROM urls o WHERE o.site_id = $1 AND o.hash = v.hash), true)
ON CONFLICT (site_id, hash) DO UPDATE SET
	depth = least(urls.depth, EXCLUDED.depth),
	role = least(urls.role, EXCLUDED.role),
	wanted = greatest(urls.wanted, EXCLUDED.wanted),
	queue = CASE WHEN EXCLUDED.queue > urls.queue THEN EXCLUDED.queue ELSE urls.queue END,
	priority = CASE WHEN EXCLUDED.queue = urls.queue THEN greatest(urls.priority, EXCLUDED.priority)
	                WHEN EXCLUDED.queue > urls.queue THEN EXCLUDED.priority ELSE urls.priority END,
	state = CASE WHEN urls.state IN (1, 6) AND EXCLUDED.role < urls.role OR urls.state = 5 THEN 0 ELSE urls.state END,
	outcome = CASE WHEN urls.state = 5 THEN '' ELSE urls.outcome END,
	-- Its links were not followed then: it must come whole, not as a 304.
	etag = CASE WHEN EXCLUDED.role < urls.role THEN '' ELSE urls.etag END,
	last_modified = CASE WHEN EXCLUDED.role < urls.role THEN '' ELSE urls.last_modified END,
	content = CASE WHEN EXCLUDED.role < urls.role THEN NULL ELSE urls.content END
WHERE EXCLUDED.state = 0 AND (EXCLUDED.depth < urls.depth OR EXCLUDED.role < urls.role AND urls.state IN (0, 1, 3, 6)
	OR urls.state = 0 AND (EXCLUDED.queue > urls.queue OR EXCLUDED.wanted > urls.wanted) OR urls.state = 5)
RETURNING hash, seq, xmax = 0, state = 0`

// Added is a row that Add wrote.
type Added struct {
	Seq     int64
	New     bool // false: it was there and was improved
	Waiting bool // to be requested
}

// Add adds links of one site and returns, by hash, those that are new or were improved. Entries
// must not repeat a hash.
func Add(ctx context.Context, q Querier, siteID int, entries []Entry) (map[Hash]Added, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	var c columns
	for i := range entries {
		c.append(&entries[i])
	}
	rows, _ := q.Query(ctx, addSQL, siteID, c.hash, c.url, c.queue, c.mark, c.priority, c.depth, c.role, c.wanted, c.position,
		c.parent, c.source, c.anchor, c.context, c.heading, c.tagPath, c.state, c.outcome)
	out := make(map[Hash]Added, len(entries))
	var h Hash
	var a Added
	_, err := pgx.ForEachRow(rows, []any{&h, &a.Seq, &a.New, &a.Waiting}, func() error {
		out[h] = a
		return nil
	})
	return out, failed("add", err)
}

// windowSQL walks the index from mark to mark (a loose index scan), and reads the best rows of
// each, so that its cost grows with the marks, not with the rows. Every mark has its share
// of the places. Only if more than a quarter of the places are left over, marks with more
// rows get as many again, the best of all first. In a large frontier every row that is read
// is used.
const windowSQL = `
WITH RECURSIVE every AS (
	(SELECT queue, mark FROM urls WHERE site_id = $1 AND state = 0 ORDER BY queue DESC, mark LIMIT 1)
	UNION ALL
	SELECT n.queue, n.mark FROM every m CROSS JOIN LATERAL (
		(SELECT queue, mark FROM urls WHERE site_id = $1 AND state = 0 AND queue = m.queue AND mark > m.mark ORDER BY mark LIMIT 1)
		UNION ALL
		(SELECT queue, mark FROM urls WHERE site_id = $1 AND state = 0 AND queue < m.queue ORDER BY queue DESC, mark LIMIT 1)
		LIMIT 1) n
),
marks AS MATERIALIZED (SELECT * FROM every LIMIT 4096),
places AS MATERIALIZED (SELECT greatest(1, $2::int / greatest(1, count(*))) AS share FROM marks),
best AS MATERIALIZED (
	SELECT u.* FROM marks m CROSS JOIN LATERAL (
		SELECT * FROM urls WHERE site_id = $1 AND state = 0 AND queue = m.queue AND mark = m.mark
		ORDER BY priority DESC, seq LIMIT (SELECT share FROM places)) u
),
spare AS MATERIALIZED (SELECT CASE WHEN 4 * (SELECT count(*) FROM best) < 3 * $2::int THEN share ELSE 0 END AS more FROM places),
taken AS (
	SELECT *, false AS extra FROM best
	UNION ALL
	SELECT u.*, true FROM marks m CROSS JOIN LATERAL (
		SELECT * FROM urls WHERE site_id = $1 AND state = 0 AND queue = m.queue AND mark = m.mark
		ORDER BY priority DESC, seq OFFSET (SELECT share FROM places) LIMIT (SELECT more FROM spare)) u
	ORDER BY extra, queue DESC, priority DESC, seq LIMIT $2
)
SELECT seq, url, queue, mark, priority, depth, role, wanted, position, parent, source, anchor, context, heading, tag_path, tries, etag, last_modified, content,
	was, make_interval(secs => interval_s), fetched_at
FROM taken ORDER BY queue DESC, priority DESC, seq`

// Window returns waiting entries of a site, at most limit, the best first: the best of each
// (queue, mark), and then of all. With many uneven marks it may return fewer than limit
// though more wait.
func Window(ctx context.Context, q Querier, siteID, limit int) ([]Entry, error) {
	rows, _ := q.Query(ctx, windowSQL, siteID, limit)
	entries, err := pgx.CollectRows(rows, scanEntry)
	return entries, failed("window", err)
}

// Blocks are pages of the database, of 8 KiB each.
type Blocks struct {
	Hit  int `json:"Shared Hit Blocks"`  // found in the server's memory
	Read int `json:"Shared Read Blocks"` // read from the operating system
}

// WindowBlocks runs the statement of Window, and returns the blocks that the server read.
func WindowBlocks(ctx context.Context, q Querier, siteID, limit int) (Blocks, error) {
	var plan []struct{ Plan Blocks }
	if err := q.QueryRow(ctx, `EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT JSON) `+windowSQL, siteID, limit).Scan(&plan); err != nil {
		return Blocks{}, failed("window", err)
	}
	return plan[0].Plan, nil
}

func scanEntry(row pgx.CollectableRow) (Entry, error) {
	var e Entry
	var visited *time.Time
	err := row.Scan(&e.ID, &e.Link.URL, &e.Queue, &e.Mark, &e.Priority, &e.Depth, &e.Role, &e.Wanted, &e.Link.Position, &e.Parent, &e.Link.Source,
		&e.Link.Anchor, &e.Link.Context, &e.Link.Heading, &e.Link.TagPath, &e.Tries, &e.ETag, &e.LastModified, &e.Content, &e.Was, &e.Interval, &visited)
	if visited != nil {
		e.Visited = *visited
	}
	e.Derive()
	return e, err
}

// Derive sets the fields that follow from the others and are not stored.
func (e *Entry) Derive() {
	e.OffSite = e.Role == Lead
	named := e.Link.Source == page.SourceCitation || e.OffSite && e.Link.Source == page.SourceSeed // by a page's metadata, by a catalogue
	e.Document = named || weburl.IsDocumentName(e.Link.URL)
}

// Visit is the outcome of an entry that was requested or skipped.
type Visit struct {
	Entry        *Entry
	State        State
	Outcome      gleaner.Outcome
	Status       int
	Reason       string    // why it was chosen, or why it was skipped
	NextTry      time.Time // for Failed
	Crawl        int
	At           time.Time
	ETag         string
	LastModified string
	Content      []byte // SHA-256; nil keeps the last
	Bytes        int64
	Interval     time.Duration // until the next visit is worthwhile
	Due          time.Time     // when that is; zero is never
	About        *bool         // whether a page is about a collected topic; nil if unknown
}

// Times are passed as microseconds from now, since they are later compared with the database's
// clock, from which a worker's may differ by minutes. Past times count from the statement,
// which may begin long after its transaction.
const doneSQL = `
UPDATE urls u SET state = v.state, outcome = v.outcome, status = v.status, reason = v.reason, next_try = now() + v.next_try * interval '1 microsecond', crawl = v.crawl,
	tries = v.tries, fetched_at = clock_timestamp() + v.at * interval '1 microsecond', etag = v.etag, last_modified = v.last_modified, content = coalesce(v.content, u.content), bytes = v.bytes,
	interval_s = v.interval_s, due_at = now() + v.due_at * interval '1 microsecond', was = CASE WHEN v.state IN (1, 2) THEN v.state ELSE u.was END,
	deaths = CASE WHEN v.state IN (1, 2) THEN 0 ELSE u.deaths END,
	about = CASE WHEN v.state = 1 THEN coalesce(v.about, u.about) END
FROM unnest($2::bytea[], $3::smallint[], $4::text[], $5::smallint[], $6::text[], $7::bigint[], $8::int[], $9::smallint[], $10::bigint[],
	$11::text[], $12::text[], $13::bytea[], $14::bigint[], $15::bigint[], $16::bigint[], $17::boolean[])
	AS v (hash, state, outcome, status, reason, next_try, crawl, tries, at, etag, last_modified, content, bytes, interval_s, due_at, about)
WHERE u.site_id = $1 AND u.hash = v.hash`

// Done records visits of one site.
func Done(ctx context.Context, q Querier, siteID int, visits []Visit) error {
	n := len(visits)
	if n == 0 {
		return nil
	}
	hash, state, outcome, status := make([]Hash, n), make([]int16, n), make([]string, n), make([]int16, n)
	reason, next, crawl, tries, at := make([]string, n), make([]*int64, n), make([]int32, n), make([]int16, n), make([]*int64, n)
	etag, modified, content, bytes := make([]string, n), make([]string, n), make([][]byte, n), make([]int64, n)
	interval, due, about := make([]int64, n), make([]*int64, n), make([]*bool, n)
	for i := range visits {
		v := &visits[i]
		hash[i], state[i], outcome[i], status[i] = v.Entry.Hash(), int16(v.State), string(v.Outcome), int16(v.Status)
		reason[i], crawl[i], tries[i], at[i] = v.Reason, int32(v.Crawl), int16(v.Entry.Tries), until(v.At)
		etag[i], modified[i], content[i], bytes[i] = v.ETag, v.LastModified, v.Content, v.Bytes
		next[i], interval[i], due[i], about[i] = until(v.NextTry), int64(v.Interval/time.Second), until(v.Due), v.About
	}
	_, err := q.Exec(ctx, doneSQL, siteID, hash, state, outcome, status, reason, next, crawl, tries, at, etag, modified, content, bytes, interval, due, about)
	return failed("done", err)
}

// until returns the microseconds until a time of this process's clock, nil for the zero time.
func until(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	us := time.Until(t).Microseconds()
	return &us
}

// Alias marks a URL that still waits as fetched under another name.
func Alias(ctx context.Context, q Querier, siteID int, h Hash, crawl int, reason string) error {
	_, err := q.Exec(ctx, `UPDATE urls SET state = 6, outcome = 'success', status = 200, crawl = $3, reason = $4, fetched_at = now()
		WHERE site_id = $1 AND hash = $2 AND state IN (0, 3)`, siteID, h, crawl, reason)
	return err
}

// AskAliases lets the targets of redirects from these URLs wait, as documents' own addresses.
// Alias marks those that still are targets as fetched.
func AskAliases(ctx context.Context, q Querier, siteID int, from []string) (int, error) {
	tag, err := q.Exec(ctx, `UPDATE urls SET state = 0, was = 2, tries = 0 WHERE site_id = $1 AND state = 6 AND source = $3 AND parent = ANY($2)`,
		siteID, from, string(page.SourceRedirect))
	return int(tag.RowsAffected()), err
}

// AskChanged lets pages and documents wait that have changed, by their sitemap, since they were
// last requested. URLs that this crawl has requested are not requested again.
func AskChanged(ctx context.Context, q Querier, siteID, crawl int, changed []Changed) (int, error) {
	if len(changed) == 0 {
		return 0, nil
	}
	hashes, at := make([]Hash, len(changed)), make([]time.Time, len(changed))
	for i := range changed {
		hashes[i], at[i] = changed[i].Hash, changed[i].At
	}
	tag, err := q.Exec(ctx, `UPDATE urls u SET state = 0, tries = 0 FROM unnest($3::bytea[], $4::timestamptz[]) AS v (hash, at)
		WHERE u.site_id = $1 AND u.hash = v.hash AND u.state IN (1, 2) AND u.crawl < $2 AND u.fetched_at < v.at`, siteID, crawl, hashes, at)
	return int(tag.RowsAffected()), failed("changed", err)
}

// RetryDue lets failed URLs wait whose next try is due.
func RetryDue(ctx context.Context, q Querier, siteID int) (int, error) {
	tag, err := q.Exec(ctx, `UPDATE urls SET state = 0 WHERE site_id = $1 AND state = 3 AND next_try <= now()`, siteID)
	return int(tag.RowsAffected()), err
}

// Count returns how many URLs of a site wait, at most limit.
func Count(ctx context.Context, q Querier, siteID, limit int) (waiting int, err error) {
	err = q.QueryRow(ctx, `SELECT count(*) FROM (SELECT 1 FROM urls WHERE site_id = $1 AND state = 0 LIMIT $2) w`, siteID, limit).Scan(&waiting)
	return waiting, err
}

// NextTry returns when the next failed URL of a site may be retried, by this process's clock
// (zero if none).
func NextTry(ctx context.Context, q Querier, siteID int) (at time.Time, err error) {
	var us *int64
	err = q.QueryRow(ctx, `SELECT (extract(epoch FROM min(next_try) - now()) * 1e6)::bigint FROM urls WHERE site_id = $1 AND state = 3`, siteID).Scan(&us)
	if us != nil {
		at = time.Now().Add(time.Duration(*us) * time.Microsecond)
	}
	return at, err
}
