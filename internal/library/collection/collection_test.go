package collection

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/packtest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

func TestOutcomes(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1, 2, 3)
	bomb := packtest.Gzip(make([]byte, 80<<20))
	cases := []struct {
		name, url string
		body      []byte
		state     gleaner.DocumentState
		outcome   string
		found     bool
	}{
		{"paper", "http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF), "accepted", "ok", true},
		{"paper under a false name", "http://a.example/download?id=1", s.pile.File(1, sampleweb.AsRevisedPDF), "accepted", "ok", true},
		{"packed PostScript", "http://a.example/2.ps.gz", s.pile.File(2, sampleweb.AsGzip), "accepted", "ok", true},
		{"slides of a wanted title", "http://a.example/talk.pdf", s.pile.File(3, sampleweb.AsSlides), "rejected", "ok", false},
		{"homework", "http://a.example/hw1.pdf", s.pile.File(9, sampleweb.AsSheet), "rejected", "ok", false},
		{"a paper nobody wants", "http://a.example/8.pdf", s.pile.File(8, sampleweb.AsPDF), "accepted", "ok", false},
		{"pictures of pages", "http://a.example/scan.pdf", s.pile.File(3, sampleweb.AsScan), "rejected", "image-only", false},
		{"password", "http://a.example/secret.pdf", s.pile.File(3, sampleweb.AsEncrypted), "rejected", "encrypted", false},
		{"cut off", "http://a.example/cut.pdf", s.pile.File(4, sampleweb.AsTruncatedPDF), "rejected", "truncated", false},
		{"wall under a PDF's name", "http://a.example/wall.pdf", s.pile.File(3, sampleweb.AsWall), "rejected", "wall", false},
		{"gzip bomb", "http://a.example/bomb.gz", bomb, "rejected", "too-large", false},
		{"bomb in a zip", "http://a.example/bomb.zip", archive(map[string][]byte{"bomb": make([]byte, 80<<20)}), "rejected", "too-large", false},
		{"broken zip", "http://a.example/broken.zip", archive(map[string][]byte{"a.ps": s.pile.File(2, sampleweb.AsPostScript)})[:200], "rejected", "unreadable", false},
		{"empty zip", "http://a.example/empty.zip", archive(nil), "rejected", "not-a-document", false},
		{"DVI", "http://a.example/a.dvi", []byte("\xf7\x02\x01\x83\x92\xc0\x1c\x3b\x00\x00\x00\x00\x03\xe8\x1b"), "rejected", "no-reader", false},
		{"DjVu under a PDF's name", "http://a.example/djvu.pdf", []byte("AT&TFORM\x00\x00\x00\x00DJVU"), "rejected", "no-reader", false},
		{"Word", "http://a.example/a.doc", []byte(`{\rtf1\ansi A paper written with Word}`), "rejected", "empty", false},
		{"LaTeX, packed", "http://a.example/src.gz", packtest.Gzip([]byte(`\documentclass{article}\begin{document}Hello\end{document}`)), "rejected", "empty", false},
		{"nothing", "http://a.example/nothing.pdf", nil, "rejected", "empty", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("catdoc"); err != nil && c.name == "Word" {
				t.Skip("catdoc is not installed")
			}
			shas, js := s.takeFile(fileAt(c.url, c.body))
			require.Len(t, js, 1)
			d := s.document(shas[0])
			require.Equal(t, c.outcome, d.Outcome, d.Detail)
			require.Equal(t, c.state, d.State, "%v", d.Reasons)
			require.Equal(t, c.found, js[0].Found(), "%+v", js[0])
			if d.Outcome != "ok" && d.Outcome != "empty" {
				require.NotEmpty(t, d.Detail)
			}
			has, _, err := s.repo.Sidecars(t.Context(), shas[0])
			require.NoError(t, err)
			require.Equal(t, d.Outcome == "ok", has, "its text beside it")
			var sheet Sheet
			b := devtest.Must(os.ReadFile(filepath.Join(s.dir, "meta", shas[0][:2], shas[0]+".json")))(t)
			require.NoError(t, json.Unmarshal(b, &sheet))
			require.Equal(t, c.url, sheet.Locations[0].URL)
			require.Equal(t, "http://www.example.org/~ada/", sheet.Locations[0].Parent)
			require.Equal(t, c.state, sheet.State)
		})
	}
}

func TestArchiveWithSeveral(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1, 2)
	shas, js := s.takeFile(fileAt("http://a.example/papers.zip", archive(map[string][]byte{
		"a.ps": s.pile.File(1, sampleweb.AsPostScript), "b.pdf": s.pile.File(2, sampleweb.AsPDF), "notes.pdf": s.pile.File(3, sampleweb.AsSheet)})))
	require.Len(t, shas, 3)
	require.True(t, js[0].Found() && js[1].Found() && !js[2].Found())
	_, places, err := s.db.Document(t.Context(), shas[1])
	require.NoError(t, err)
	require.Equal(t, "papers.zip/b.pdf", places[0].Member)
	require.Equal(t, "http://a.example/papers.zip", places[0].URL)
}

