package collection

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// TestAnInnocentDocumentSharesNoThreeDeaths with another, whoever of the process judges both.
func TestAnInnocentDocumentSharesNoThreeDeaths(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	add := func(i int) string {
		shas := s.mustAdd(fileAt("http://a.example/"+string(rune('a'+i)), s.pile.File(i, sampleweb.AsPDF)))
		return shas[0]
	}
	guilty, innocent := add(1), ""
	for range frontier.MaxDeaths {
		c, died, bury := s.mortal(s.pile.File(1, sampleweb.AsPDF))
		all := func() { _, _, _ = c.JudgeWaiting(context.Background(), store.Unexamined{}, func(int) {}) }
		go all()
		<-died
		if innocent == "" {
			innocent = add(2)
		}
		go all()
		require.Eventually(t, func() (is bool) {
			const taken = `SELECT state<>'new' OR deaths > 0 AND taken_until > now() FROM documents WHERE sha256=$1`
			err := s.db.Pool.QueryRow(t.Context(), taken, innocent).Scan(&is)
			return err == nil && is
		}, time.Minute, 10*time.Millisecond)
		bury()
	}
	s.mustJudgeWaiting(store.Unexamined{})
	require.Equal(t, string(frontier.Killed), s.document(guilty).Outcome)
	require.Equal(t, gleaner.DocumentAccepted, s.document(innocent).State)
}

// reads is a reader whose nth reading is a function.
type reads struct {
	Reader
	n     atomic.Int32
	hooks []func() error
}

func (r *reads) ReadUntil(ctx context.Context, p document.Part, more enough) (*document.Text, error) {
	if i := int(r.n.Add(1)) - 1; i < len(r.hooks) {
		if err := r.hooks[i](); err != nil {
			return nil, err
		}
	}
	return r.Reader.ReadUntil(ctx, p, more)
}

func (r *reads) Quick() *document.Reader { return nil }
func (r *reads) Recognises() bool        { return false }

// TestWhoStopsFreesNoOthersDocument: a death of who still judges it counts.
func TestWhoStopsFreesNoOthersDocument(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.cores = make(chan struct{}, 2)
	shas := s.mustAdd(fileAt("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF)))
	ctx, stop := context.WithCancel(t.Context())
	reading, goOn := make(chan struct{}), make(chan struct{})
	s.reader = &reads{Reader: s.reader, hooks: []func() error{
		func() error { close(reading); <-goOn; return nil },
		func() error { stop(); return ctx.Err() },
	}}
	first := make(chan error, 1)
	go func() {
		_, err := s.Judge(t.Context(), Stored(shas[0]), Quick)
		first <- err
	}()
	<-reading
	_, err := s.Judge(ctx, Stored(shas[0]), Quick)
	require.ErrorIs(t, err, context.Canceled)
	const counts = `SELECT deaths = 1 AND taken_until > now() FROM documents`
	held := storetest.Get[bool](t, s.db.Pool, counts)
	close(goOn)
	require.NoError(t, <-first)
	require.True(t, held)
}

// TestTheRestOfADocumentCannotBeRead: it is matched by its first pages, and the search goes on.
func TestTheRestOfADocumentCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(*shop, string){
		"its file is away": func(s *shop, sha string) { require.NoError(t, s.repo.Delete(t.Context(), sha)) },
		"it panics": func(s *shop, _ string) {
			s.reader = &reads{Reader: s.reader, hooks: []func() error{func() error { panic("the rest") }}}
		},
		"it kills": func(s *shop, sha string) {
			const deadly = `UPDATE documents SET deaths=$1 WHERE sha256=$2`
			storetest.Exec(t, s.db.Pool, deadly, frontier.MaxDeaths, sha)
			unread := func() error { t.Error("it was read"); return nil }
			s.reader = &reads{Reader: s.reader, hooks: []func() error{unread}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, 1)
			long, _ := s.takeFile(fileAt("http://a.example/2.pdf", longPaper(t, s.pile.Paper(2))))
			if s.document(long[0]).Detail != partly {
				t.Skip("poppler's pdftotext is not installed")
			}
			breaks(s, long[0])
			s.want(1, 2)
			_, err := s.MatchHeld(t.Context(), "conf/pile/all", Position{}, func(Position) {})
			require.NoError(t, err)
			require.Len(t, devtest.Must(s.db.Matches(t.Context(), long[0]))(t), 1)
			require.Empty(t, devtest.Must(s.db.ChangedPapers(t.Context()))(t))
		})
	}
}
