package collections_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	. "gleaner/internal/record/collections"
	"gleaner/internal/record/store"
)

// TestRemove removes all that was met for a collection, unless it is being made.
func TestRemove(t *testing.T) {
	t.Parallel()
	q := open(t, Rules{Size: 4}, []URL{url("a.example", "", 1), url("b.example", "", 1)})
	ctx := t.Context()
	names := devtest.Must(q.ListBefore(ctx, 0, 0))(t)
	name := names[0].Name
	require.ErrorIs(t, Remove(ctx, q.Record, name), ErrMade)
	require.NoError(t, q.End(ctx, name, 0, Ended, ""))
	require.NoError(t, Remove(ctx, q.Record, name))
	require.ErrorIs(t, Remove(ctx, q.Record, name), ErrNone)
	left := storetest.Get[int](t, q.db.Pool, `SELECT (SELECT count(*) FROM collection_urls) + (SELECT count(*) FROM collection_hosts)`)
	require.Zero(t, left)
}

// TestAPrunedCollectionIsGoneOnWith: nothing waits there, which ends it.
func TestAPrunedCollectionIsGoneOnWith(t *testing.T) {
	t.Parallel()
	q := open(t, Rules{Size: 4}, []URL{url("a.example", "", 1)})
	ctx := t.Context()
	c := devtest.Must(q.ListBefore(ctx, 0, 0))(t)
	require.NoError(t, q.End(ctx, c[0].Name, 0, Ended, ""))
	storetest.Exec(t, q.db.Pool, `UPDATE collections SET ended_at=now() - interval '1 day'`)
	_, err := q.db.Prune(ctx, store.Retention{Waiting: 1}, nil, store.PruneOptions{})
	require.NoError(t, err)
	_, running, err := q.Submit(ctx, c[0].Name, c[0].Options, c[0].Topics)
	require.NoError(t, err)
	require.False(t, running)
	require.NoError(t, q.Continue(ctx, c[0].ID, q.Rules))
	none(t, q)
}