// TestNewVersion: the old version stays, the new one takes its place, and one
// that comes back is to be ingested anew.
func TestNewVersion(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	const url = "http://a.example/draft.pdf"
	old, _ := s.takeFile(fileAt(url, s.pile.File(5, sampleweb.AsPDF)))
	require.NoError(t, s.db.SetIngestion(ctx, "ingested", old...))
	fresh, _ := s.takeFile(fileAt(url, s.pile.File(5, sampleweb.AsRevisedPDF)))
	require.NotEqual(t, old, fresh)
	require.Equal(t, "ingested", s.document(old[0]).Ingestion)
	require.Equal(t, "new", s.document(fresh[0]).Ingestion)
	require.Equal(t, fresh[0], s.document(old[0]).SameAs, "the version that stands there is the primary")
	require.NoError(t, s.repo.Check(ctx, old[0]))
	_, places, err := s.db.Document(ctx, old[0])
	require.NoError(t, err)
	require.False(t, places[0].Current)

	require.NoError(t, s.db.SetIngestion(ctx, "ingested", fresh...))
	s.take(url, s.pile.File(5, sampleweb.AsPDF))
	require.Equal(t, "new", s.document(old[0]).Ingestion, "it is back in its place")
	require.Equal(t, "ingested", s.document(fresh[0]).Ingestion)
	s.take(url, s.pile.File(5, sampleweb.AsPDF))
	require.NoError(t, s.db.SetIngestion(ctx, "ingested", old...))
	s.take(url, s.pile.File(5, sampleweb.AsPDF))
	require.Equal(t, "ingested", s.document(old[0]).Ingestion, "nothing changed")
}

func TestCopiesOfOneText(t *testing.T) {
	t.Parallel()
	// All orders lead to the same primary.
	forms := []sampleweb.Form{sampleweb.AsPDF, sampleweb.AsPostScript, sampleweb.AsRevisedPDF}
	var primaries []string
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		s := newShop(t)
		var shas []string
		for _, i := range order {
			sha, _ := s.takeFile(fileAt("http://a.example/"+string(rune('a'+i)), s.pile.File(6, forms[i])))
			shas = append(shas, sha...)
		}
		other, _ := s.takeFile(fileAt("http://a.example/other.pdf", s.pile.File(16, sampleweb.AsPDF)))
		require.Empty(t, s.document(other[0]).SameAs)
		all := devtest.Must(s.db.Duplicates(t.Context(), other[0]))(t)
		require.Len(t, all, 1)
		all = devtest.Must(s.db.Duplicates(t.Context(), shas[0]))(t)
		require.ElementsMatch(t, shas, all)
		require.Equal(t, "pdf", s.document(all[0]).Kind)
		primaries = append(primaries, all[0])
	}
	require.Equal(t, primaries[0], primaries[1])
	require.Equal(t, primaries[0], primaries[2])
}

// TestCopiesJudgedAtOnce: two workers that examine two copies at the same moment
// do not overlook each other.
func TestCopiesJudgedAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	other := openShop(t, s.dsn, s.dir)
	for i := range 6 {
		a := s.mustAdd(fileAt("http://a.example/"+string(rune('a'+i)), s.pile.File(20+i, sampleweb.AsPDF)))
		b := s.mustAdd(fileAt("http://b.example/"+string(rune('a'+i)), s.pile.File(20+i, sampleweb.AsRevisedPDF)))
		var wg sync.WaitGroup
		for shop, sha := range map[*shop]string{s: a[0], other: b[0]} {
			wg.Go(func() {
				_, err := shop.Judge(context.Background(), Stored(sha), Once)
				require.NoError(t, err)
			})
		}
		wg.Wait()
		require.Len(t, devtest.Must(s.db.Duplicates(t.Context(), a[0]))(t), 2)
	}
}

// TestWorkersShareTheLoad: each document is judged once, by one of them.
func TestWorkersShareTheLoad(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	other := openShop(t, s.dsn, s.dir)
	const documents = 24
	for i := range documents {
		s.mustAdd(fileAt("http://a.example/"+string(rune('a'+i)), s.pile.File(40+i, sampleweb.AsPDF)))
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	total, each := 0, []int{}
	for _, shop := range []*shop{s, other} {
		wg.Go(func() {
			n, _, err := shop.JudgeWaiting(context.Background(), store.Unexamined{}, func(int) {})
			require.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			total, each = total+n, append(each, n)
		})
	}
	wg.Wait()
	require.Equal(t, documents, total, "%v", each)
	require.NotContains(t, each, 0, "one did all")
}

func TestAWordLasts(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1)
	shas, js := s.takeFile(fileAt("http://a.example/1.pdf", s.pile.File(1, sampleweb.AsPDF)))
	require.True(t, js[0].Found())
	key := s.pile.Paper(1).Key
	require.NoError(t, s.db.Settle(t.Context(), key, shas[0], "no"))
	for range 2 {
		j := s.mustJudge(Stored(shas[0]), Again)
		require.False(t, j.Found())
		j = s.mustJudge(Stored(shas[0]), Once)
		require.False(t, j.Found())
	}
	require.ErrorIs(t, s.db.Settle(t.Context(), "conf/pile/none", shas[0], "no"), store.ErrNoPaper)
}

