package document

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"gleaner/internal/lab/growthtest"
	"gleaner/internal/lab/packtest"
)

// zipOf is a zip of n small members, tarOf a tar of them.
func zipOf(n int, name string) []byte {
	var members []string
	for i := range n {
		members = append(members, fmt.Sprintf(name, i), "%PDF-1.4")
	}
	return stored(members...)
}

func tarOf(n int) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range n {
		_ = w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d.pdf", i), Size: 8, Typeflag: tar.TypeReg})
		_, _ = w.Write([]byte("%PDF-1.4"))
	}
	_ = w.Close()
	return b.Bytes()
}

// worst are inputs made to keep a reader busy; each grows with n.
var worst = map[string]func(n int) []byte{
	"zip of members": func(n int) []byte { return zipOf(min(n/10, 900), "%d.pdf") },
	"zip of folders": func(n int) []byte { return zipOf(n/10, "%d/") },
	"tar of members": func(n int) []byte { return tarOf(min(n/10, 900)) },
	"empty gzips":    func(n int) []byte { return bytes.Repeat(packtest.Gzip(""), n/10) },
	"page trees":     pdfOf("<< /Type /Pages /Kids [3 0 R] >> "),
	"object streams": pdfOf("1 0 obj << /Type /ObjStm >> stream "),
	"dictionaries":   pdfOf("<< /A "),
	"arrays":         pdfOf("[ "),
	"strings":        pdfOf("( "),
	"startxref":      pdfOf("startxref "),
	"images":         pdfOf("BI ID "),
	"tags":           htmlOf("<p"), "titles": htmlOf("<title>"), "comments": htmlOf("<!--"), "scripts": htmlOf("<script>"),
	"entities": htmlOf("&amp;"), "sections": htmlOf("<h2>References</h2>"), "attributes": htmlOf("<a b=\"c\" "),
	"references": textOf("[1] A. Writer, B. Other. A Study. In Proc. 1999.\n"), "headings": textOf("References\n"),
	"cues": func(n int) []byte {
		return []byte("a\fb\f" + strings.Repeat("ful ", n) + strings.Repeat("\fc", thesisPages))
	},
	"one word": textOf("a"), "numbers": textOf("1."), "brackets": textOf("[1"), "blank lines": textOf(" \n"), "hyphens": textOf("a-\n"),
	"LaTeX": latexOf("\\section{A} x {"), "arguments": latexOf("\\cite[{"), "comments of TeX": latexOf("%\n\\%"), "accents": latexOf("\\\"{o}\\'e"), "titles of TeX": latexOf("\\title{"),
	"articles": xmlOf("<p>a</p>"), "open elements": xmlOf("<sec><title>"), "entities of XML": xmlOf("&amp;&nbsp;"), "broken XML": xmlOf("<a b=c <"),
	"docx": docxOf("word/document.xml", "<w:p><w:r><w:t>a</w:t></w:r></w:p>"), "odt": docxOf("content.xml", "<text:p>a<text:s/>"), "deletions": docxOf("word/document.xml", "<w:del>"),
	"PostScript": func(n int) []byte { return []byte("%!PS\n" + strings.Repeat("%%Pages: (atend)\n", n)) },
	"layout":     func(n int) []byte { return []byte(strings.Repeat("<page width=\"\n<word \"\"\"\">a</word>\n", n)) },
}

func pdfOf(s string) func(int) []byte {
	return func(n int) []byte {
		return []byte("%PDF-1.4\n" + strings.Repeat(s, n) + "\nstartxref\n9\n%%EOF")
	}
}

func latexOf(s string) func(int) []byte {
	return func(n int) []byte { return []byte("\\documentclass{a}\\begin{document}" + strings.Repeat(s, n)) }
}

func xmlOf(s string) func(int) []byte {
	return func(n int) []byte { return []byte("<?xml version=\"1.0\"?><article>" + strings.Repeat(s, n)) }
}

// docxOf is an office file that does not pack well, so that its length grows with n.
func docxOf(member, s string) func(int) []byte {
	return func(n int) []byte { return stored(member, "<?xml version=\"1.0\"?><w:body>"+strings.Repeat(s, n)) }
}

func htmlOf(s string) func(int) []byte {
	return func(n int) []byte { return []byte("<html>" + strings.Repeat(s, n)) }
}

func textOf(s string) func(int) []byte {
	return func(n int) []byte { return []byte(strings.Repeat(s, n)) }
}

// digest does in this process all that is done with foreign bytes but what outside
// programs do.
func digest(b []byte) {
	parts, _ := Unpack(context.Background(), "x", "", b, Limits{})
	if len(parts) < 2 {
		html, plain := &Text{}, &Text{}
		readHTML(Part{Name: "x.html", Body: b}, html)
		readPlain(Part{Name: "x.txt", Body: b}, plain)
		judgeText(html)
		judgeText(plain)
	}
	r := growthReader
	tex, markup, office := &Text{}, &Text{}, &Text{}
	r.readLaTeX(Part{Name: "x.tex", Body: b}, tex)
	r.readXML(Part{Name: "x.xml", Body: b}, markup)
	text, _ := readOffice(context.Background(), Part{Name: "x.docx", Body: b}, office)
	r.settlePlain(office, text)
	for _, t := range []*Text{tex, markup, office} {
		judgeText(t)
	}
	truncatedPDF(b)
	hasImages(b)
	dscPages(b)
	s := &scan{}
	parseBBox(b, s)
	t := &Text{}
	t.fill(s)
	judgeText(t)
}

