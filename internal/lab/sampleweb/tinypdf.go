package sampleweb

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// tinyPDF writes a paper of one page by hand, uncompressed: a benchmark that
// serves thousands a second cannot afford a typesetter.
func tinyPDF(title, author string, r *rand.Rand) []byte {
	var text bytes.Buffer
	line := func(size int, s string) {
		for _, l := range wrap(plainLetters.Replace(s), 1000/size) {
			fmt.Fprintf(&text, "/F1 %d Tf (%s) Tj 0 -%d Td\n", size, psEscape.Replace(l), size+3)
		}
	}
	text.WriteString("BT 60 780 Td\n")
	line(16, title)
	line(12, author)
	line(12, "Abstract")
	line(10, paragraph(r, 4))
	line(12, "1. Introduction")
	line(10, paragraph(r, 14))
	line(12, "2. Conclusion")
	line(10, paragraph(r, 6))
	line(12, "References")
	for i := range 5 {
		line(9, fmt.Sprintf("[%d] %s. %s. %d.", i+1, pick(r, lastNames), capital(pick(r, gerunds))+" "+pick(r, things), 1990+r.IntN(20)))
	}
	text.WriteString("ET")

	var p plainPDF
	p.object("<< /Type /Catalog /Pages 2 0 R >>")
	p.object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	p.object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>")
	p.stream("", text.String())
	p.object("<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /Encoding /WinAnsiEncoding >>")
	return p.bytes()
}

// plainPDF is a PDF in the making, with a table of what is where.
type plainPDF struct {
	b  bytes.Buffer
	at []int
}

func (p *plainPDF) object(what string) {
	if p.b.Len() == 0 {
		p.b.WriteString("%PDF-1.4\n")
	}
	p.at = append(p.at, p.b.Len())
	fmt.Fprintf(&p.b, "%d 0 obj\n%s\nendobj\n", len(p.at), what)
}

func (p *plainPDF) stream(entries, content string) {
	p.object(fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", entries, len(content), content))
}

func (p *plainPDF) bytes() []byte {
	table := p.b.Len()
	fmt.Fprintf(&p.b, "xref\n0 %d\n0000000000 65535 f \n", len(p.at)+1)
	for _, at := range p.at {
		fmt.Fprintf(&p.b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&p.b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(p.at)+1, table)
	return p.b.Bytes()
}
