package collection

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// TestOutageOfTheStoreIsNoDocuments: while the folder of the blob store is not
// mounted nothing is said of any document, nothing is written beneath the mount,
// and all goes on when it is back.
func TestOutageOfTheStoreIsNoDocuments(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	kept, _ := s.takeFile(fileAt("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF)))
	waits := s.mustAdd(fileAt("http://a.example/2.pdf", s.pile.File(2, sampleweb.AsPDF)))
	before := s.dump()

	mounted := s.dir + ".mounted"
	require.NoError(t, os.Rename(s.dir, mounted))
	for _, mount := range []func() error{
		func() error { return nil }, // not even a folder
		func() error { return os.MkdirAll(filepath.Join(s.dir, ".partial"), 0o700) },
	} {
		require.NoError(t, mount())
		for range 6 {
			_, err := s.Judge(ctx, Stored(waits[0]), Once)
			require.ErrorIs(t, err, repository.ErrAway)
			_, _, err = s.JudgeWaiting(ctx, store.Unexamined{}, func(int) {})
			require.ErrorIs(t, err, repository.ErrAway)
			_, err = s.Judge(ctx, Stored(kept[0]), Again)
			require.ErrorIs(t, err, repository.ErrAway)
		}
		_, err := s.Add(ctx, fileAt("http://a.example/3.pdf", s.pile.File(3, sampleweb.AsPDF)))
		require.ErrorIs(t, err, repository.ErrAway)
		_, err = Verify(ctx, s.db.DocumentRecords, s.repo, false, func(d Difference) { t.Errorf("%+v", d) }, func(int, int) {})
		require.ErrorIs(t, err, repository.ErrAway, "not: every file is missing")
	}
	// A worker that begins now finds the empty folder, too.
	later := openShop(t, s.dsn, s.dir)
	_, err := later.Judge(ctx, Stored(waits[0]), Once)
	require.ErrorIs(t, err, repository.ErrAway)
	require.NoFileExists(t, filepath.Join(s.dir, "record"), "an empty folder is not made the record's")

	require.NoError(t, os.RemoveAll(s.dir))
	require.NoError(t, os.Rename(mounted, s.dir))
	require.Equal(t, before, s.dump(), "the outage changed the record")
	s.mustJudgeWaiting(store.Unexamined{})
	require.Equal(t, gleaner.DocumentAccepted, s.document(waits[0]).State)
	require.Empty(t, differences(t, s, true))
}

// TestStoreOfAnotherRecord: a store is one record's.
func TestStoreOfAnotherRecord(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.take("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF))
	other := openShop(t, devtest.EmptyPostgres(t), s.dir)
	_, err := other.Add(t.Context(), fileAt("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF)))
	require.ErrorIs(t, err, repository.ErrForeign)
	// A store of before there were marks is known by its documents.
	require.NoError(t, os.Remove(filepath.Join(s.dir, "record")))
	again := openShop(t, s.dsn, s.dir)
	again.take("http://a.example/2.pdf", s.pile.File(2, sampleweb.AsPDF))
	require.FileExists(t, filepath.Join(s.dir, "record"))
	require.Empty(t, differences(t, again, true))
}

// TestLostFile: a document whose file alone is lost has failed if it was not
// judged, and keeps its verdict if it was; when it is found again it is judged.
func TestLostFile(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	kept, _ := s.takeFile(fileAt("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF)))
	file := fileAt("http://a.example/2.pdf", s.pile.File(2, sampleweb.AsPDF))
	waits := s.mustAdd(file)
	for _, sha := range []string{kept[0], waits[0]} {
		require.NoError(t, os.Remove(filepath.Join(s.dir, repository.Path(sha))))
	}
	_, err := s.Judge(t.Context(), Stored(kept[0]), Again)
	require.ErrorIs(t, err, repository.ErrNotFound)
	require.Equal(t, gleaner.DocumentAccepted, s.document(kept[0]).State)
	require.Equal(t, 1, s.mustJudgeWaiting(store.Unexamined{}), "it holds up no other")
	d := s.document(waits[0])
	require.Equal(t, []any{gleaner.DocumentFailed, "file-not-found"}, []any{d.State, d.Outcome})
	require.Equal(t, map[string]string{kept[0]: NoFile, waits[0]: NoFile}, differences(t, s, true))

	_, js := s.takeFile(file)
	require.Equal(t, gleaner.DocumentAccepted, js[0].State)
	tries := storetest.Get[int](t, s.db.Pool, `SELECT tries FROM documents WHERE sha256=$1`, waits[0])
	require.Zero(t, tries)
}

// TestWhoseFailure: what is wrong with one document alone is counted for it, and
// after a few tries it holds up the others no more; what is wrong with the machine
// is counted for none.
func TestWhoseFailure(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	shas := s.mustAdd(fileAt("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF)))
	fail := func(cause error) store.Document {
		for range frontier.MaxDeaths {
			d := s.document(shas[0])
			_, err := s.failed(t.Context(), d, cause)
			require.ErrorIs(t, err, cause)
		}
		return s.document(shas[0])
	}
	for _, cause := range []error{repository.ErrFull, syscall.ENOMEM, &pgconn.PgError{Code: "53300"}} {
		d := fail(cause)
		require.Equal(t, gleaner.DocumentNew, d.State, cause)
		require.Empty(t, d.Outcome, cause)
	}
	require.Equal(t, gleaner.DocumentFailed, fail(&pgconn.PgError{Code: "22P05"}).State, "text that the database refuses")
	s.take("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF))
	storetest.Exec(t, s.db.Pool, `UPDATE documents SET state='new'`)
	require.Equal(t, gleaner.DocumentFailed, fail(errors.New("input/output error")).State, "one file that the disk does not give back")
}