var (
	growthFilter = NewFilter(Balanced)
	growthReader = NewReader(Options{PDFToText: "-", PDFInfo: "-", Ghostscript: "-", Catdoc: "-"})
)

func judgeText(t *Text) {
	t.end(OK, "")
	growthFilter.Judge(t, Hints{})
	countReferences(t)
	Fingerprint(t)
	NewSketch(t)
	t.garbled()
}

func TestReadingGrowsNoFasterThanItsInput(t *testing.T) {
	growthtest.Each(t, 500, worst, func(_ *testing.T, in []byte) { digest(in) })
}

// FuzzDigest: no bytes bring down what works in the process.
func FuzzDigest(f *testing.F) {
	for _, in := range worst {
		f.Add(in(20))
	}
	for _, whole := range wholes(f) {
		f.Add(whole)
	}
	f.Fuzz(func(_ *testing.T, b []byte) { digest(b) })
}

// brokenZip is a zip of members of a megabyte whose checksums are wrong.
func brokenZip(members int) []byte {
	var zeros, body bytes.Buffer
	w, _ := flate.NewWriter(&zeros, flate.BestCompression)
	_, _ = w.Write(make([]byte, 1<<20))
	_ = w.Close()
	z := zip.NewWriter(&body)
	for range members {
		w, _ := z.CreateRaw(&zip.FileHeader{Name: "a.pdf", Method: zip.Deflate, CRC32: 1, UncompressedSize64: 1 << 20, CompressedSize64: uint64(zeros.Len())})
		_, _ = w.Write(zeros.Bytes())
	}
	_ = z.Close()
	return body.Bytes()
}

// overlapping is a zip of entries that share the bytes of one, which unpack to nothing.
func overlapping(name string, entries int) []byte {
	empty := strings.Repeat("\x00\x00\x00\xff\xff", 1<<15) + "\x01\x00\x00\xff\xff"
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, CompressedSize64: uint64(len(empty))})
	_, _ = w.Write([]byte(empty))
	_ = z.Close()
	list, end := bytes.Index(b.Bytes(), []byte(zipEntry)), bytes.LastIndex(b.Bytes(), []byte("PK\x05\x06"))
	entry, tail := b.Bytes()[list:end], bytes.Clone(b.Bytes()[end:])
	binary.LittleEndian.PutUint16(tail[8:], uint16(entries))
	binary.LittleEndian.PutUint16(tail[10:], uint16(entries))
	binary.LittleEndian.PutUint32(tail[12:], uint32(entries*len(entry)))
	return slices.Concat(b.Bytes()[:list], bytes.Repeat(entry, entries), tail)
}

// A small file does not become a large one, nor a list of contents without end.
func TestUnpackingIsBoundedByTheFile(t *testing.T) {
	t.Parallel()
	for name, body := range map[string][]byte{
		"ratio":   packtest.Gzip(make([]byte, 40<<20)),
		"entries": zipOf(10_001, "%d/"),
		"broken":  brokenZip(70),
		"shared":  overlapping("a.pdf", 100),
	} {
		parts, err := Unpack(t.Context(), "x", "", body, Limits{})
		assert.ErrorIs(t, err, errLimit, name)
		assert.Empty(t, parts, name)
	}
	_, err := readOffice(t.Context(), Part{Name: "x.docx", Body: overlapping("word/document.xml", 100)}, &Text{})
	assert.ErrorIs(t, err, errLimit)
	parts, err := Unpack(t.Context(), "x.ps.gz", "", packtest.Gzip(append([]byte("%!PS\n"), bytes.Repeat([]byte("0 0 moveto\n"), 1<<20)...)), Limits{})
	assert.NoError(t, err)
	assert.Len(t, parts, 1)
}

// Who ends while a file is unpacked, from which nothing may come for long, does not wait
// for its end.
func TestUnpackingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, body := range map[string][]byte{"gzip": bytes.Repeat(packtest.Gzip(""), 10_000), "zip": overlapping("a.pdf", 1), "tar": tarOf(900)} {
		ctx := &growthtest.Ending{Context: t.Context(), Looks: 20}
		parts, err := Unpack(ctx, "x", "", body, Limits{})
		assert.ErrorIs(t, err, context.Canceled, name)
		assert.Empty(t, parts, name)
	}
	ctx := &growthtest.Ending{Context: t.Context(), Looks: 20}
	assert.ErrorIs(t, growthReader.readWord(ctx, Part{Name: "x.docx", Body: overlapping("word/document.xml", 1)}, &Text{}), context.Canceled)
}