// TestLaterPlace: what another place says of a document counts, though it was
// judged before that place was known.
func TestLaterPlace(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1)
	p := s.pile.Paper(1)
	body := s.pile.File(1, sampleweb.AsPDF)
	a := newShop(t, 1)
	plain, landing := fileAt("http://a.example/x.pdf", body), fileAt("http://b.example/y.pdf", body)
	landing.MetaTitle, landing.DOI = p.Title, "10.5555/1"
	s.takeFile(plain)
	sha, _ := s.takeFile(landing)
	a.takeFile(landing)
	a.takeFile(plain)
	one := devtest.Must(s.db.Matches(t.Context(), sha[0]))(t)
	require.Equal(t, one, devtest.Must(a.db.Matches(t.Context(), sha[0]))(t))
}

func TestPaperAsPage(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1)
	ctx := t.Context()
	p := s.pile.Paper(1)
	body := s.pile.File(1, sampleweb.AsHTML)
	// While a document is judged alone a page is kept, and waits to be judged.
	require.NoError(t, s.judging.Acquire(ctx, everybody))
	j, is, err := s.AddPage(ctx, fileAt("http://a.example/paper.html", body), []string{p.Title}, string(body))
	require.NoError(t, err)
	require.True(t, is)
	require.False(t, j.Academic())
	s.judging.Release(everybody)
	j, is, err = s.AddPage(ctx, fileAt("http://a.example/paper.html", body), []string{p.Title}, string(body))
	require.NoError(t, err)
	require.True(t, is && j.Found())
	// A page of another paper that links to it, and one that nobody wants.
	for name, body := range map[string][]byte{
		"unwanted": s.pile.File(2, sampleweb.AsHTML),
		"short":    []byte("<html><h1>" + p.Title + "</h1><p>" + p.Authors[0].Name + "</p><h2>Abstract</h2><p>short</p></html>"),
	} {
		_, is, err := s.AddPage(ctx, fileAt("http://a.example/"+name, body), []string{p.Title}, string(body)+strings.Repeat(" ", PaperPageText))
		require.NoError(t, err)
		require.False(t, is, name)
	}
}

// A page that is a paper is known by its sections and by the filter, though nobody
// wants it; one about papers is not.
func TestPaperAsPageThatNobodyWants(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	paper := s.pile.File(2, sampleweb.AsHTML)
	markup := regexp.MustCompile("<[^>]*>")
	text := append([]byte(s.pile.Paper(2).Title+"\n"), markup.ReplaceAll(paper, []byte("\n"))...)
	list := []byte("<html><h1>Introduction</h1>" + strings.Repeat("<p>My course has an introduction and a lecture each week, with homework due on Mondays.</p>", 200) + "<h2>References</h2></html>")
	for name, c := range map[string]struct {
		body []byte
		is   bool
	}{"2.html": {paper, true}, "2.txt": {text, true}, "course.html": {list, false}} {
		shown := string(markup.ReplaceAll(c.body, []byte(" ")))
		j, is, err := s.AddPage(t.Context(), fileAt("http://a.example/"+name, c.body), []string{"A page"}, shown)
		require.NoError(t, err)
		require.Equal(t, c.is, is, name)
		require.Equal(t, c.is, j.Academic(), name)
	}
	s.filter = nil
	_, is, err := s.AddPage(t.Context(), fileAt("http://b.example/2.html", paper), []string{"A page"}, string(paper))
	require.NoError(t, err)
	require.False(t, is, "without the filter all pages would be papers")
}

func TestWithoutFilter(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.filter = nil
	shas, _ := s.takeFile(fileAt("http://a.example/hw.pdf", s.pile.File(1, sampleweb.AsSheet)))
	require.Equal(t, gleaner.DocumentAccepted, s.document(shas[0]).State)
	require.Equal(t, unread, s.document(shas[0]).Outcome)

	on := newShop(t)
	s.filter = on.filter
	j := s.mustJudge(Document{SHA256: shas[0]}, Once)
	require.False(t, j.Academic(), "with the filter on again it is read")
	require.Equal(t, gleaner.DocumentRejected, s.document(shas[0]).State)
}
