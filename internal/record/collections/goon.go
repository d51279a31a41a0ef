package collections

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Continue applies changed rules to a collection that continues. It removes entries beyond one
// per site or with nearly the same text if the rules forbid them, and queues pages again that
// were on topic when their collection was full. It is idempotent.
func (r *Record) Continue(ctx context.Context, id int, rules Rules) error {
	return r.db.Tx(ctx, func(tx pgx.Tx) error {
		// Each visit locks this row first: no holder of a host may wait for it.
		if _, err := tx.Exec(ctx, `SELECT FROM collections WHERE id=$1 FOR NO KEY UPDATE`, id); err != nil {
			return err
		}
		if rules.OnePerSite {
			if err := putOut(ctx, tx, id, `b.host=a.host AND (e.correlation, -a.n) < (o.correlation, -b.n)`); err != nil {
				return err
			}
		}
		if rules.Distinct {
			if err := putOut(ctx, tx, id, `a.print<>0 AND b.print<>0 AND b.n < a.n AND bit_count((a.print # b.print)::bit(64)) <= $2`, NearBits); err != nil {
				return err
			}
		}
		if err := askAgain(ctx, tx, id, rules); err != nil {
			return err
		}
		return reckon(ctx, tx, id, rules.Worth, ``) // queued URLs may have been pruned
	})
}

// putOut removes entries a that have this relation to an entry b of the same collection.
func putOut(ctx context.Context, tx pgx.Tx, id int, so string, args ...any) error {
	_, err := tx.Exec(ctx, `DELETE FROM collection_entries e USING collection_urls a
		WHERE e.collection=$1 AND a.collection=e.collection AND a.hash=e.hash AND EXISTS (
			SELECT 1 FROM collection_entries o JOIN collection_urls b ON b.collection=o.collection AND b.hash=o.hash
			WHERE o.collection=e.collection AND o.topic=e.topic AND o.hash<>e.hash AND `+so+`)`, append([]any{id}, args...)...)
	return err
}

// askAgain queues pages again that a full collection rejected and that fit now.
func askAgain(ctx context.Context, tx pgx.Tx, id int, rules Rules) error {
	_, err := tx.Exec(ctx, `UPDATE collection_urls u SET waiting=true, next_try='-infinity', tries=0
		WHERE collection=$1 AND NOT waiting AND outcome=$2
			AND (SELECT count(*) FROM collection_entries e WHERE e.collection=$1 AND e.topic=u.topic) < $3
			AND NOT ($4 AND EXISTS (SELECT 1 FROM collection_entries e JOIN collection_urls h ON h.collection=e.collection AND h.hash=e.hash
				WHERE e.collection=$1 AND e.topic=u.topic AND h.host=u.host AND e.correlation >= u.correlation))`,
		id, string(NoPlace), rules.Size, rules.OnePerSite)
	return err
}
