package document

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-pdf/fpdf"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/sampleweb"
)

// pile has files that are no papers of the usual shape.
var pile = sampleweb.NewPile(1)

// paragraph makes sentences that differ by seed, so that no two pages are equal.
func paragraph(seed, sentences int) string {
	nouns := []string{"crawler", "frontier", "document", "archive", "author", "venue", "anchor", "server", "index", "filter"}
	verbs := []string{"visits", "ranks", "keeps", "matches", "describes", "measures", "finds", "stores"}
	var b strings.Builder
	for i := range sentences {
		n := seed*31 + i*7
		fmt.Fprintf(&b, "The %s %s each %s of the %s before the %s number %s. ",
			nouns[n%10], verbs[n/3%8], nouns[n/2%10], nouns[n/5%10], nouns[n/7%10], []string{"one", "two", "three", "four", "five"}[n%5])
	}
	return b.String()
}

func newPDF(orientation string) *fpdf.Fpdf {
	pdf := fpdf.New(orientation, "pt", "Letter", "")
	pdf.SetCompression(true)
	return pdf
}

func pdfBytes(tb testing.TB, pdf *fpdf.Fpdf) []byte {
	var b bytes.Buffer
	require.NoError(tb, pdf.Output(&b))
	return b.Bytes()
}

// paperPDF is a paper of the usual shape.
func paperPDF(tb testing.TB, pages int) []byte {
	tb.Helper()
	pdf := newPDF("P")
	pdf.SetTitle("Harvesting by Patience", true)
	pdf.SetAuthor("Ada Example", true)
	section := func(s string) {
		pdf.SetFont("Times", "B", 12)
		pdf.MultiCell(0, 20, s, "", "L", false)
		pdf.SetFont("Times", "", 10)
	}
	pdf.AddPage()
	pdf.SetFont("Times", "B", 18)
	pdf.MultiCell(0, 24, "Harvesting the Missing Papers by Patience", "", "C", false)
	pdf.SetFont("Times", "", 10)
	pdf.MultiCell(0, 13, "Ada Example\nDepartment of Computing, University of Somewhere\nada@example.org", "", "C", false)
	section("Abstract")
	pdf.MultiCell(0, 13, "In this paper we show that patience finds papers. "+paragraph(1, 6), "", "L", false)
	section("1 Introduction")
	pdf.MultiCell(0, 13, "As shown in [1, 2] we find that this paper needs text. "+paragraph(2, 14), "", "L", false)
	for p := 2; p < pages; p++ {
		pdf.AddPage()
		section(fmt.Sprintf("%d Method of part %c", p, 'A'+p))
		pdf.MultiCell(0, 13, paragraph(p*11, 30)+" See Figure 3 and Table 1; Theorem 2 follows [3].", "", "L", false)
	}
	pdf.AddPage()
	section("7 Conclusion")
	pdf.MultiCell(0, 13, "We conclude. "+paragraph(99, 6), "", "L", false)
	section("References")
	for i := 1; i <= 12; i++ {
		pdf.MultiCell(0, 13, fmt.Sprintf("[%d] A. Writer and B. Other. A study of item %d. In Proceedings of the Conference, 20%02d.", i, i, i), "", "L", false)
	}
	return pdfBytes(tb, pdf)
}

// slidesPDF is a talk: landscape, large letters, few words.
func slidesPDF(tb testing.TB) []byte {
	tb.Helper()
	pdf := newPDF("L")
	for i := range 14 {
		pdf.AddPage()
		pdf.SetFont("Helvetica", "B", 30)
		pdf.MultiCell(0, 40, []string{"Why patience?", "How it works", "Results"}[i%3], "", "L", false)
		pdf.SetFont("Helvetica", "", 22)
		pdf.MultiCell(0, 34, "- faster\n- simpler\n- it finds papers", "", "L", false)
	}
	return pdfBytes(tb, pdf)
}

func blankPDF(tb testing.TB) []byte {
	tb.Helper()
	pdf := newPDF("P")
	pdf.AddPage()
	return pdfBytes(tb, pdf)
}

// rawPDF writes objects by hand, with a right cross-reference table: for what a
// PDF library does not make.
func rawPDF(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

func stream(dict, body string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(body), body)
}

// pagePDF is one page with the given content, page keys and further objects
// (numbered from 6); /F1 is Helvetica with measured widths.
func pagePDF(content, pageKeys, resources string, more ...string) []byte {
	widths := strings.Repeat("550 ", 224)
	return rawPDF(append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] " + pageKeys + " /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> " + resources + " >> >>",
		stream("", content),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Differences [1 /fi /ff] >> /FirstChar 32 /LastChar 255 /Widths [" + widths + "] >>",
	}, more...)...)
}
