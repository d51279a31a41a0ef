package repository_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/library/repository"
)

func open(t *testing.T, url string) *repository.Repository {
	r := devtest.Must(repository.Open(t.Context(), url))(t)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// each runs a test on every kind of store that needs no server.
func each(t *testing.T, test func(t *testing.T, r *repository.Repository)) {
	t.Run("folder", func(t *testing.T) { t.Parallel(); test(t, open(t, t.TempDir())) })
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		test(t, open(t, "file://"+filepath.ToSlash(t.TempDir())+"/with%20space"))
	})
	t.Run("mem", func(t *testing.T) { t.Parallel(); test(t, open(t, "mem://")) })
}

// TestPutAll: files that are stored together are there each, also those that were before and
// those that come twice.
func TestPutAll(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *repository.Repository) {
		bodies := [][]byte{[]byte("7"), []byte("twice"), []byte("twice")}
		for i := range 100 {
			bodies = append(bodies, fmt.Append(nil, i))
		}
		_, err := r.Put(t.Context(), bodies[0])
		require.NoError(t, err)
		all := devtest.Must(r.PutAll(t.Context(), bodies...))(t)
		for i, d := range all {
			require.Equal(t, bodies[i], devtest.Must(r.Read(t.Context(), d.SHA256))(t))
			require.NoError(t, r.Check(t.Context(), d.SHA256))
		}
	})
}

func TestPutGetDelete(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *repository.Repository) {
		ctx := t.Context()
		d := devtest.Must(r.Put(ctx, []byte("abc")))(t)
		assert.Equal(t, repository.Digest{
			SHA256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
			SHA1:   "a9993e364706816aba3e25717850c26c9cd0d89d",
			MD5:    "900150983cd24fb0d6963f7d28e17f72",
			Size:   3,
		}, d)
		assert.Equal(t, d, devtest.Must(r.Put(ctx, []byte("abc")))(t))

		assert.Equal(t, "abc", string(devtest.Must(r.Read(ctx, d.SHA256))(t)))
		require.NoError(t, r.Check(ctx, d.SHA256))

		require.NoError(t, r.PutText(ctx, d.SHA256, "Text with ‘quotes’"))
		require.NoError(t, r.PutText(ctx, d.SHA256, "another reader's"))
		assert.Equal(t, "another reader's", devtest.Must(r.GetText(ctx, d.SHA256))(t))
		require.NoError(t, r.PutMeta(ctx, map[string]any{d.SHA256: map[string]string{"url": "http://a.example/"}}))
		_, meta, err := r.Sidecars(ctx, d.SHA256)
		require.NoError(t, err)
		assert.True(t, meta)

		big := devtest.Must(r.Put(ctx, bytes.Repeat([]byte("x"), 3<<20)))(t)
		var seen []string
		require.NoError(t, r.Walk(ctx, func(e repository.Entry) error {
			seen = append(seen, e.SHA256)
			return nil
		}))
		assert.ElementsMatch(t, []string{d.SHA256, big.SHA256}, seen)

		require.NoError(t, r.Delete(ctx, d.SHA256))
		require.NoError(t, r.Delete(ctx, d.SHA256))
		assert.False(t, devtest.Must(r.Exists(ctx, d.SHA256))(t))
		_, err = r.Get(ctx, d.SHA256)
		require.ErrorIs(t, err, repository.ErrNotFound)
		_, err = r.GetText(ctx, d.SHA256)
		require.ErrorIs(t, err, repository.ErrNotFound)
	})
}

func TestSameBodyAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *repository.Repository) {
		body := bytes.Repeat([]byte("the same paper "), 50_000)
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				d, err := r.Put(t.Context(), body)
				if !assert.NoError(t, err) {
					return
				}
				// Whoever returns first has it whole already.
				assert.NoError(t, r.Check(t.Context(), d.SHA256))
			})
		}
		wg.Wait()
		n := 0
		require.NoError(t, r.Walk(t.Context(), func(repository.Entry) error { n++; return nil }))
		assert.Equal(t, 1, n)
	})
}

func TestFolderLeavesNoTemporaryFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := open(t, dir)
	_, err := r.Put(t.Context(), []byte("whole"))
	require.NoError(t, err)
	_, err = r.Put(t.Context(), []byte("whole"))
	require.NoError(t, err)
	assert.Empty(t, devtest.Must(os.ReadDir(filepath.Join(dir, ".partial")))(t))
	files := 0
	require.NoError(t, filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files++
		}
		return err
	}))
	assert.Equal(t, 1, files)
}

// TestTornFileIsWrittenAgain: what a power cut left of a document is replaced
// when the document comes again.
func TestTornFileIsWrittenAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := open(t, dir)
	d := devtest.Must(r.Put(t.Context(), []byte("a whole document")))(t)
	path := filepath.Join(dir, filepath.FromSlash(repository.Path(d.SHA256)))
	require.NoError(t, os.WriteFile(path, []byte("a whole"), 0o644))
	require.ErrorIs(t, r.Check(t.Context(), d.SHA256), repository.ErrCorrupt)
	_, err := r.Put(t.Context(), []byte("a whole document"))
	require.NoError(t, err)
	require.NoError(t, r.Check(t.Context(), d.SHA256))
}

func TestWhatIsNoDigestIsRefused(t *testing.T) {
	t.Parallel()
	r := open(t, "mem://")
	for _, s := range []string{"", "abc", "../../../etc/passwd", strings.Repeat("A", 64), strings.Repeat("g", 64)} {
		_, err := r.Get(t.Context(), s)
		require.ErrorIs(t, err, repository.ErrDigest, s)
		require.ErrorIs(t, r.Delete(t.Context(), s), repository.ErrDigest, s)
		require.ErrorIs(t, r.PutText(t.Context(), s, ""), repository.ErrDigest, s)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"", "ftp://x/y", "file://", "gs://b"} {
		_, err := repository.Open(t.Context(), u)
		require.ErrorIs(t, err, repository.ErrScheme, u)
	}
	file := filepath.Join(t.TempDir(), "taken")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err := repository.Open(t.Context(), file)
	require.Error(t, err)
}

// TestOnlyTheOwnerReads: documents may not be for everybody on the machine.
func TestOnlyTheOwnerReads(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "blobs")
	r := open(t, dir)
	d := devtest.Must(r.Put(t.Context(), []byte("abc")))(t)
	require.NoError(t, r.PutText(t.Context(), d.SHA256, "abc"))
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		require.NoError(t, err)
		assert.Zero(t, devtest.Must(e.Info())(t).Mode().Perm()&0o077, path)
		return nil
	}))
}
