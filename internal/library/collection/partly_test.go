package collection

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-pdf/fpdf"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

// longPaper is a paper of twelve pages with a paper's title and authors.
func longPaper(t *testing.T, p gleaner.Paper) []byte {
	pdf := fpdf.New("P", "pt", "Letter", "")
	line := func(style string, size float64, s string) {
		pdf.SetFont("Times", style, size)
		pdf.MultiCell(0, size*1.3, s, "", "L", false)
	}
	pdf.AddPage()
	line("B", 18, p.Title)
	for _, a := range p.Authors {
		line("", 11, a.Name)
	}
	line("", 10, "Department of Computing, University of Somewhere\nada@example.org")
	line("B", 12, "Abstract")
	line("", 10, "In this paper we show that patience finds papers, as was shown for hurry [1, 2]. We prove Theorem 1 and measure.")
	line("B", 12, "1 Introduction")
	for page := range 11 {
		for i := range 12 {
			line("", 10, fmt.Sprintf("On page %d we show in Figure %d that the frontier of part %d grows as Lemma %d of Writer et al. [%d] says, and we compare. "+
				"Our crawler visits each server in turn, which the literature describes for the archive and the index [3].", page, i, 100*page+i, i, i))
		}
		pdf.AddPage()
		line("B", 12, fmt.Sprintf("%d Method", page+2))
	}
	line("B", 12, "References")
	for i := range 20 {
		line("", 10, fmt.Sprintf("[%d] A. Writer and B. Other. A study of item %d. In Proceedings of the Conference, 20%02d.", i+1, i, i))
	}
	var b bytes.Buffer
	require.NoError(t, pdf.Output(&b))
	return b.Bytes()
}

// Of a document whose first pages settle what it is not all is read, unless it is
// wanted, or becomes so.
func TestFirstPagesSettle(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("poppler's pdftotext is not installed")
	}
	s := newShop(t, 1)
	text := func(sha string) string {
		return devtest.Must(s.repo.GetText(t.Context(), sha))(t)
	}
	long := func(i int) []byte { return longPaper(t, s.pile.Paper(i)) }
	wanted, _ := s.takeFile(fileAt("http://a.example/1.pdf", long(1)))
	require.Empty(t, s.document(wanted[0]).Detail, "all of a wanted paper is kept")

	other, js := s.takeFile(fileAt("http://a.example/2.pdf", long(2)))
	d := s.document(other[0])
	require.Equal(t, gleaner.DocumentAccepted, js[0].State)
	require.Greater(t, d.Pages, 3)
	require.Equal(t, partly, d.Detail, "its first pages do not settle it %v", d.Reasons)
	require.Equal(t, 20, d.References, "its end was read")
	require.Len(t, devtest.Must(SheetOf(t.Context(), s.db, s.repo, other[0]))(t).ReferenceList, 20)
	short := text(other[0])

	s.want(1, 2)
	_, err := s.Rematch(t.Context(), Position{}, func(Position) {})
	require.NoError(t, err)
	require.Empty(t, s.document(other[0]).Detail)
	require.Greater(t, strings.Count(text(other[0]), "\f"), strings.Count(short, "\f"))
	require.Empty(t, differences(t, s, true))

	s.whole = true
	third, _ := s.takeFile(fileAt("http://a.example/3.pdf", long(4)))
	require.Empty(t, s.document(third[0]).Detail)
	require.Equal(t, string(document.OK), s.document(third[0]).Outcome)
}

// The pre-filter passes over what its name speaks against, unless another place
// calls it something else; by default every file is read.
func TestNameFilter(t *testing.T) {
	t.Parallel()
	s := newShop(t, 1)
	paper := s.pile.File(1, sampleweb.AsPDF)
	other := s.pile.File(2, sampleweb.AsPDF)
	s.names = true
	sha, js := s.takeFile(fileAt("http://a.example/teaching/hw3.pdf", paper))
	require.Equal(t, gleaner.DocumentRejected, js[0].State)
	require.Equal(t, "unwelcome", js[0].Outcome)
	require.Equal(t, "its name is one of course material", s.document(sha[0]).Detail)
	n := devtest.Must(s.db.HarvestCounters(t.Context(), ""))(t)
	require.Equal(t, store.Counters{All: 1, Filtered: 1, FilteredMTF: 1}, n)
	require.Empty(t, differences(t, s, true))

	_, js = s.takeFile(fileAt("http://a.example/papers/other.pdf", other))
	require.Equal(t, gleaner.DocumentAccepted, js[0].State)
	s.mustAdd(fileAt("http://b.example/papers/1.pdf", paper))
	j := s.mustJudge(Stored(sha[0]), Again)
	require.True(t, j.Found(), "one of its places gives it a better name")

	s.names = false
	_, js = s.takeFile(fileAt("http://a.example/cv.pdf", s.pile.File(3, sampleweb.AsPDF)))
	require.Equal(t, gleaner.DocumentAccepted, js[0].State)
}
