package collections

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// ErrLimit is returned if the requests in flight already reach the limit.
var ErrLimit = errors.New("as many requests are under way as are left of the limit")

const underWaySQL = `SELECT count(DISTINCT u.host) FROM collection_urls u JOIN sites s ON s.host=u.host
	WHERE u.collection=$1 AND u.host<>$2 AND u.Deaths > 0 AND s.holder<>'' AND s.expires_at > clock_timestamp()`

// within returns ErrLimit if one more request would exceed the rules. Concurrent calls wait for
// each other, so that each counts the other's request.
func within(ctx context.Context, tx pgx.Tx, id int, rules Rules, host string) error {
	if rules.MaxPages == 0 {
		return nil
	}
	made, err := store.Get[int](ctx, tx, `SELECT requests FROM collections WHERE id=$1 FOR NO KEY UPDATE`, id)
	if err != nil {
		return err
	}
	underWay, err := store.Get[int](ctx, tx, underWaySQL, id, host)
	if err == nil && made+underWay >= rules.MaxPages {
		err = ErrLimit
	}
	return err
}

// Take returns the next URL of a host, or nil if none is queued, or ErrLimit if the requests in
// flight reach the limit. It counts a death of the URL until Write or Leave, since a process that
// calls neither died over it. The URL then waits for a random time after the lease, up to rest
// for each death; after frontier.MaxDeaths it is skipped (frontier.Killed). Take also returns the
// URL with the error of a commit, which may have succeeded.
func (c Crawl) Take(ctx context.Context, by store.Slice, host string, rest time.Duration) (taken *URL, err error) {
	err = c.db.Tx(ctx, func(tx pgx.Tx) error {
		if err := by.Holds(ctx, tx); err != nil {
			return err
		}
		if err := within(ctx, tx, c.ID, c.Rules, host); err != nil {
			return err
		}
		for {
			u, err := best(ctx, tx, c.ID, host)
			if err != nil || u == nil {
				return err
			}
			if u.Deaths < frontier.MaxDeaths {
				err = c.charge(ctx, tx, u, u.Deaths+1, `greatest((SELECT expires_at FROM sites WHERE id=$4), clock_timestamp())
					+ (deaths+1) * random() * make_interval(secs => $5)`, by.SiteID, rest.Seconds())
				if err == nil {
					taken = u
				}
				return err
			}
			killed := &Visit{URL: u, At: time.Now(), Outcome: frontier.Killed, Reason: "the process that was at it ended, each time"}
			if err = visited(ctx, tx, c.ID, c.Rules, killed); err != nil {
				return err
			}
		}
	})
	return taken, err
}

// Leave returns a taken URL to the queue unchanged. After the loss of the lease it does nothing
// (store.ErrNotHeld).
func (c Crawl) Leave(ctx context.Context, by store.Slice, u *URL) error {
	return c.db.Tx(ctx, func(tx pgx.Tx) error {
		if err := by.Holds(ctx, tx); err != nil {
			return err
		}
		return c.charge(ctx, tx, u, u.Deaths, `'-infinity'`)
	})
}

// charge sets the deaths of a queued URL, and the time of its next request.
func (c Crawl) charge(ctx context.Context, tx pgx.Tx, u *URL, deaths int, next string, args ...any) error {
	_, err := tx.Exec(ctx, `UPDATE collection_urls SET deaths=$3, next_try=`+next+` WHERE collection=$1 AND hash=$2 AND waiting`,
		append([]any{c.ID, u.Hash(), deaths}, args...)...)
	if err != nil {
		return err
	}
	return reckon(ctx, tx, c.ID, c.Rules.Worth, ` AND host=$6`, u.Host)
}
