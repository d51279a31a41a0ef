package politeness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"gleaner/internal/fetch"
)

// paceName returns the name under which a host is paced. With and without "www." it is
// nearly always one server, which must get one request at a time.
func paceName(host string) string {
	if bare, ok := strings.CutPrefix(host, "www."); ok && strings.Contains(bare, ".") {
		return bare
	}
	return host
}

// paired returns the hosts that are paced as one with host, in the order in which their rows
// are locked.
func paired(host string) []string {
	bare := paceName(host)
	return []string{bare, "www." + bare}
}

// hostState is the state of a host and of its pair.
type hostState struct {
	id       int
	holder   string
	token    int64
	failures int
	own      time.Duration // until the lease of the host expires
	held     time.Duration // the same of its pair
	parked   time.Duration
	asked    time.Duration // until the pause that the host asked for ends
	paced    time.Duration // until the ordinary pause of either ends
	next     time.Duration // until the next request may be sent
	paused   string        // why a person paused the host or its pair
	blocked  string        // why the host is on the blacklist
	waits    time.Duration // until a crawl of the host no longer waits for one of its pair
	awaits   time.Duration // the same of its pair
	minDelay time.Duration // that a person set for the host or its pair
}

// timeLeft is SQL for the seconds until the time in a column, 0 if that is past.
func timeLeft(column string) string {
	return `CASE WHEN ` + column + ` > clock_timestamp() THEN extract(epoch FROM ` + column + ` - clock_timestamp())::float8 ELSE 0 END`
}

var hostStateSQL = `SELECT id, host = $2, holder, token, failures, CASE WHEN holder <> '' THEN ` + timeLeft("expires_at") + ` ELSE 0 END, ` +
	timeLeft("parked_until") + `, ` + timeLeft("asked_until") + `, ` + timeLeft("paced_until") + `, ` + timeLeft("next_allowed_at") + `, ` + timeLeft("waits_until") + `, paused, extract(epoch FROM min_delay)::float8,
	coalesce((SELECT concat_ws(': ', 'the host is on the blacklist', nullif(reason, '')) FROM blacklist WHERE host = $2), '')
	FROM sites WHERE host = ANY($1) ORDER BY host COLLATE "C"`

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// readHostState reads the state of a host; lock locks its rows until the transaction ends. The id
// is 0 if the host has no row.
func readHostState(ctx context.Context, q querier, host string, lock bool) (hostState, error) {
	sql := hostStateSQL
	if lock {
		sql += ` FOR NO KEY UPDATE`
	}
	rows, _ := q.Query(ctx, sql, paired(host), host)
	var s hostState
	var id, failures int
	var own bool
	var holder, paused string
	var token int64
	var held, parked, asked, paced, next, waits, minDelay float64
	into := []any{&id, &own, &holder, &token, &failures, &held, &parked, &asked, &paced, &next, &waits, &paused, &minDelay, &s.blocked}
	_, err := pgx.ForEachRow(rows, into, func() error {
		s.paused, s.minDelay = cmp.Or(s.paused, paused), max(s.minDelay, seconds(minDelay))
		if own {
			s.own, s.waits = seconds(held), seconds(waits)
		} else {
			s.held, s.awaits = seconds(held), seconds(waits)
		}
		s.asked, s.paced = max(s.asked, seconds(asked)), max(s.paced, seconds(paced))
		s.next = max(s.next, s.asked, s.paced)
		if own {
			s.id, s.holder, s.token, s.failures, s.parked = id, holder, token, failures, seconds(parked)
			s.next = max(s.next, seconds(next))
		}
		return nil
	})
	return s, err
}

// busy returns why a host is not available, nil if it is.
func (s hostState) busy(host string) error {
	switch {
	case s.paused != "":
		return &BusyError{Host: host, Wait: pausedLook, Parked: true, Paused: s.paused}
	case s.parked > 0:
		return &BusyError{Host: host, Wait: max(s.parked, s.asked), Parked: true, Asked: s.asked > 0, Failures: s.failures}
	case s.held > 0 || s.own > 0:
		return &BusyError{Host: host, Wait: max(s.held, s.own)}
	}
	return nil
}

