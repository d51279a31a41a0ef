package collection

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/document"
	"gleaner/internal/sampleweb"
)

// standIn is a reader whose program is a script of a test's.
func standIn(t *testing.T, script string, timeout time.Duration) *document.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pdftotext")
	// Another process writes it: a file that this one has open for writing while
	// a parallel test forks cannot be executed.
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `cat > "$1" && chmod 755 "$1"`, "sh", path)
	cmd.Stdin = strings.NewReader("#!/bin/sh\n" + script + "\n")
	require.NoError(t, cmd.Run())
	return document.NewReader(document.Options{PDFToText: path, Timeout: timeout})
}

// A reader that stood still on a busy machine rejects no paper: the document waits,
// is given up by name after some tries, and taken up again when somebody asks.
func TestStalledReaderRejectsNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.want(1)
	able, stopped := s.reader, standIn(t, `kill -STOP $$`, 200*time.Millisecond)

	s.reader = stopped
	shas, err := s.Add(t.Context(), fileAt("http://www.example.org/~ada/once.pdf", s.pile.File(1, sampleweb.AsPDF)))
	require.NoError(t, err)
	_, err = s.Judge(t.Context(), shas[0])
	require.ErrorIs(t, err, ErrStalled)
	d := s.document(shas[0])
	require.Equal(t, []any{"new", "stalled"}, []any{d.State, d.Outcome})

	s.reader = able
	n, err := s.JudgeNew(t.Context(), 1, func(int) {})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, "accepted", s.document(shas[0]).State)

	// What was decided once stands.
	before := s.dump()
	s.reader = stopped
	_, err = s.Rejudge(t.Context(), shas[0])
	require.ErrorIs(t, err, ErrStalled)
	require.Equal(t, before, s.dump())

	// One that stalls for ever does not hold up the others.
	shas, err = s.Add(t.Context(), fileAt("http://www.example.org/~ada/ever.pdf", s.pile.File(2, sampleweb.AsPDF)))
	require.NoError(t, err)
	_, err = s.JudgeNew(t.Context(), 1, func(int) {})
	require.NoError(t, err)
	d = s.document(shas[0])
	require.Equal(t, []any{"failed", "stalled"}, []any{d.State, d.Outcome})
	s.reader = able
	_, err = s.Rejudge(t.Context(), shas[0])
	require.NoError(t, err)
	require.Equal(t, "accepted", s.document(shas[0]).State)
}

// A worker whose attempt is over writes nothing of what it was about to judge.
func TestEndedAttemptWritesNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	begun := filepath.Join(t.TempDir(), "begun")
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", begun).Run())
	s.reader = standIn(t, `: > `+begun+`; sleep 600`, time.Hour)
	shas, err := s.Add(t.Context(), fileAt("http://www.example.org/~ada/cut.pdf", s.pile.File(1, sampleweb.AsPDF)))
	require.NoError(t, err)
	before := s.dump()

	ctx, end := context.WithCancel(t.Context())
	go func() {
		defer end()
		_, _ = os.ReadFile(begun) // comes back when the reader has begun
	}()
	_, err = s.Judge(ctx, shas[0])
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, s.dump())
}
