package collections

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// Record stores collections in Postgres. It is safe for concurrent use.
type Record struct{ db *store.DB }

// Crawl is the crawl of one collection with its rules.
type Crawl struct {
	*Record
	ID    int
	Rules Rules
}

// In returns the record in a database.
func In(db *store.DB) *Record { return &Record{db} }

const columns = `topics, model, state, note, paused_at IS NOT NULL, requests, refused, tunnel, created_at, started_at, ended_at FROM collections `

// ErrOtherTopics is returned for the name of a collection with other topics.
var ErrOtherTopics = errors.New("was made of other topics")

// Submit creates a collection, or continues an ended one with other options and queues failed hosts
// again. Its topics never change. Of a running one only the time is changed, and running is true. run numbers
// the requests: End ends only the run of its number.
func (r *Record) Submit(ctx context.Context, name string, options, topics any) (run int, running bool, err error) {
	err = r.db.Tx(ctx, func(tx pgx.Tx) error {
		var id int
		err := tx.QueryRow(ctx, `INSERT INTO collections (name, options, topics) VALUES ($1,$2,$3)
			ON CONFLICT (name) DO UPDATE SET options=EXCLUDED.options, state='new', note='', paused_at=NULL, asked_at=now(), started_at=NULL, ended_at=NULL,
					spent=collections.spent+coalesce(extract(epoch FROM coalesce(collections.ended_at, now())-collections.started_at), 0), run=collections.run+1
				WHERE collections.topics=EXCLUDED.topics AND collections.state <> 'running' RETURNING id, run`, name, options, topics).Scan(&id, &run)
		if errors.Is(err, pgx.ErrNoRows) {
			running = true
			return tx.QueryRow(ctx, `UPDATE collections SET asked_at=now() WHERE name=$1 AND topics=$2 RETURNING run`, name, topics).Scan(&run)
		}
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE collection_hosts SET failures=0 WHERE collection=$1 AND failures > 0`, id)
		}
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = fmt.Errorf("%s %w: give this one another --name", name, ErrOtherTopics)
	}
	return run, running, err
}

// Get returns a collection.
func (r *Record) Get(ctx context.Context, name string) (Collection, error) {
	return r.one(ctx, `SELECT id, run, name, options, `+columns+`WHERE name=$1`, name)
}

// brief selects a collection without the long parts of its options: classifiers and seeds.
const brief = `SELECT id, run, name, options - 'learnt' - 'seeds', ` + columns

// Brief returns a collection without the classifiers and the seeds of its options.
func (r *Record) Brief(ctx context.Context, name string) (Collection, error) {
	return r.one(ctx, brief+`WHERE name=$1`, name)
}

func (r *Record) one(ctx context.Context, sql, name string) (Collection, error) {
	return store.One(ctx, r.db, pgx.RowToStructByPos[Collection], fmt.Errorf("%s: %w", name, ErrNone), sql, name)
}

// ListBefore returns collections as in Brief that were requested before id, the latest first; 0
// is no bound, and no limit.
func (r *Record) ListBefore(ctx context.Context, id, limit int) ([]Collection, error) {
	return store.List[Collection](ctx, r.db, brief+`WHERE $1::bigint=0 OR id<$1::bigint ORDER BY id DESC LIMIT nullif($2, 0)`, id, limit)
}

// Begin starts a collection. It is idempotent.
func (r *Record) Begin(ctx context.Context, name string) error {
	return r.db.Exec(ctx, `UPDATE collections SET state='running', started_at=coalesce(started_at, now()) WHERE name=$1 AND state IN ('new', 'running')`, name)
}

// End ends a run of a running collection, any run if run is 0. It does not end a later run.
func (r *Record) End(ctx context.Context, name string, run int, state, note string) error {
	return r.db.Exec(ctx, `UPDATE collections SET state=$3, note=$4, ended_at=now(), `+resumed+`
		WHERE name=$1 AND $2 IN (0, run) AND state IN ('new', 'running')`, name, run, state, note)
}

// EndLost fails a run that nobody makes, unless it was asked for again.
func EndLost(ctx context.Context, r *Record, m OpenRun, note string) (bool, error) {
	tag, err := r.db.Pool.Exec(ctx, `UPDATE collections SET state='failed', note=$3, ended_at=now(), `+resumed+`
		WHERE name=$1 AND asked_at=$2 AND state IN ('new', 'running')`, m.Name, m.Asked, note)
	return tag.RowsAffected() == 1, err
}

// OpenRun is a run that has not ended.
type OpenRun struct {
	Name     string
	Run      int
	Asked    time.Time
	Parallel int // from its options
	Paused   bool
}

// Open returns the runs that have not ended.
func Open(ctx context.Context, r *Record) ([]OpenRun, error) {
	return store.List[OpenRun](ctx, r.db, `SELECT name, run, asked_at, coalesce((options->>'parallel')::int, 0), paused_at IS NOT NULL FROM collections
		WHERE state IN ('new', 'running') ORDER BY id`)
}

// ErrMade is returned for a running collection.
var ErrMade = errors.New("is being made: cancel it first")

// Remove deletes a collection that is not running, with its queue. The files of its documents
// belong to the library and stay.
func Remove(ctx context.Context, r *Record, name string) error {
	tag, err := r.db.Pool.Exec(ctx, `DELETE FROM collections WHERE name=$1 AND state NOT IN ('new', 'running')`, name)
	if err != nil || tag.RowsAffected() > 0 {
		return err
	}
	if _, err := r.Brief(ctx, name); err != nil {
		return err
	}
	return fmt.Errorf("%s %w", name, ErrMade)
}

// resumed ends a pause, which does not count as time of the run.
const resumed = `paused_at=NULL,
	spent=spent - CASE WHEN started_at IS NULL OR paused_at IS NULL THEN 0 ELSE extract(epoch FROM now() - greatest(started_at, paused_at)) END`

// Pause pauses a collection, or resumes it.
func (r *Record) Pause(ctx context.Context, name string, paused bool) error {
	set := resumed
	if paused {
		set = `paused_at=coalesce(paused_at, now())`
	}
	return r.db.Exec(ctx, `UPDATE collections SET `+set+` WHERE name=$1`, name)
}

// AddResults adds pages for a topic's centroid without duplicates, until there are as many as
// given. Existing ones stay.
func (r *Record) AddResults(ctx context.Context, id int, topic string, urls []string) error {
	return r.db.Exec(ctx, `WITH had AS (SELECT place, url FROM collection_results WHERE collection=$1 AND topic=$2),
		more AS (SELECT url, (SELECT coalesce(max(place), 0) FROM had) + row_number() OVER (ORDER BY place) AS place
			FROM unnest($3::text[]) WITH ORDINALITY AS u(url, place) WHERE url NOT IN (SELECT url FROM had))
		INSERT INTO collection_results (collection, topic, place, url)
		SELECT $1, $2, place, url FROM more WHERE place <= cardinality($3::text[]) ON CONFLICT DO NOTHING`, id, topic, urls)
}

// SetRead sets the pages of a topic's centroid to pages with known words.
func (r *Record) SetRead(ctx context.Context, id int, topic string, read []Result) error {
	b := &pgx.Batch{}
	b.Queue(`DELETE FROM collection_results WHERE collection=$1 AND topic=$2`, id, topic)
	for _, res := range read {
		b.Queue(`INSERT INTO collection_results (collection, topic, place, url, outcome, counts, parent) VALUES ($1,$2,$3,$4,$5,$6,$7)`,
			id, topic, res.Place, res.URL, res.Outcome, res.Counts, res.Parent)
	}
	return r.db.Send(ctx, b)
}

// SetResult records the result of such a page.
func (r *Record) SetResult(ctx context.Context, id int, res Result) error {
	return r.db.Exec(ctx, `UPDATE collection_results SET outcome=$4, counts=$5 WHERE collection=$1 AND topic=$2 AND place=$3`, id, res.Topic, res.Place, res.Outcome, res.Counts)
}

// Results returns all such pages.
func (r *Record) Results(ctx context.Context, id int) ([]Result, error) {
	return store.List[Result](ctx, r.db, `SELECT topic, place, url, outcome, counts, parent FROM collection_results WHERE collection=$1 ORDER BY topic COLLATE "C", place`, id)
}

// ErrOver is returned by SetModel if the crawl was ended and requested again meanwhile.
var ErrOver = errors.New("was ended and asked for again meanwhile")

// SetModel stores the model of the topics and the start URLs of their crawl for a run (else
// ErrOver).
func (r *Record) SetModel(ctx context.Context, id, run int, rules Rules, model any, seeds []URL) error {
	return r.db.Tx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE collections SET model=$2 WHERE id=$1 AND run=$3`, id, model, run)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return ErrOver
		}
		return add(ctx, tx, id, rules, seeds)
	})
}

