package collection

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-pdf/fpdf"
	"github.com/stretchr/testify/require"

	"gleaner/internal/document"
	"gleaner/internal/venue"
)

// longPaper is a paper of twelve pages with a paper's title and authors.
func longPaper(t *testing.T, p venue.Paper) []byte {
	t.Helper()
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
	s := newShop(t)
	ctx := t.Context()
	s.want(1)
	text := func(sha string) string {
		got, err := s.repo.GetText(ctx, sha)
		require.NoError(t, err)
		return got
	}
	long := func(i int) []byte { return longPaper(t, s.pile.Paper(i)) }
	wanted, _ := s.takeFile(fileAt("http://a.example/1.pdf", long(1)))
	require.Empty(t, s.document(wanted[0]).Detail, "all of a wanted paper is kept")

	other, js := s.takeFile(fileAt("http://a.example/2.pdf", long(2)))
	d := s.document(other[0])
	require.Equal(t, "accepted", js[0].State)
	require.Greater(t, d.Pages, 3)
	if d.Detail != partly {
		t.Fatalf("its first pages do not settle it: %v", d.Reasons)
	}
	require.Equal(t, 20, d.References, "its end was read")
	short := text(other[0])

	s.want(1, 2)
	_, err := s.Rematch(ctx, func(int) {})
	require.NoError(t, err)
	require.Empty(t, s.document(other[0]).Detail)
	require.Greater(t, strings.Count(text(other[0]), "\f"), strings.Count(short, "\f"))
	require.Empty(t, differences(t, s, true))

	s.whole = true
	third, _ := s.takeFile(fileAt("http://a.example/3.pdf", long(4)))
	require.Empty(t, s.document(third[0]).Detail)
	require.Equal(t, string(document.OK), s.document(third[0]).Outcome)
}
