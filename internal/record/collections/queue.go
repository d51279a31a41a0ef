package collections

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// until is the time of the next request to a host, by its row and that of its pair with or
// without "www.". A crawl of the host renews its lease for minutes.
const until = `greatest(h.due, s.parked_until, s.asked_until, s.next_allowed_at,
	CASE WHEN s.holder <> '' AND s.expires_at > clock_timestamp() OR pair.holder <> '' AND pair.expires_at > clock_timestamp()
		THEN greatest(s.expires_at, pair.expires_at, clock_timestamp() + interval '30 seconds') END)`

// waits selects hosts with queued URLs within the limits of the rules.
const waits = `FROM collection_hosts h LEFT JOIN sites s ON s.host = h.host
	LEFT JOIN sites pair ON pair.host = CASE WHEN h.host LIKE 'www.%' THEN substr(h.host, 5) ELSE 'www.' || h.host END
	LEFT JOIN collection_domains d ON d.collection = h.collection AND d.domain = h.domain
	WHERE h.collection = $1 AND h.best IS NOT NULL AND ($2 = 0 OR h.requests < $2) AND h.failures < $3
		AND ($6::int = 0 OR d.requests IS NULL OR d.requests < $6)
		AND NOT ($4::int > 0 AND h.pages >= $4::int AND h.relevant < $5::float8 * h.pages)`

// unpaused selects those that no person has paused.
const unpaused = waits + ` AND coalesce(s.paused, '') = ''`

// waiting returns the parameters of waits.
func (r Rules) waiting(id int, more ...any) []any {
	return append([]any{id, r.HostPages, MaxFailures, r.Trap.After, r.Trap.Rate, r.Domain.Pages}, more...)
}

const hostSQL = `SELECT h.host ` + unpaused + ` AND ` + until + ` <= clock_timestamp() AND h.host <> ALL(coalesce($7::text[], '{}'))
	ORDER BY h.best + h.worth DESC, h.best_seq LIMIT 1`

// Host returns the host of the next request: that of the best queued URL, with the worth of its
// host, among free hosts not in pass. Without one, wait is the time after which a host may be
// free, or 0 if nothing is queued.
func (c Crawl) Host(ctx context.Context, pass []string) (host string, wait time.Duration, err error) {
	host, err = store.One(ctx, c.db, pgx.RowTo[string], nil, hostSQL, c.Rules.waiting(c.ID, pass)...)
	if err != nil || host != "" {
		return host, 0, err
	}
	left, err := store.One(ctx, c.db, pgx.RowToAddrOf[time.Duration], nil, `SELECT least(greatest(min(`+until+`), clock_timestamp()), clock_timestamp() + interval '1 day') - clock_timestamp() `+unpaused+` HAVING count(*) > 0`,
		c.Rules.waiting(c.ID)...)
	if err != nil || left == nil {
		return "", 0, err
	}
	return "", max(50*time.Millisecond, *left), nil
}

// Paused returns the hosts with queued URLs that a person has paused.
func (c Crawl) Paused(ctx context.Context) ([]string, error) {
	const pausedSQL = `SELECT h.host ` + waits + ` AND s.paused <> '' ORDER BY h.host`
	return store.Column[string](ctx, c.db, pausedSQL, c.Rules.waiting(c.ID)...)
}

const bestSQL = `SELECT url, host, parent, anchor, depth, off, priority, tries, deaths FROM collection_urls
	WHERE collection = $1 AND host = $2 AND waiting AND next_try <= clock_timestamp() ORDER BY priority DESC, seq LIMIT 1`

// best returns the next URL of a host, or nil if none is queued.
func best(ctx context.Context, tx pgx.Tx, id int, host string) (*URL, error) {
	return store.One(ctx, tx, pgx.RowToAddrOfStructByPos[URL], nil, bestSQL, id, host)
}

// reckonSQL updates the next URL of hosts (the best that is due, else the one due first) and
// their worth (Worth).
const reckonSQL = `UPDATE collection_hosts h SET
		worth=CASE WHEN requests=0 THEN $5::float8 ELSE $2::float8 * (about - $3::float8 * requests) / (requests + $4::float8) END,
		(best, best_seq, due) = (
			(SELECT priority, seq, next_try FROM collection_urls WHERE collection=h.collection AND host=h.host AND waiting
				AND next_try <= clock_timestamp() ORDER BY priority DESC, seq LIMIT 1)
			UNION ALL (SELECT priority, seq, next_try FROM collection_urls WHERE collection=h.collection AND host=h.host AND waiting
				ORDER BY next_try, priority DESC, seq LIMIT 1)
			LIMIT 1)
	WHERE collection=$1`

