package politeness

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Lapsed is a lease that expired without being released: its holder died, is suspended, or
// cannot reach the database.
type Lapsed struct {
	Host   string
	Token  int64
	Holder string // as Keeper.Holder names it
}

// Holder returns the name of this process in its leases, which no other process has or had.
func (k *Keeper) Holder() string { return k.holder }

// Lapsed returns the expired leases.
func (k *Keeper) Lapsed(ctx context.Context) ([]Lapsed, error) {
	rows, _ := k.pool.Query(ctx, `SELECT host, token, holder FROM sites WHERE holder <> '' AND expires_at < now()`)
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Lapsed])
}

// Revoke takes expired leases from their holders permanently, and returns those that it took. It
// skips leases that were renewed or taken meanwhile, and rows that a dying transaction still
// locks. Of several concurrent calls, one takes a lease.
func (k *Keeper) Revoke(ctx context.Context, leases []Lapsed) (revoked []Lapsed, err error) {
	if len(leases) == 0 {
		return nil, nil
	}
	tokens, hosts := make([]int64, len(leases)), make([]string, len(leases))
	for i, l := range leases {
		hosts[i], tokens[i] = l.Host, l.Token
	}
	rows, _ := k.pool.Query(ctx, `UPDATE sites SET holder = '', token = token + 1 WHERE id IN (
		SELECT s.id FROM sites s JOIN unnest($1::text[], $2::bigint[]) l (host, token) USING (host, token)
		WHERE s.holder <> '' AND s.expires_at < now() ORDER BY s.host COLLATE "C" FOR NO KEY UPDATE OF s SKIP LOCKED) RETURNING host`, hosts, tokens)
	taken, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return slices.DeleteFunc(slices.Clone(leases), func(l Lapsed) bool { return !slices.Contains(taken, l.Host) }), err
}

// TookOver returns the expired leases that this process took from other holders since its last
// call.
func (k *Keeper) TookOver() []Lapsed {
	k.unreleased.mu.Lock()
	defer k.unreleased.mu.Unlock()
	leases := slices.Collect(maps.Keys(k.unreleased.taken))
	clear(k.unreleased.taken)
	return leases
}
