package collection

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
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

// standIn is a reader whose program is a script of a test's.
func standIn(t testing.TB, script string, timeout time.Duration) *document.Reader {
	t.Helper()
	return document.NewReader(document.Options{PDFToText: program(t, script), Timeout: timeout})
}

// lasting is a reader that reads for ten minutes, and whether it has begun.
func lasting(t testing.TB) (r *document.Reader, begun func() bool) {
	t.Helper()
	within := t.TempDir()
	r = document.NewReader(document.Options{
		PDFToText: program(t, `: > "$TMPDIR/begun"; sleep 600`),
		Timeout:   time.Hour,
		TempDir:   within,
	})
	return r, func() bool {
		found, err := filepath.Glob(filepath.Join(within, "*", "begun"))
		return err == nil && len(found) > 0
	}
}

// program is a program that is a script.
func program(t testing.TB, script string) string {
	path := filepath.Join(t.TempDir(), "program")
	// Another process writes it: a file that this one has open for writing while
	// a parallel test forks cannot be executed.
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `cat > "$1" && chmod 755 "$1"`, "sh", path)
	cmd.Stdin = strings.NewReader("#!/bin/sh\n" + script + "\n")
	require.NoError(t, cmd.Run())
	return path
}

// A reader that stood still on a busy machine rejects no paper: the document waits,
// is given up by name after some tries, and taken up again when somebody asks.
func TestStalledReaderRejectsNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1)
	able, stopped := s.reader, standIn(t, `kill -STOP $$`, 200*time.Millisecond)

	s.reader = stopped
	shas := s.mustAdd(fileAt("http://www.example.org/~ada/once.pdf", s.pile.File(1, sampleweb.AsPDF)))
	_, err := s.Judge(t.Context(), Stored(shas[0]), Once)
	require.ErrorIs(t, err, ErrStalled)
	d := s.document(shas[0])
	require.Equal(t, []any{gleaner.DocumentNew, "stalled"}, []any{d.State, d.Outcome})

	s.reader = able
	n := s.mustJudgeWaiting(store.Unexamined{Site: 1})
	require.Equal(t, 1, n)
	require.Equal(t, gleaner.DocumentAccepted, s.document(shas[0]).State)

	// What was decided once stands.
	before := s.dump()
	s.reader = stopped
	_, err = s.Judge(t.Context(), Stored(shas[0]), Again)
	require.ErrorIs(t, err, ErrStalled)
	require.Equal(t, before, s.dump())

	// One that stalls for ever does not hold up the others.
	shas = s.mustAdd(fileAt("http://www.example.org/~ada/ever.pdf", s.pile.File(2, sampleweb.AsPDF)))
	s.mustJudgeWaiting(store.Unexamined{Site: 1})
	d = s.document(shas[0])
	require.Equal(t, []any{gleaner.DocumentFailed, "stalled"}, []any{d.State, d.Outcome})
	s.reader = able
	s.mustJudge(Stored(shas[0]), Again)
	require.Equal(t, gleaner.DocumentAccepted, s.document(shas[0]).State)
}

// A worker whose attempt is over writes nothing of what it was about to judge.
func TestEndedAttemptWritesNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var begun func() bool
	s.reader, begun = lasting(t)
	shas := s.mustAdd(fileAt("http://www.example.org/~ada/cut.pdf", s.pile.File(1, sampleweb.AsPDF)))
	before := s.dump()

	ctx, end := context.WithCancel(t.Context())
	judged := make(chan error, 1)
	go func() {
		_, err := s.Judge(ctx, Stored(shas[0]), Once)
		judged <- err
	}()
	require.Eventually(t, begun, time.Minute, 10*time.Millisecond)
	end()
	require.ErrorIs(t, <-judged, context.Canceled)
	require.Equal(t, before, s.dump())
}

// TestARetryTakesUpWhatStalled on the sites of its harvest, and nowhere else.
func TestARetryTakesUpWhatStalled(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1, 2)
	ctx := t.Context()
	able := s.reader
	s.reader = standIn(t, `kill -STOP $$`, 200*time.Millisecond)
	given := map[string]string{}
	for i, host := range []string{"ada.example", "bob.example"} {
		site := devtest.Must(store.EnsureSite(ctx, s.db.Pool, host))(t)
		f := fileAt("http://"+host+"/1.pdf", s.pile.File(1+i, sampleweb.AsPDF))
		f.SiteID = site
		shas := s.mustAdd(f)
		given[host] = shas[0]
	}
	storetest.Exec(t, s.db.Pool, `INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT 'conf/pile/all', id, 'homepage' FROM sites WHERE host='ada.example'`)
	s.mustJudgeWaiting(store.Unexamined{})
	states := func() map[string]string {
		out := map[string]string{}
		for host, sha := range given {
			d := s.document(sha)
			out[host] = string(d.State) + " " + d.Outcome
		}
		return out
	}
	require.Equal(t, map[string]string{"ada.example": "failed stalled", "bob.example": "failed stalled"}, states())

	of := store.RetryFilter{Harvest: "conf/pile/all"}
	failures := devtest.Must(s.db.Failures(ctx, of))(t)
	require.Len(t, failures, 1)
	require.Equal(t, []any{"stalled", 1, false}, []any{failures[0].Reason, failures[0].Stalled, failures[0].ForGood})
	for _, other := range []store.RetryFilter{{Harvest: of.Harvest, Host: "bob.example"}, {Harvest: of.Harvest, Reason: "timeout"}, {Harvest: of.Harvest, OlderThan: time.Hour}} {
		require.Zero(t, devtest.Must(s.db.RequeueStalled(ctx, other))(t), "%+v", other)
	}
	n := devtest.Must(s.db.StalledDocuments(ctx, of))(t)
	require.Equal(t, 1, n)
	n = devtest.Must(s.db.RequeueStalled(ctx, of))(t)
	require.Equal(t, 1, n)
	s.reader = able
	n = s.mustJudgeWaiting(store.Unexamined{Stalled: of.Harvest})
	require.Equal(t, 1, n)
	require.Equal(t, map[string]string{"ada.example": "accepted ok", "bob.example": "failed stalled"}, states())

	n = devtest.Must(s.db.RequeueStalled(ctx, store.RetryFilter{Host: "bob.example", Reason: "stalled"}))(t)
	require.Equal(t, 1, n)
}