// reckon updates the hosts of a collection that match a condition.
func reckon(ctx context.Context, tx pgx.Tx, id int, w Worth, which string, args ...any) error {
	_, err := tx.Exec(ctx, reckonSQL+which, append([]any{id, w.Most, w.Usual, w.Slow, w.New}, args...)...)
	return err
}

// Write records the result of a URL in one transaction. After the loss of the host's lease it
// writes nothing (store.ErrNotHeld).
func (c Crawl) Write(ctx context.Context, by store.Slice, v *Visit) error {
	return c.db.Tx(ctx, func(tx pgx.Tx) error {
		if err := by.Holds(ctx, tx); err != nil {
			return err
		}
		waiting, err := store.Get[bool](ctx, tx,
			`SELECT waiting AND tries=$3 FROM collection_urls WHERE collection=$1 AND hash=$2`, c.ID, v.Hash(), v.Tries)
		if err != nil || !waiting {
			return err // the connection broke after the commit
		}
		return visited(ctx, tx, c.ID, c.Rules, v)
	})
}

const visitedSQL = `WITH domain AS (INSERT INTO collection_domains AS d (collection, domain, requests)
		VALUES ($1,$8,$4::int) ON CONFLICT (collection, domain) DO UPDATE SET requests=d.requests+$4)
	INSERT INTO collection_hosts AS h (collection, host, requests, failures, about, pages, relevant, domain)
		VALUES ($1,$2,$4::int,$3::int,$5::bool::int,$6::int,$7::int,$8)
	ON CONFLICT (collection, host) DO UPDATE SET requests=h.requests+$4, about=h.about+$5::bool::int,
		failures=CASE WHEN $3=0 THEN 0 ELSE h.failures+1 END, pages=h.pages+$6, relevant=h.relevant+$7
	RETURNING about`

// visited records the result of a queued URL. Visits of one collection are serialised, since
// entries and numbers depend on earlier visits.
func visited(ctx context.Context, tx pgx.Tx, id int, rules Rules, v *Visit) error {
	n, err := store.Get[int](ctx, tx, `UPDATE collections SET requests=requests+$2, refused=refused+1-$2
		WHERE id=$1 RETURNING requests+refused`, id, one(!v.Refused))
	if err != nil {
		return err
	}
	pages, relevant := PageCounts(v)
	about, err := store.Get[int](ctx, tx, visitedSQL,
		id, v.Host, one(v.Trouble), one(!v.Refused), v.About, pages, relevant, weburl.Owner(v.Host))
	if err != nil {
		return err
	}
	if v.About && about == 1 {
		if err := newSite(ctx, tx, id, rules); err != nil {
			return err
		}
	}
	if rules.Distinct && len(v.Entries) > 0 {
		if like, err := like(ctx, tx, id, v.Print); err != nil {
			return err
		} else if like { // another slice read a similar text at the same time
			v.Outcome, v.Entries, v.Links = NearDuplicate, nil, nil
		}
	}
	if err := done(ctx, tx, id, n, v); err != nil {
		return err
	}
	if err := alias(ctx, tx, id, n, v); err != nil {
		return err
	}
	if err := linked(ctx, tx, id, v); err != nil {
		return err
	}
	for _, e := range v.Entries {
		if err := admit(ctx, tx, id, rules, e.Topic, Held{v.Hash(), v.Host, e.Correlation}); err != nil {
			return err
		}
	}
	if err := add(ctx, tx, id, rules, v.Links); err != nil {
		return err
	}
	return reckon(ctx, tx, id, rules.Worth, ` AND host=$6`, v.Host)
}

// one returns 1 for true, else 0.
func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// PageCounts returns 1 for a visit that read and judged a page, and 1 for one on topic.
func PageCounts(v *Visit) (page, relevant int) {
	if v.Kind != Page || !v.Again.IsZero() || v.Outcome == NearDuplicate {
		return 0, 0
	}
	return 1, one(v.About)
}

