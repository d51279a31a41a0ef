package collection

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/packtest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
)

func differences(t *testing.T, s *shop, deep bool) map[string]string {
	out := map[string]string{}
	_, err := Verify(context.Background(), s.db.DocumentRecords, s.repo, deep, func(d Difference) { out[d.SHA256] = d.What }, func(int, int) {})
	require.NoError(t, err)
	return out
}

func TestVerify(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var shas []string
	for i := range 6 {
		sha, _ := s.takeFile(fileAt("http://a.example/"+string(rune('a'+i)), s.pile.File(i, sampleweb.AsPDF)))
		shas = append(shas, sha...)
	}
	require.Empty(t, differences(t, s, true))
	file := func(i int) string { return filepath.Join(s.dir, repository.Path(shas[i])) }

	require.NoError(t, os.Remove(file(0)))
	require.NoError(t, os.Truncate(file(1), 100))
	body := devtest.Must(os.ReadFile(file(2)))(t)
	body[len(body)/2]++
	require.NoError(t, os.WriteFile(file(2), body, 0o644))
	text := devtest.Must(filepath.Glob(filepath.Join(s.dir, "text", "*", shas[3]+"*")))(t)
	require.NoError(t, os.Remove(text[0]))
	storetest.Exec(t, s.db.Pool, "DELETE FROM documents WHERE sha256=$1", shas[4])
	young := devtest.Must(s.repo.Put(t.Context(), []byte("a file whose row is about to be written")))(t)

	want := map[string]string{shas[0]: NoFile, shas[1]: WrongSize, shas[3]: NoText}
	require.Equal(t, want, differences(t, s, false), "a file without a row may be on its way")
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(file(4), long, long))
	want[shas[4]] = NoRow
	require.Equal(t, want, differences(t, s, false))
	want[shas[1]], want[shas[2]], want[shas[5]] = Corrupt, Corrupt, NoText
	text = devtest.Must(filepath.Glob(filepath.Join(s.dir, "text", "*", shas[5]+"*")))(t)
	require.NoError(t, os.Truncate(text[0], 50))
	require.Equal(t, want, differences(t, s, true))
	require.NotContains(t, want, young.SHA256)

	s.mustJudge(Stored(shas[3]), Again)
	require.NotContains(t, differences(t, s, false), shas[3], "judging again writes it")
}

// A file that is stored between the walk over its folder and the look at its row is no
// difference.
func TestVerifyDuringACrawl(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	file := s.pile.File(1, sampleweb.AsPDF)
	sha, _ := s.takeFile(fileAt("http://a.example/1.pdf", file))
	require.NoError(t, os.Remove(filepath.Join(s.dir, repository.Path(sha[0]))))
	stores := func(int, int) {
		_, err := s.repo.Put(t.Context(), file)
		require.NoError(t, err)
	}
	seen, err := Verify(t.Context(), s.db.DocumentRecords, s.repo, true, func(d Difference) { t.Error(d) }, stores)
	require.NoError(t, err)
	require.Equal(t, 1, seen.Rows)
}

