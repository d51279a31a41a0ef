package collections

import (
	"context"
	"gleaner/internal/record/store"
)

const behindSQL = brief + `WHERE $1::bigint=0 OR id<$1::bigint ORDER BY id DESC LIMIT $2`

// Behind lists collections as Told does that were asked for before one, the latest first;
// 0 is before none.
func (r *Record) Behind(ctx context.Context, id, limit int) ([]Collection, error) {
	return store.List[Collection](ctx, r.db, behindSQL, id, limit)
}

// Worse is a place among the entries of a topic, the best of which come first.
type Worse struct {
	Correlation float64
	N           int
}

// EntriesBehind lists entries of a topic behind a place, nil from the best on.
func (r *Record) EntriesBehind(ctx context.Context, id int, topic string, after *Worse, limit int) ([]Entry, error) {
	correlation, n := 2.0, 0 // more than there is
	if after != nil {
		correlation, n = after.Correlation, after.N
	}
	return store.List[Entry](ctx, r.db, entriesSQL+`WHERE e.collection=$1 AND e.topic=$2 AND (e.correlation, -u.n) < ($3, -$4::bigint) ORDER BY e.correlation DESC, u.n LIMIT $5`, id, topic, correlation, n, limit)
}
