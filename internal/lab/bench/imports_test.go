package bench

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/record/store"
)

// TestImport: everything in the generated archive is imported, with the filter and
// without, and each tenth is told of.
func TestImport(t *testing.T) {
	t.Parallel()
	archive := filepath.Join(t.TempDir(), "bench.warc.gz")
	o := ImportOptions{Records: 2500, Every: 250, DatabaseURL: devtest.Postgres(t)}
	require.NoError(t, WriteArchive(t.Context(), archive, o))
	bare, err := Bare(t.Context(), archive, t.TempDir(), o)
	require.NoError(t, err)
	require.Positive(t, bare.Reading)
	require.Positive(t, bare.Writing)
	n, err := bareLoop(archive, func(bareRecord) error { return nil })
	require.NoError(t, err)
	require.Equal(t, o.Records, n)
	o.Then = func(ctx context.Context, db *store.DB) error {
		domains, err := db.Yields(ctx, false)
		require.Len(t, domains, 3)
		return err
	}
	for _, o.Filter = range []bool{false, true} {
		r, err := Import(t.Context(), archive, t.TempDir(), o)
		require.NoError(t, err)
		require.EqualValues(t, 2500, r.Records)
		require.EqualValues(t, 10, r.Documents)
		require.Zero(t, r.Differences)
		require.EqualValues(t, 10, r.Counters.SavedNew, "%+v", r)
		require.Equal(t, 2490, r.Counters.FilteredMTF)
		require.EqualValues(t, 2500, r.Tenths[len(r.Tenths)-1].Records)
	}
}