// MaxFailures is the number of consecutive failures after which a host is left. It equals that
// for parking, so that no collection waits for hours.
const MaxFailures = 5

func done(ctx context.Context, tx pgx.Tx, id, n int, v *Visit) error {
	_, err := tx.Exec(ctx, `UPDATE collection_urls SET waiting=$4::timestamptz IS NOT NULL, next_try=coalesce($4, next_try), tries=tries+1, deaths=0, n=$3, at=$5, kind=$6, outcome=$7, reason=$8, title=$9,
			topic=$10, correlation=$11, sha256=$12, bytes=$13, print=$14, terms=$15 WHERE collection=$1 AND hash=$2`,
		id, v.Hash(), n, store.UnlessZero(v.Again), v.At, v.Kind, string(v.Outcome), v.Reason, v.Title, v.Best.Topic, v.Best.Correlation, v.SHA256, v.Bytes, v.Print, v.Terms)
	if err != nil || v.Words == "" {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO collection_words (collection, hash, words) VALUES ($1,$2,$3) ON CONFLICT (collection, hash) DO UPDATE SET words=EXCLUDED.words`, id, v.Hash(), v.Words)
	return err
}

func alias(ctx context.Context, tx pgx.Tx, id, n int, v *Visit) error {
	if v.Alias == "" {
		return nil
	}
	_, err := tx.Exec(ctx, `INSERT INTO collection_urls AS c (collection, hash, host, url, parent, depth, waiting, n, at, outcome, reason) VALUES ($1,$2,$3,$4,$5,$6,false,$7,$8,$9,$10)
		ON CONFLICT (collection, hash) DO UPDATE SET waiting=false, n=EXCLUDED.n, at=EXCLUDED.at, outcome=EXCLUDED.outcome, reason=EXCLUDED.reason WHERE c.waiting`,
		id, frontier.HashOf(v.Alias), v.Host, v.Alias, v.URL.URL, v.Depth, n, v.At, Redirected, "read as "+v.URL.URL)
	return err
}

func admit(ctx context.Context, tx pgx.Tx, id int, rules Rules, topic string, e Held) error {
	held, err := store.List[Held](ctx, tx, `SELECT e.hash, u.host, e.correlation FROM collection_entries e JOIN collection_urls u ON u.collection=e.collection AND u.hash=e.hash
		WHERE e.collection=$1 AND e.topic=$2`, id, topic)
	if err != nil {
		return err
	}
	in, out := rules.Admit(held, e)
	if !in {
		return nil
	}
	for _, h := range out {
		if _, err := tx.Exec(ctx, `DELETE FROM collection_entries WHERE collection=$1 AND topic=$2 AND hash=$3`, id, topic, h); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `INSERT INTO collection_entries (collection, topic, hash, correlation) VALUES ($1,$2,$3,$4) ON CONFLICT DO NOTHING`, id, topic, e.Hash, e.Correlation)
	return err
}

// Tunnel starts tunnelling if no URL of high priority is queued on any allowed host, and reports
// whether the crawl tunnels.
func (c Crawl) Tunnel(ctx context.Context) (tunnels bool, err error) {
	if c.Rules.Tunnel.Sites == 0 {
		return false, nil
	}
	_, err = c.db.Pool.Exec(ctx, `UPDATE collections SET tunnel=0 WHERE id=$1 AND tunnel IS NULL AND NOT EXISTS (SELECT 1 `+waits+`
		AND EXISTS (SELECT 1 FROM collection_urls u WHERE u.collection=h.collection AND u.host=h.host AND u.waiting AND u.priority >= $7))`,
		c.Rules.waiting(c.ID, c.Rules.Tunnel.High)...)
	if err != nil {
		return false, err
	}
	return store.Get[bool](ctx, c.db, `SELECT tunnel IS NOT NULL FROM collections WHERE id=$1`, c.ID)
}

// newSite counts a site with a first page on topic; enough of them end tunnelling.
func newSite(ctx context.Context, tx pgx.Tx, id int, rules Rules) error {
	_, err := tx.Exec(ctx, `UPDATE collections SET tunnel=nullif(least(tunnel+1, $2), $2) WHERE id=$1 AND tunnel IS NOT NULL`, id, rules.Tunnel.Sites)
	return err
}
