package collections

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// ErrLimit is returned where with the requests under way as many are made as may be.
var ErrLimit = errors.New("as many requests are under way as are left of the limit")

const underWaySQL = `SELECT count(*) FROM collection_hosts h JOIN sites s ON s.host=h.host
	WHERE h.collection=$1 AND h.host<>$2 AND h.handling IS NOT NULL AND s.holder<>'' AND s.expires_at > clock_timestamp()`

// within says ErrLimit where one more request would be more than the rules allow. Takers
// wait for each other, so that they count each other's.
func within(ctx context.Context, tx pgx.Tx, id int, rules Rules, host string) error {
	if rules.MaxPages == 0 {
		return nil
	}
	var made, underWay int
	if err := tx.QueryRow(ctx, `SELECT requests FROM collections WHERE id=$1 FOR NO KEY UPDATE`, id).Scan(&made); err != nil {
		return err
	}
	err := tx.QueryRow(ctx, underWaySQL, id, host).Scan(&underWay)
	if err == nil && made+underWay >= rules.MaxPages {
		err = ErrLimit
	}
	return err
}

// Take is the URL of a host to ask next, nil where none waits; ErrLimit where with the
// requests under way the limit is reached. It is noted until Write or Leave. Where another
// URL is noted, the slice before died over it: that one waits for a random time, up to rest
// for each death, and after frontier.MaxDeaths it is set aside (frontier.Killed).
func (c Crawl) Take(ctx context.Context, by store.Slice, host string, rest time.Duration) (u *URL, err error) {
	err = c.db.Tx(ctx, func(tx pgx.Tx) error {
		if err := by.Holds(ctx, tx); err != nil {
			return err
		}
		if err := within(ctx, tx, c.ID, c.Rules, host); err != nil {
			return err
		}
		if err := charge(ctx, tx, c.ID, c.Rules, host, rest); err != nil {
			return err
		}
		if u, err = best(ctx, tx, c.ID, host); err != nil || u == nil {
			return err
		}
		h := u.Hash()
		_, err = tx.Exec(ctx, `UPDATE collection_hosts SET handling=$3 WHERE collection=$1 AND host=$2`, c.ID, host, h[:])
		return err
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}

// Leave forgets that a URL was taken of a host, which then waits as it did. Who lost the
// lease leaves nothing.
func (c Crawl) Leave(ctx context.Context, by store.Slice, host string) error {
	return c.db.Exec(ctx, `UPDATE collection_hosts h SET handling=NULL FROM sites s
		WHERE h.collection=$1 AND h.host=$2 AND s.id=$3 AND s.token=$4`, c.ID, host, by.SiteID, by.Token)
}

// charge notes a death over the URL that was taken of a host before, where there was one.
func charge(ctx context.Context, tx pgx.Tx, id int, rules Rules, host string, rest time.Duration) error {
	var handling []byte
	err := tx.QueryRow(ctx, `SELECT handling FROM collection_hosts WHERE collection=$1 AND host=$2`, id, host).Scan(&handling)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && handling == nil {
		return nil
	}
	if err != nil {
		return err
	}
	// As Write does, before any URL: else the two wait for each other.
	if _, err := tx.Exec(ctx, `SELECT FROM collections WHERE id=$1 FOR NO KEY UPDATE`, id); err != nil {
		return err
	}
	u, deaths := &URL{}, 0
	err = tx.QueryRow(ctx, `UPDATE collection_urls SET deaths=deaths+1, next_try=clock_timestamp() + (deaths+1) * random() * make_interval(secs => $3)
		WHERE collection=$1 AND hash=$2 AND waiting RETURNING url, host, depth, deaths`, id, handling, rest.Seconds()).Scan(&u.URL, &u.Host, &u.Depth, &deaths)
	switch {
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return err
	case deaths >= frontier.MaxDeaths:
		return visited(ctx, tx, id, rules, &Visit{URL: u, At: time.Now(), Outcome: frontier.Killed, Reason: "the process that was at it ended, each time"})
	}
	if _, err = tx.Exec(ctx, `UPDATE collection_hosts SET handling=NULL WHERE collection=$1 AND host=$2`, id, host); err != nil {
		return err
	}
	return reckon(ctx, tx, id, rules.Worth, ` AND host=$6`, host)
}