// add queues URLs without duplicates; a queued one gets the better of both priorities. It skips
// URLs of domains at their limit.
func add(ctx context.Context, tx pgx.Tx, id int, rules Rules, urls []URL) error {
	if len(urls) == 0 {
		return nil
	}
	var hashes []frontier.Hash
	var hosts, domains, all, parents, anchors []string
	var depths []int
	var offs, priorities []float64
	for i := range urls {
		u := &urls[i]
		hashes, hosts, domains = append(hashes, u.Hash()), append(hosts, u.Host), append(domains, weburl.Owner(u.Host))
		all, parents, anchors = append(all, u.URL), append(parents, u.Parent), append(anchors, u.Anchor)
		depths, offs, priorities = append(depths, u.Depth), append(offs, u.Off), append(priorities, u.Priority)
	}
	_, err := tx.Exec(ctx, addSQL, id, hashes, hosts, all, parents, anchors, depths, offs, priorities,
		rules.Worth.New, domains, rules.Domain.URLs)
	return err
}

const addSQL = `WITH given AS (SELECT u.* FROM unnest($2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[],
			$7::int[], $8::float8[], $9::float8[], $11::text[]) WITH ORDINALITY
			AS u(hash, host, url, parent, anchor, depth, off, priority, domain, place)
		WHERE $12::int = 0 OR NOT EXISTS (SELECT FROM collection_domains d
			WHERE d.collection=$1 AND d.domain=u.domain AND d.urls >= $12)),
	met AS (INSERT INTO collection_urls AS c (collection, hash, host, url, parent, anchor, depth, off, priority)
		SELECT $1, hash, host, url, parent, anchor, depth, off, priority FROM given ORDER BY place
		ON CONFLICT (collection, hash) DO UPDATE SET
			parent=CASE WHEN EXCLUDED.priority > c.priority THEN EXCLUDED.parent ELSE c.parent END,
			anchor=CASE WHEN EXCLUDED.priority > c.priority THEN EXCLUDED.anchor ELSE c.anchor END,
			priority=greatest(c.priority, EXCLUDED.priority), off=least(c.off, EXCLUDED.off), depth=least(c.depth, EXCLUDED.depth)
			WHERE c.waiting AND (EXCLUDED.priority > c.priority OR EXCLUDED.off < c.off OR EXCLUDED.depth < c.depth)
		RETURNING hash, host, priority, seq, next_try, xmax=0 AS new),
	owned AS (INSERT INTO collection_domains AS d (collection, domain, urls)
		SELECT $1::int, domain, count(*) FROM met JOIN given USING (hash) WHERE new GROUP BY domain
		ON CONFLICT (collection, domain) DO UPDATE SET urls=d.urls+EXCLUDED.urls)
	INSERT INTO collection_hosts AS h (collection, host, domain, worth, best, best_seq, due)
	SELECT DISTINCT ON (met.host) $1::int, met.host, domain, $10::float8, met.priority, seq, next_try
	FROM met JOIN given USING (hash) WHERE next_try <= clock_timestamp() ORDER BY met.host, met.priority DESC, seq
	ON CONFLICT (collection, host) DO UPDATE SET best=EXCLUDED.best, best_seq=EXCLUDED.best_seq, due=EXCLUDED.due
		WHERE h.best IS NULL OR h.due > clock_timestamp() OR EXCLUDED.best > h.best
			OR EXCLUDED.best = h.best AND EXCLUDED.best_seq < h.best_seq`

