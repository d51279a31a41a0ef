package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/record/store"
)

// TestOnlyTheHolderSaysWhatIsCurrent: a worker that stood still between the answer
// and the record, while another took its site over and fetched a newer version, does
// not put the older one in its place.
func TestOnlyTheHolderSaysWhatIsCurrent(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 4)
	site, err := store.EnsureSite(t.Context(), db.Pool, "a.example")
	require.NoError(t, err)
	none := func() error { return nil }
	save := func(sha string, token int64) error {
		return db.SaveFetched(t.Context(), store.Document{SHA256: sha, Kind: "pdf"},
			store.Location{Hash: []byte{1}, SiteID: site, URL: "http://a.example/1.pdf", Found: time.Now(), Token: token}, none)
	}
	hold := func(token int64) {
		storetest.Exec(t, db.Pool, `UPDATE sites SET token=$2 WHERE id=$1`, site, token)
	}
	hold(7)
	require.NoError(t, save("first", 7))
	hold(8) // another takes over
	require.NoError(t, save("second", 8))
	require.ErrorIs(t, save("old", 7), store.ErrNotHeld)
	var current string
	require.NoError(t, db.Pool.QueryRow(t.Context(), `SELECT string_agg(sha256, ' ') FROM locations WHERE current`).Scan(&current))
	require.Equal(t, "second", current)
	_, _, err = db.Document(t.Context(), "old")
	require.ErrorIs(t, err, store.ErrNoDocument, "nothing of it is on record")
	require.NoError(t, save("by hand", 0), "what no crawl brings has no lease")
}