// Files that were pruned are no difference, and what was judged of them stays.
func TestPruned(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	kept, _ := s.takeFile(fileAt("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF)))
	sheet := s.pile.File(3, sampleweb.AsSheet)
	gone, js := s.takeFile(fileAt("http://a.example/hw.pdf", sheet))
	require.Equal(t, gleaner.DocumentRejected, js[0].State)
	storetest.Exec(t, s.db.Pool, "UPDATE documents SET updated_at = now() - interval '1 year'")
	_, err := s.db.Prune(ctx, store.Retention{Rejected: 30 * 24 * time.Hour}, s.repo, store.PruneOptions{})
	require.NoError(t, err)
	_, err = s.repo.Read(ctx, gone[0])
	require.ErrorIs(t, err, repository.ErrNotFound)

	out := map[string]string{}
	seen, err := Verify(ctx, s.db.DocumentRecords, s.repo, true, func(d Difference) { out[d.SHA256] = d.What }, func(int, int) {})
	require.NoError(t, err)
	require.Empty(t, out)
	require.Equal(t, 1, seen.Pruned)
	require.Equal(t, 2, seen.Rows)
	require.Equal(t, 1, seen.Files)

	before := s.document(gone[0])
	require.NotNil(t, before.Removed)
	_, err = s.Judge(ctx, Stored(gone[0]), Again)
	require.ErrorIs(t, err, store.ErrPruned)
	require.Equal(t, before, s.document(gone[0]), "nothing of its record changes")
	s.mustJudge(Stored(kept[0]), Again)

	// A crash between mark and removal leaves the file; a crawl brings it back.
	_, err = s.repo.Put(ctx, sheet)
	require.NoError(t, err)
	require.Equal(t, map[string]string{gone[0]: LeftOver}, differences(t, s, true))
	s.takeFile(fileAt("http://a.example/hw.pdf", sheet))
	require.Nil(t, s.document(gone[0]).Removed)
	s.mustJudge(Stored(gone[0]), Again)
	require.Empty(t, differences(t, s, true))
}

// A paper that is wanted only after its file was pruned is asked for again, and
// accepted when it is here.
func TestPrunedThenWanted(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	exec := func(sql string) {
		storetest.Exec(t, s.db.Pool, sql)
	}
	const url = "http://a.example/1.pdf"
	file := fileAt(url, s.pile.File(1, sampleweb.AsPDF))
	shas, _ := s.takeFile(file)
	exec(`INSERT INTO sites (host, state) VALUES ('a.example', 'done')`)
	exec(`INSERT INTO urls (site_id, hash, state, url, etag, content) VALUES (1, '\x01', 2, '` + url + `', '"v1"', '\x02')`)
	exec(`UPDATE documents SET state='rejected', updated_at = now() - interval '1 year'`)
	_, err := s.db.Prune(ctx, store.Retention{Rejected: 30 * 24 * time.Hour}, s.repo, store.PruneOptions{})
	require.NoError(t, err)
	require.NotNil(t, s.document(shas[0]).Removed)

	s.want(1)
	_, err = s.Rematch(ctx, Position{}, func(Position) {})
	require.NoError(t, err)
	require.Equal(t, gleaner.DocumentRejected, s.document(shas[0]).State, "there is no file to accept")
	var due, waits bool
	require.NoError(t, s.db.Pool.QueryRow(ctx, `SELECT due_at <= now(), (SELECT state=0 AND etag='' AND content IS NULL FROM urls) FROM sites`).Scan(&due, &waits))
	require.True(t, due && waits, "it is asked for, whole")

	_, js := s.takeFile(file)
	require.Equal(t, gleaner.DocumentAccepted, js[0].State)
	require.Nil(t, s.document(shas[0]).Removed)
	require.Empty(t, differences(t, s, true))
}

func TestCounters(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1)
	take := func() {
		for url, body := range map[string][]byte{
			"http://a.example/1.pdf":  s.pile.File(1, sampleweb.AsPDF),
			"http://b.example/1.pdf":  s.pile.File(1, sampleweb.AsPDF),        // the same bytes
			"http://a.example/1.ps":   s.pile.File(1, sampleweb.AsPostScript), // the same text
			"http://a.example/2.pdf":  s.pile.File(2, sampleweb.AsPDF),
			"http://a.example/hw.pdf": s.pile.File(3, sampleweb.AsSheet),
			"http://a.example/s.pdf":  s.pile.File(3, sampleweb.AsScan),
			"http://a.example/w.pdf":  s.pile.File(3, sampleweb.AsWall),
			"http://a.example/x.tex":  []byte(`\documentclass{article}\begin{document}Hello\end{document}`),
		} {
			s.take(url, body)
		}
		s.take("http://a.example/2.pdf", s.pile.File(4, sampleweb.AsPDF)) // another version of what was saved from there
		s.take("http://a.example/code.zip", packtest.Zip("plot.png", "\x89PNG\r\n\x1a\n"+strings.Repeat("\x00", 99)))
	}
	want := store.Counters{All: 10, SavedNew: 4, SavedDuplicate: 1, SameText: 2, Filtered: 2, FilteredMTF: 1, FilteredDCF: 1, FailedTextExtract: 2, FailedPDFNotFound: 1}
	for range 2 {
		take()
		require.Equal(t, want, devtest.Must(s.db.HarvestCounters(t.Context(), ""))(t))
	}
	s.mustAdd(fileAt("http://a.example/new.pdf", s.pile.File(7, sampleweb.AsPDF)))
	n := devtest.Must(s.db.HarvestCounters(t.Context(), ""))(t)
	want.All, want.Unexamined = 11, 1
	require.Equal(t, want, n)
	n = devtest.Must(s.db.HarvestCounters(t.Context(), "conf/pile/all"))(t)
	require.Zero(t, n, "that harvest has no sites")
}

func TestFindDocuments(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1, 2, 3)
	ctx := t.Context()
	for i := range 8 {
		s.take("http://a.example/"+string(rune('a'+i)), s.pile.File(i, sampleweb.AsPDF))
	}
	s.take("http://a.example/hw", s.pile.File(9, sampleweb.AsSheet))
	s.take("http://a.example/copy", s.pile.File(1, sampleweb.AsRevisedPDF))
	p := s.pile.Paper(2)
	_, err := s.db.Pool.Exec(ctx, `UPDATE documents SET first_pages=first_pages || E'\nA Phrase (of\n  Lines)' WHERE sha256=(SELECT max(sha256) FROM documents)`)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		q store.DocumentQuery
		n int
	}{
		"all":      {store.DocumentQuery{}, 10},
		"state":    {store.DocumentQuery{States: []string{"rejected"}}, 1},
		"class":    {store.DocumentQuery{Classes: []string{"paper", "thesis"}}, 9},
		"venue":    {store.DocumentQuery{Venue: "conf/pile"}, 4},
		"primary":  {store.DocumentQuery{Venue: "conf/pile", Primary: true}, 3},
		"text":     {store.DocumentQuery{Text: p.Title[:10]}, 1},
		"wrapped":  {store.DocumentQuery{Text: "phrase (of lines)"}, 1},
		"tomorrow": {store.DocumentQuery{From: time.Now().Add(24 * time.Hour)}, 0},
		"today":    {store.DocumentQuery{From: time.Now().Add(-24 * time.Hour), To: time.Now().Add(time.Hour)}, 10},
		"limit":    {store.DocumentQuery{Limit: 3}, 3},
		"host":     {store.DocumentQuery{Host: "b.example"}, 0},
	} {
		found, err := s.db.FindDocuments(ctx, c.q)
		require.NoError(t, err, name)
		require.Len(t, found, c.n, name)
	}
	sample := func(seed string) (shas []string) {
		found, err := s.db.FindDocuments(ctx, store.DocumentQuery{Sample: 4, Seed: seed, States: []string{"accepted"}})
		require.NoError(t, err)
		for _, d := range found {
			shas = append(shas, d.SHA256)
		}
		return shas
	}
	require.Len(t, sample("1"), 4)
	require.Equal(t, sample("1"), sample("1"))
	others := map[string]bool{} // four of nine: another seed gives the same by chance
	for _, seed := range []string{"2", "3", "4", "5", "6", "7", "8", "9"} {
		others[fmt.Sprint(sample(seed))] = true
	}
	require.Greater(t, len(others), 1)
}

// TestVerifyNamesTwoCurrent: one URL has one current document.
func TestVerifyNamesTwoCurrent(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	first, _ := s.takeFile(fileAt("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF)))
	second, _ := s.takeFile(fileAt("http://a.example/1.pdf", s.pile.File(2, sampleweb.AsPDF)))
	s.takeFile(fileAt("http://a.example/2.pdf", s.pile.File(3, sampleweb.AsPDF)))
	require.Empty(t, differences(t, s, true), "an earlier version is none")
	storetest.Exec(t, s.db.Pool, "UPDATE locations SET current=true")
	require.Empty(t, differences(t, s, false))
	require.Equal(t, map[string]string{first[0]: TwoCurrent, second[0]: TwoCurrent}, differences(t, s, true))
}
