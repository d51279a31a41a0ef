package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/record/store"
)

// TestWhoAsksAndWhoReadsAreChargedApart: neither is taken for a death of the other.
func TestWhoAsksAndWhoReadsAreChargedApart(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
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
	storetest.Exec(t, db.Pool, `UPDATE page_cache SET asking = now() - interval '1 minute'`)
	begin()
}

// TestDeathsInQuickSuccessionCount: whoever reads a page does not put off that it is told
// from those before who died over it.
func TestDeathsInQuickSuccessionCount(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	p := store.CachedPage{Hash: []byte("0123456789abcdef"), Host: "a.example", URL: "http://a.example/"}
	require.NoError(t, db.SavePage(t.Context(), p))
	died := 0
	for range 4 { // every three seconds
		var err error
		died, err = db.BeginPage(t.Context(), p.Hash)
		require.NoError(t, err)
		storetest.Exec(t, db.Pool, `UPDATE page_cache SET reading = reading - interval '3 seconds'`)
	}
	require.Equal(t, 1, died)
}