// Known reports whether a URL was requested.
func (c Crawl) Known(ctx context.Context, h frontier.Hash) bool {
	known, err := store.Get[bool](ctx, c.db, `SELECT EXISTS (SELECT 1 FROM collection_urls
		WHERE collection=$1 AND hash=$2 AND NOT waiting)`, c.ID, h)
	return known && err == nil
}

// IsDuplicate reports whether a text with nearly the same print was read.
func (c Crawl) IsDuplicate(ctx context.Context, print int64) (bool, error) {
	return like(ctx, c.db.Pool, c.ID, print)
}

func like(ctx context.Context, q frontier.Querier, id int, print int64) (bool, error) {
	if print == 0 {
		return false, nil
	}
	return store.Get[bool](ctx, q, `SELECT EXISTS (SELECT 1 FROM collection_urls
		WHERE collection=$1 AND print<>0 AND bit_count((print # $2)::bit(64)) <= $3)`, id, print, NearBits)
}

// Terms returns the number of pages read beside those of the centroids, and for each word of the
// dictionary the number of them that contain it. With an outcome it counts only pages of it.
func (r *Record) Terms(ctx context.Context, id int, of gleaner.Outcome) (pages int, df map[string]int, err error) {
	const which = ` WHERE u.collection=$1 AND terms IS NOT NULL AND $3::text IN ('', u.outcome)
		AND NOT EXISTS (SELECT 1 FROM collection_results r WHERE r.collection=u.collection AND r.url=u.url AND r.outcome=$2)`
	if err = r.db.Pool.QueryRow(ctx, `SELECT count(*) FROM collection_urls u`+which, id, gleaner.OK, string(of)).Scan(&pages); err != nil {
		return 0, nil, err
	}
	df, err = store.Map[string, int](ctx, r.db, `SELECT t, count(*)::int FROM collection_urls u, unnest(terms) AS t`+which+` GROUP BY t`,
		id, gleaner.OK, string(of))
	return pages, df, err
}

// State returns the state of a crawl.
func (r *Record) State(ctx context.Context, id int) (CrawlState, error) {
	s, err := store.One(ctx, r.db, pgx.RowToStructByPos[CrawlState], pgx.ErrNoRows, `SELECT requests, run,
			make_interval(secs => (spent + greatest(extract(epoch FROM coalesce(paused_at, now()) - started_at), 0))::float8),
			paused_at IS NOT NULL, state NOT IN ('new', 'running'), tunnel IS NOT NULL, lesson, learnt_at
		FROM collections WHERE id=$1`, id)
	if err != nil {
		return s, err
	}
	s.Topics, err = store.Map[string, Filled](ctx, r.db, `SELECT topic, ROW(count(*)::int, min(correlation))
		FROM collection_entries WHERE collection=$1 GROUP BY topic`, id)
	return s, err
}
