package collections

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// until is when a host may be asked next, as far as its row says.
const until = `greatest(u.next_try, CASE WHEN s.holder <> '' THEN s.expires_at END, s.parked_until, s.asked_until, s.next_allowed_at)`

const waits = `FROM collection_urls u LEFT JOIN sites s ON s.host = u.host LEFT JOIN collection_hosts h ON h.collection = u.collection AND h.host = u.host
	WHERE u.collection = $1 AND u.waiting AND ($2 = 0 OR coalesce(h.requests, 0) < $2)`

// Host is the one to ask next: that of the best URL which waits, among the hosts that
// are free and not to be passed over. Where none is, wait says after how long one may
// be; it is 0 where nothing waits.
func (r *Record) Host(ctx context.Context, id int, rules Rules, pass []string) (host string, wait time.Duration, err error) {
	if pass == nil {
		pass = []string{}
	}
	err = r.db.Pool.QueryRow(ctx, `SELECT u.host `+waits+` AND `+until+` <= clock_timestamp() AND u.host <> ALL($3) ORDER BY u.priority DESC, u.seq LIMIT 1`, id, rules.HostPages, pass).Scan(&host)
	if err == nil || !errors.Is(err, pgx.ErrNoRows) {
		return host, 0, err
	}
	var left float64
	err = r.db.Pool.QueryRow(ctx, `SELECT extract(epoch FROM least(greatest(min(`+until+`), clock_timestamp()), clock_timestamp() + interval '1 day') - clock_timestamp())::float8 `+waits+` HAVING count(*) > 0`, id, rules.HostPages).Scan(&left)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	return "", max(50*time.Millisecond, time.Duration(left*float64(time.Second))), nil
}

// Best is the URL of a host to ask next, nil where none waits.
func (r *Record) Best(ctx context.Context, id int, rules Rules, host string) (*URL, error) {
	var u URL
	err := r.db.Pool.QueryRow(ctx, `SELECT u.url, u.host, u.parent, u.anchor, u.depth, u.off, u.priority, u.tries `+waits+` AND u.host = $3 AND u.next_try <= clock_timestamp()
		ORDER BY u.priority DESC, u.seq LIMIT 1`, id, rules.HostPages, host).Scan(&u.URL, &u.Host, &u.Parent, &u.Anchor, &u.Depth, &u.Off, &u.Priority, &u.Tries)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &u, err
}

// Later leaves a URL waiting that nothing was asked for.
func (r *Record) Later(ctx context.Context, id int, h frontier.Hash, wait time.Duration) error {
	_, err := r.db.Pool.Exec(ctx, `UPDATE collection_urls SET next_try=clock_timestamp() + $3 WHERE collection=$1 AND hash=$2 AND waiting`, id, h[:], wait)
	return err
}

// Fence is the lease under which a visit is written.
type Fence struct {
	SiteID int
	Token  int64
}

// Write notes what became of a URL, all of it or nothing. Who lost the lease of its
// host writes nothing (store.ErrNotHeld).
func (r *Record) Write(ctx context.Context, id int, rules Rules, by Fence, v *Visit) error {
	return r.db.Tx(ctx, func(tx pgx.Tx) error {
		var held bool
		err := tx.QueryRow(ctx, `SELECT true FROM sites WHERE id=$1 AND token=$2 FOR NO KEY UPDATE`, by.SiteID, by.Token).Scan(&held)
		if errors.Is(err, pgx.ErrNoRows) {
			return store.ErrNotHeld
		}
		if err != nil {
			return err
		}
		// Visits of one collection are written one after the other: what it holds, and
		// the number of each, depend on those before.
		var n int
		if err := tx.QueryRow(ctx, `UPDATE collections SET requests=requests+1 WHERE id=$1 RETURNING requests`, id).Scan(&n); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO collection_hosts AS h (collection, host, requests) VALUES ($1,$2,1) ON CONFLICT (collection, host) DO UPDATE SET requests=h.requests+1`, id, v.Host); err != nil {
			return err
		}
		if err := done(ctx, tx, id, n, v); err != nil {
			return err
		}
		if err := alias(ctx, tx, id, n, v); err != nil {
			return err
		}
		for _, e := range v.Entries {
			if err := admit(ctx, tx, id, rules, e.Topic, Held{v.Hash(), v.Host, e.Correlation}); err != nil {
				return err
			}
		}
		return add(ctx, tx, id, v.Links)
	})
}

func done(ctx context.Context, tx pgx.Tx, id, n int, v *Visit) error {
	h := v.Hash()
	var again *time.Time
	if !v.Again.IsZero() {
		again = &v.Again
	}
	_, err := tx.Exec(ctx, `UPDATE collection_urls SET waiting=$4::timestamptz IS NOT NULL, next_try=coalesce($4, next_try), tries=tries+1, n=$3, at=$5, kind=$6, outcome=$7, reason=$8, title=$9,
			topic=$10, correlation=$11, sha256=$12, bytes=$13, print=$14, terms=$15 WHERE collection=$1 AND hash=$2`,
		id, h[:], n, again, v.At, v.Kind, string(v.Outcome), v.Reason, v.Title, v.Best.Topic, v.Best.Correlation, v.SHA256, v.Bytes, v.Print, v.Terms)
	return err
}

func alias(ctx context.Context, tx pgx.Tx, id, n int, v *Visit) error {
	if v.Alias == "" {
		return nil
	}
	h := frontier.HashOf(v.Alias)
	_, err := tx.Exec(ctx, `INSERT INTO collection_urls AS c (collection, hash, host, url, parent, depth, waiting, n, at, outcome, reason) VALUES ($1,$2,$3,$4,$5,$6,false,$7,$8,$9,$10)
		ON CONFLICT (collection, hash) DO UPDATE SET waiting=false, n=EXCLUDED.n, at=EXCLUDED.at, outcome=EXCLUDED.outcome, reason=EXCLUDED.reason WHERE c.waiting`,
		id, h[:], v.Host, v.Alias, v.URL.URL, v.Depth, n, v.At, string(Redirected), "read as "+v.URL.URL)
	return err
}

func admit(ctx context.Context, tx pgx.Tx, id int, rules Rules, topic string, e Held) error {
	rows, err := tx.Query(ctx, `SELECT e.hash, u.host, e.correlation FROM collection_entries e JOIN collection_urls u ON u.collection=e.collection AND u.hash=e.hash
		WHERE e.collection=$1 AND e.topic=$2`, id, topic)
	if err != nil {
		return err
	}
	var held []Held
	var one Held
	var hash []byte
	_, err = pgx.ForEachRow(rows, []any{&hash, &one.Host, &one.Correlation}, func() error {
		one.Hash = frontier.Hash(hash)
		held = append(held, one)
		return nil
	})
	if err != nil {
		return err
	}
	in, out := rules.Admit(held, e)
	if !in {
		return nil
	}
	for _, h := range out {
		if _, err := tx.Exec(ctx, `DELETE FROM collection_entries WHERE collection=$1 AND topic=$2 AND hash=$3`, id, topic, h[:]); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `INSERT INTO collection_entries (collection, topic, hash, correlation) VALUES ($1,$2,$3,$4) ON CONFLICT DO NOTHING`, id, topic, e.Hash[:], e.Correlation)
	return err
}
