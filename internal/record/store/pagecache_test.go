package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/record/store"
)

// TestWhoAsksAndWhoReadsAreChargedApart: neither is taken for a death of the other.
func TestWhoAsksAndWhoReadsAreChargedApart(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), devtest.Postgres(t), 2)
	require.NoError(t, err)
	defer db.Close()
	p := store.CachedPage{Hash: []byte("0123456789abcdef"), Host: "a.example", URL: "http://a.example/"}
	begin := func() {
		deaths, err := db.BeginPage(t.Context(), p.Hash)
		require.NoError(t, err)
		require.Zero(t, deaths)
	}
	require.NoError(t, db.SavePage(t.Context(), p))
	begin()
	deaths, since, err := db.BeginAsk(t.Context(), p, false)
	require.NoError(t, err)
	require.Zero(t, deaths)
	require.NotNil(t, since)
	_, err = db.Pool.Exec(t.Context(), `UPDATE page_cache SET asking = now() - interval '1 minute'`)
	require.NoError(t, err)
	begin()
}