// seconds rounds to Postgres's unit, since it is compared with what Postgres holds.
func seconds(s float64) time.Duration { return time.Duration(math.Round(s*1e6)) * time.Microsecond }

// Acquire takes the lease of a host. It returns a BusyError with the time to wait if the
// host is parked, or the host or its pair with or without "www." is held. A lease that this
// process could not release, since the database was unavailable, is taken again at once.
func (k *Keeper) Acquire(ctx context.Context, host string) (*Lease, error) {
	return k.acquireFor(ctx, host, false)
}

func (k *Keeper) acquireFor(ctx context.Context, host string, crawl bool) (*Lease, error) {
	l, err := k.acquire(ctx, host, crawl)
	var busy *BusyError
	if err == nil || errors.As(err, &busy) {
		return l, err
	}
	return nil, fmt.Errorf("politeness: lease of %s: %w", host, err)
}

// A crawl that waits for one of its pair tries again after pairWait. The other crawl leaves
// the host after its slice, and tries again after giveWay, unless nobody has tried for
// pairWaits.
const (
	pairWait  = 30 * time.Second
	giveWay   = 10 * time.Second
	pairWaits = 75 * time.Second
)

// AcquireWithin is Acquire for a crawl. It waits for the holder of a host for a while, since
// the holder may have died or be about to end. Crawls of a pair take turns.
func (k *Keeper) AcquireWithin(ctx context.Context, host string, patience time.Duration) (*Lease, error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		l, err := k.acquireFor(ctx, host, true)
		var busy *BusyError
		if !errors.As(err, &busy) || busy.Parked || busy.Pair {
			return l, err
		}
		if free := k.waitFree(within, host); within.Err() != nil && ctx.Err() == nil {
			return nil, k.waitsForPair(ctx, busy)
		} else if free != nil {
			return nil, cmp.Or(ctx.Err(), free)
		}
	}
}

// waitsForPair notes that a crawl waits for one of its pair, if that has the host, and
// returns a BusyError with the time to wait.
func (k *Keeper) waitsForPair(ctx context.Context, busy *BusyError) error {
	s, err := readHostState(ctx, k.pool, busy.Host, false)
	if err != nil || s.held == 0 {
		return cmp.Or(err, error(busy))
	}
	busy.Wait, busy.Pair = pairWait, true
	_, err = untilFree(ctx, k.pool, nil, `UPDATE sites SET waits_until = now() + $2 WHERE id = $1`, s.id, pairWaits)
	return cmp.Or(err, error(busy))
}

// errNoRow reports that the host has no row yet.
var errNoRow = errors.New("the host has no row")

