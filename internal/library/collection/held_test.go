package collection

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

// TestADocumentIsHeldWhileItIsExamined: however long that takes nobody else takes
// it, and soon after the death of who examines it everybody may.
func TestADocumentIsHeldWhileItIsExamined(t *testing.T) {
	t.Parallel()
	for name, judge := range map[string]func(ctx context.Context, s *shop, sha string) error{
		"waiting": func(ctx context.Context, s *shop, _ string) error {
			_, _, err := s.JudgeWaiting(ctx, store.Unexamined{}, func(int) {})
			return err
		},
		"in a crawl": func(ctx context.Context, s *shop, sha string) error {
			_, err := s.Judge(ctx, Stored(sha), Quick)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); heldWhileExamined(t, judge) })
	}
}

func heldWhileExamined(t *testing.T, judge func(ctx context.Context, s *shop, sha string) error) {
	s := newShop(t)
	var begun func() bool
	s.reader, begun = lasting(t)
	shas := s.mustAdd(fileAt("http://www.example.org/~ada/slow.pdf", s.pile.File(1, sampleweb.AsPDF)))
	ctx, die := context.WithCancel(t.Context())
	defer die()
	ended := make(chan error, 1)
	go func() { ended <- judge(ctx, s, shas[0]) }()
	require.Eventually(t, begun, time.Minute, 10*time.Millisecond)
	until := func() (at time.Time, left time.Duration) {
		var seconds float64
		require.NoError(t, s.db.Pool.QueryRow(t.Context(), `SELECT taken_until, extract(epoch FROM taken_until - now())::float8 FROM documents WHERE sha256=$1`, shas[0]).Scan(&at, &seconds))
		return at, time.Duration(seconds * float64(time.Second))
	}
	first, left := until()
	require.LessOrEqual(t, left, 10*time.Second, "so long the others wait for one who died")
	require.Eventually(t, func() bool { at, _ := until(); return at.After(first) }, time.Minute, 50*time.Millisecond, "it is not held on")
	die()
	require.Error(t, <-ended)
	free := storetest.Get[bool](t, s.db.Pool, `SELECT taken_until < now() FROM documents WHERE sha256=$1`, shas[0])
	require.True(t, free, "who comes next waits for nothing")
}

// TestAFileThatComesBackTakesOneConnection: who holds one and waits for another
// would wait for ever where all do.
func TestAFileThatComesBackTakesOneConnection(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	f := fileAt("http://www.example.org/~ada/one.pdf", s.pile.File(1, sampleweb.AsPDF))
	shas := s.mustAdd(f)
	require.NoError(t, s.repo.Delete(t.Context(), shas[0]))
	storetest.Exec(t, s.db.Pool, `UPDATE documents SET state='rejected', blob_removed_at=now()`)

	narrow := storetest.At(t, s.dsn, 1)
	s.db = narrow
	s.repo.BelongTo(narrow)
	// Prune takes the file away between the look whether it is there and the row.
	s.reached = func(at point) {
		if at == stored {
			s.reached = func(point) {}
			require.NoError(t, s.repo.Delete(t.Context(), shas[0]))
		}
	}
	patience, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := s.Add(patience, f)
	require.NoError(t, err)
	require.NoError(t, s.repo.Check(t.Context(), shas[0]))
}

// TestAnUnmountedStoreIsNotTakenForANewOne: not even while the record has no file.
func TestAnUnmountedStoreIsNotTakenForANewOne(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	require.NoError(t, s.repo.There(t.Context()))
	mounted := s.dir + ".mounted"
	require.NoError(t, os.Rename(s.dir, mounted))
	require.NoError(t, os.MkdirAll(filepath.Join(s.dir, ".partial"), 0o700))
	_, err := s.Add(t.Context(), fileAt("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF)))
	require.Error(t, err, "what is written there is lost")
	require.NoError(t, os.RemoveAll(s.dir))
	require.NoError(t, os.Rename(mounted, s.dir))
	s.take("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF))
	require.Empty(t, differences(t, s, true))
}
