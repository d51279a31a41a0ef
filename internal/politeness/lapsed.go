package politeness

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Lapsed is a lease that ran out and that nobody gave back: its holder died, stands still,
// or cannot reach the database.
type Lapsed struct {
	Host  string
	Token int64
}

// Lapsed lists the leases that ran out.
func (k *Keeper) Lapsed(ctx context.Context) ([]Lapsed, error) {
	rows, _ := k.pool.Query(ctx, `SELECT host, token FROM sites WHERE holder <> '' AND expires_at < now()`)
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Lapsed])
}

// Revoke takes lapsed leases from their holders for good, and lists the hosts of those
// that were still those holders', and lapsed. Of several that revoke a lease one does. One
// whose row a dying transaction still locks is left to the next call.
func (k *Keeper) Revoke(ctx context.Context, leases []Lapsed) (hosts []string, err error) {
	if len(leases) == 0 {
		return nil, nil
	}
	tokens := make([]int64, len(leases))
	hosts = make([]string, len(leases))
	for i, l := range leases {
		hosts[i], tokens[i] = l.Host, l.Token
	}
	rows, _ := k.pool.Query(ctx, `UPDATE sites SET holder = '', token = token + 1 WHERE id IN (
		SELECT s.id FROM sites s JOIN unnest($1::text[], $2::bigint[]) l (host, token) USING (host, token)
		WHERE s.holder <> '' AND s.expires_at < now() ORDER BY s.host COLLATE "C" FOR NO KEY UPDATE OF s SKIP LOCKED) RETURNING host`, hosts, tokens)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// TookOver lists the hosts whose leases this process took, since it was last asked, from
// holders that had let them run out.
func (k *Keeper) TookOver() []string {
	k.left.mu.Lock()
	defer k.left.mu.Unlock()
	hosts := slices.Collect(maps.Keys(k.left.taken))
	clear(k.left.taken)
	return hosts
}