func (k *Keeper) acquire(ctx context.Context, host string, crawl bool) (*Lease, error) {
	l, err := k.take(ctx, host, crawl)
	if errors.Is(err, errNoRow) {
		// A conflict consumes an id, so a row is inserted only if none was seen. It is
		// inserted outside of a transaction, so that others who take its pair see it.
		if _, err = untilFree(ctx, k.pool, nil, `INSERT INTO sites (host) VALUES ($1) ON CONFLICT (host) DO NOTHING`, host); err == nil {
			l, err = k.take(ctx, host, crawl)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := k.promise(ctx, l); err != nil {
		return nil, errors.Join(err, l.Release(ctx))
	}
	return l, nil
}

// heldWait is the wait between two tries for a locked row.
const heldWait = 100 * time.Millisecond

// isHeld reports whether a row stayed locked for longer than lock_timeout. Connections are
// few, and renew the leases of all hosts, so they must not wait.
func isHeld(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "55P03"
}

// boundWaits bounds how long its transaction waits for a row. It is local to the
// transaction: behind a pooler, connections serve other clients in turn.
const boundWaits = `SELECT set_config('lock_timeout', '500ms', true)`

// untilFree executes a statement, and repeats it while the row that it changes is locked. It
// scans the returned value into into, unless that is nil, and returns the number of changed
// rows.
func untilFree(ctx context.Context, pool *pgxpool.Pool, into any, sql string, args ...any) (changed int64, err error) {
	for {
		b := &pgx.Batch{}
		b.Queue(boundWaits)
		if q := b.Queue(sql, args...); into == nil {
			q.Exec(func(tag pgconn.CommandTag) error { changed = tag.RowsAffected(); return nil })
		} else {
			q.QueryRow(func(row pgx.Row) error { return row.Scan(into) })
		}
		err = pool.SendBatch(ctx, b).Close()
		if !isHeld(err) || fetch.Wait(ctx, heldWait) != nil {
			return changed, err
		}
	}
}

// take locks the rows of a host and takes the lease if it is free.
func (k *Keeper) take(ctx context.Context, host string, crawl bool) (*Lease, error) {
	asked := time.Now()
	l, had := &Lease{Host: host, k: k}, k.unreleased.get(host)
	var s hostState
	err := pgx.BeginFunc(ctx, k.pool, func(tx pgx.Tx) (err error) {
		if _, err = tx.Exec(ctx, boundWaits); err != nil {
			return err
		}
		if s, err = readHostState(ctx, tx, host, true); err == nil && s.id == 0 {
			err = errNoRow
		}
		if err == nil { // again, since its pair may have been inserted during the wait for the lock
			s, err = readHostState(ctx, tx, host, false)
		}
		if err != nil {
			return err
		}
		switch {
		case s.holder == k.holder && s.token == had.token:
			s.own = 0
		case s.holder != "" || s.token != had.token+1: // another process has had the lease since
			had.pacingState = pacingState{}
		}
		if err = s.busy(host); err != nil {
			return err
		}
		if crawl && s.awaits > 0 && (s.waits == 0 || s.awaits < s.waits) {
			return &BusyError{Host: host, Wait: giveWay, Pair: true}
		}
		return tx.QueryRow(ctx, `UPDATE sites SET holder = $2, token = token + 1, expires_at = clock_timestamp() + $3,
				waits_until = CASE WHEN $4 THEN '-infinity' ELSE waits_until END
			WHERE id = $1 RETURNING token, clock_timestamp()`, s.id, k.holder, k.ttl, crawl).Scan(&l.Token, &l.granted)
	})
	if isHeld(err) {
		err = &BusyError{Host: host, Wait: heldWait}
	}
	if err != nil {
		return nil, err
	}
	now := time.Now()
	l.SiteID, l.minDelay, l.byHand, l.until = s.id, k.pacing.MinDelay, s.minDelay, asked.Add(k.ttl)
	l.pacingState = had.pacingState
	l.next, l.paced = later(l.next, now.Add(s.next)), later(l.paced, now.Add(s.paced))
	if !l.unsaved {
		l.failures = s.failures
	}
	if s.asked > 0 {
		l.asked = later(l.asked, now.Add(s.asked))
	}
	k.unreleased.forget(host)
	if s.holder != "" && s.holder != k.holder {
		k.unreleased.tookOver(Lapsed{host, s.token, s.holder})
	}
	return l, nil
}

// promise sets the delay that the harvests of the site now ask for.
func (k *Keeper) promise(ctx context.Context, l *Lease) error {
	if k.promised == nil {
		return nil
	}
	d, ok, err := k.promised(ctx, l.SiteID, k.pacing.MinDelay)
	if err == nil && ok {
		l.promised, l.minDelay = true, d
	}
	return err
}

// waitFree waits until a host seems free. It reads the database less and less often.
func (k *Keeper) waitFree(ctx context.Context, host string) error {
	for wait := 50 * time.Millisecond; ; wait = min(wait*3/2, 500*time.Millisecond) {
		// The holder renews its lease, so its end is unknown. Jitter spreads the
		// reads of many processes.
		if err := fetch.Wait(ctx, wait/2+k.jitter(wait)); err != nil {
			return err
		}
		s, err := readHostState(ctx, k.pool, host, false)
		if err != nil {
			return fmt.Errorf("politeness: lease of %s: %w", host, err)
		}
		if s.held == 0 && s.own == 0 || s.parked > 0 || s.paused != "" {
			return nil
		}
	}
}
