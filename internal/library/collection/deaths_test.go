package collection

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/semaphore"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// deadly is the reader of a process that dies over one document, and what else is read then
// never ends.
type deadly struct {
	Reader
	over []byte
	died chan struct{}
}

type enough = func(*document.Text) document.More

func (d deadly) ReadUntil(ctx context.Context, p document.Part, more enough) (*document.Text, error) {
	if bytes.Equal(p.Body, d.over) {
		close(d.died)
		select {}
	}
	select {
	case <-d.died:
		select {}
	default:
	}
	return d.Reader.ReadUntil(ctx, p, more)
}

// three adds the first three papers of the pile, and returns their digests.
func (s *shop) three() (shas []string) {
	s.t.Helper()
	for i := range 3 {
		got, err := s.Add(s.t.Context(), fileAt("http://a.example/"+string(rune('a'+i)), s.pile.File(i, sampleweb.AsPDF)))
		require.NoError(s.t, err)
		shas = append(shas, got...)
	}
	return shas
}

// mortal is a process of its own, which dies over a document. Once it is buried nothing of
// it reaches the record, and what it had taken is free.
func (s *shop) mortal(over []byte) (c *Collection, died chan struct{}, bury func()) {
	s.t.Helper()
	dying := *s.Collection
	db := devtest.Must(store.Open(s.t.Context(), s.dsn, 4))(s.t)
	died = make(chan struct{})
	dying.db = db
	dying.cores, dying.judging = make(chan struct{}, 2), semaphore.NewWeighted(everybody)
	dying.owed = &sync.Map{}
	dying.reader = deadly{Reader: s.reader, over: over, died: died}
	return &dying, died, func() {
		db.Close()
		storetest.Exec(s.t, s.db.Pool, `UPDATE documents SET taken_until='-infinity' WHERE taken_until > now()`)
	}
}

// process begins to judge, and lives until it dies over a document.
func (s *shop) process(over []byte, judge func(*Collection)) (died bool) {
	s.t.Helper()
	c, dead, bury := s.mortal(over)
	defer bury()
	ended := make(chan struct{})
	go func() { judge(c); close(ended) }()
	select {
	case <-dead:
		return true
	case <-ended:
		return false
	}
}

// TestADocumentThatKillsItsProcessFails after frontier.MaxDeaths, and those beside it are judged.
func TestADocumentThatKillsItsProcessFails(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1)
	shas := s.three()
	over := s.pile.File(1, sampleweb.AsPDF)
	deaths := 0
	for range frontier.MaxDeaths + 2 {
		all := func(c *Collection) { _, _, _ = c.JudgeWaiting(context.Background(), store.Unexamined{}, func(int) {}) }
		if !s.process(over, all) {
			break
		}
		deaths++
	}
	require.Equal(t, frontier.MaxDeaths, deaths)
	d := s.document(shas[1])
	require.Equal(t, []any{gleaner.DocumentFailed, string(frontier.Killed)}, []any{d.State, d.Outcome})
	for _, sha := range []string{shas[0], shas[2]} {
		d := s.document(sha)
		require.NotContains(t, []gleaner.DocumentState{gleaner.DocumentNew, gleaner.DocumentFailed}, d.State)
		require.Zero(t, d.Deaths)
	}

	// Found anew it stays what it is, until somebody asks to judge it again.
	s.mustAdd(fileAt("http://b.example/b.pdf", over))
	j := s.mustJudge(Stored(shas[1]), Quick)
	require.Equal(t, gleaner.DocumentFailed, j.State)
	j = s.mustJudge(Stored(shas[1]), Again)
	require.True(t, j.Found())
}

// TestACrawlCountsADeathOverADocument: it is judged alone then, and by no crawl.
func TestACrawlCountsADeathOverADocument(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	over := s.pile.File(1, sampleweb.AsPDF)
	shas := s.mustAdd(fileAt("http://a.example/1.pdf", over))
	inACrawl := func(c *Collection) { _, _ = c.Judge(context.Background(), Stored(shas[0]), Quick) }
	require.True(t, s.process(over, inACrawl))
	_, err := s.Judge(t.Context(), Stored(shas[0]), Quick)
	require.ErrorIs(t, err, errAlone)
	require.Equal(t, 1, s.document(shas[0]).Deaths)
	n := s.mustJudgeWaiting(store.Unexamined{})
	require.Equal(t, 1, n)
	require.Zero(t, s.document(shas[0]).Deaths)

	// Whose judging ends without a death is charged nothing.
	shas = s.mustAdd(fileAt("http://a.example/2.pdf", s.pile.File(2, sampleweb.AsPDF)))
	ctx, end := context.WithCancel(t.Context())
	s.reached = func(at point) {
		if at == read {
			end()
		}
	}
	_, err = s.Judge(ctx, Stored(shas[0]), Quick)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, s.document(shas[0]).Deaths)

	// Nor if the record goes away meanwhile.
	c, _, _ := s.mortal(nil)
	c.reader = s.reader
	c.reached = func(at point) {
		if at == read {
			c.db.Close()
		}
	}
	_, err = c.Judge(t.Context(), Stored(shas[0]), Quick)
	require.Error(t, err)
	require.Equal(t, 1, s.document(shas[0]).Deaths)
	c.db, c.reached = s.db, func(point) {}
	_, err = c.Judge(t.Context(), Stored(s.three()[0]), Quick)
	require.NoError(t, err)
	require.Zero(t, s.document(shas[0]).Deaths)
}

// TestTwoCrawlsJudgeOneDocument: one that another judges now, perhaps without this place of
// it, has killed nobody.
func TestTwoCrawlsJudgeOneDocument(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1)
	shas := s.mustAdd(fileAt("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF)))
	_, err := s.db.Take(t.Context(), shas[0], store.Hold{By: 1, For: heldFor}, false, false)
	require.NoError(t, err)
	s.mustAdd(fileAt("http://b.example/1.pdf", s.pile.File(1, sampleweb.AsPDF)))
	j := s.mustJudge(Stored(shas[0]), Quick)
	require.True(t, j.Found())
}
