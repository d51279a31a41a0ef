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

// Revoke takes a lapsed lease from its holder for good, and reports whether it was still
// that holder's, and lapsed. Of several that revoke a lease one does.
func (k *Keeper) Revoke(ctx context.Context, l Lapsed) (bool, error) {
	tag, err := k.pool.Exec(ctx, `UPDATE sites SET holder = '', token = token + 1
		WHERE host = $1 AND token = $2 AND holder <> '' AND expires_at < now()`, l.Host, l.Token)
	return tag.RowsAffected() == 1, err
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
