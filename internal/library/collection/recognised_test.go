package collection

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

// TestRecognitionComesLast: a crawl does not wait until pictures of pages are recognised;
// that comes behind all documents that can be read, whenever they were found, and is then
// judged as they are.
func TestRecognitionComesLast(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1)
	s.recognises()

	scan := s.keep("http://www.example.org/~ada/scan.pdf", s.pile.File(2, sampleweb.AsScan))
	_, err := s.Judge(t.Context(), scan, Quick)
	require.ErrorIs(t, err, ErrUnrecognised)
	require.True(t, Later(err))
	d := s.document(scan.SHA256)
	require.Equal(t, []any{gleaner.DocumentNew, "image-only"}, []any{d.State, d.Outcome})
	text := s.keep("http://www.example.org/~ada/text.pdf", s.pile.File(3, sampleweb.AsPDF))
	for _, next := range []Document{text, scan} {
		got, _, err := s.db.TakeNew(t.Context(), store.Unexamined{Site: 1}, 1, store.Hold{By: 1, For: time.Minute}, 0)
		require.NoError(t, err)
		require.Equal(t, []string{next.SHA256}, got)
	}
	require.NoError(t, s.db.Free(t.Context(), []string{text.SHA256, scan.SHA256}, 1, false))

	n := s.mustJudgeWaiting(store.Unexamined{Site: 1})
	require.Equal(t, 2, n)
	d = s.document(scan.SHA256)
	require.Equal(t, []any{gleaner.DocumentAccepted, "ok", "tesseract"}, []any{d.State, d.Outcome, d.Reader})

	// Where nothing recognises it is what it is at once.
	s.reader = document.NewReader(document.Options{OCR: true, Tesseract: "-"})
	other := s.keep("http://www.example.org/~ada/other.pdf", s.pile.File(4, sampleweb.AsScan))
	j := s.mustJudge(other, Quick)
	require.Equal(t, gleaner.DocumentRejected, j.State)
}

// TestADocumentThatCannotBePutOff is said to be so: else nobody learns that the record
// does not take it.
func TestADocumentThatCannotBePutOff(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.recognises()
	scan := s.keep("http://www.example.org/~ada/scan.pdf", s.pile.File(2, sampleweb.AsScan))
	s.reached = func(at point) {
		storetest.Exec(t, s.db.Pool, `ALTER TABLE documents RENAME COLUMN taken_until TO away`)
	}
	_, err := s.Judge(t.Context(), scan, Quick)
	require.ErrorContains(t, err, "taken_until")
	require.NotErrorIs(t, err, ErrUnrecognised, "which a crawl passes over")
}

// recognises has the shop recognise every picture of a page as that of one paper.
func (s *shop) recognises() {
	s.t.Helper()
	paper := base64.StdEncoding.EncodeToString(s.pile.File(1, sampleweb.AsPDF)) // a reader reaches no file of the test
	s.reader = document.NewReader(document.Options{
		OCR:       true,
		Tesseract: program(s.t, "base64 -d <<'END' | pdftotext - -\n"+paper+"\nEND"),
	})
	if !s.reader.Recognises() {
		s.t.Skip("poppler's pdftoppm is not installed")
	}
}

// keep stores a file, and has it in hand.
func (s *shop) keep(url string, body []byte) Document {
	s.t.Helper()
	k := devtest.Must(s.Keep(s.t.Context(), fileAt(url, body)))(s.t)
	require.Len(s.t, k.Documents, 1)
	return k.Documents[0]
}
