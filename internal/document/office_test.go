package document

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// paragraphs are a paper's, one a line.
var paragraphs = append(append([]string{"On Engines", "Ada Lovelace and Kurt Gödel", "Abstract", "In this paper we show that engines run.", "1 Introduction"},
	strings.Split(strings.Repeat("Engines run, as Babbage [1] had it, and they run well.\n", 60), "\n")...),
	"References", "[1] C. Babbage. On the Economy of Machinery. London, 1832.", "[2] K. Other. Looms. In Proc. Looms, pages 1-9, 1801.", "[3] B. Third. Cards. Journal of Cards, 7, 1805.")

// stored is a zip of members that are not compressed, the name of each before its content.
func stored(members ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for m := range slices.Chunk(members, 2) {
		w, _ := z.CreateHeader(&zip.FileHeader{Name: m[0]})
		_, _ = w.Write([]byte(m[1]))
	}
	_ = z.Close()
	return b.Bytes()
}

func eachLine(format string) string {
	var b strings.Builder
	for _, p := range paragraphs {
		fmt.Fprintf(&b, format, p)
	}
	return b.String()
}

func docx() []byte {
	return stored("[Content_Types].xml", "<Types/>", "docProps/core.xml", `<cp:coreProperties><dc:title>On Engines</dc:title></cp:coreProperties>`,
		"word/document.xml", `<?xml version="1.0"?><w:document><w:body>`+eachLine("<w:p><w:r><w:t>%s</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>")+`</w:body></w:document>`)
}

func odt() []byte {
	return stored("mimetype", "application/vnd.oasis.opendocument.text", "meta.xml", `<office:meta><dc:title>On Engines</dc:title></office:meta>`,
		"content.xml", `<?xml version="1.0"?><office:text>`+eachLine("<text:p>%s</text:p>")+`</office:text>`)
}

func rtf() []byte {
	var b strings.Builder
	b.WriteString(`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}}{\info{\title On Engines}}\f0 `)
	for _, p := range paragraphs {
		b.WriteString(strings.ReplaceAll(p, "ö", `\'f6`) + `\par `)
	}
	return []byte(b.String() + "}")
}

// oldWord is a .doc as Word 97 writes it: a compound file with a stream of text.
func oldWord() []byte {
	text := strings.ReplaceAll(strings.Join(paragraphs, "\r")+"\r", "ö", "\xf6")
	word := make([]byte, 512)
	put16, put32 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32
	put16(word, 0xa5ec)
	put16(word[2:], 0xc1)
	put32(word[24:], 512)
	put32(word[28:], uint32(512+len(text)))
	word = append(word, text...)
	word = append(word, make([]byte, max(4096, (len(word)+511)/512*512)-len(word))...)
	sectors := len(word) / 512
	head := bytes.Repeat([]byte{0xff}, 512)
	clear(head[:76])
	copy(head, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	for i, v := range []uint16{0x3e, 3, 0xfffe, 9, 6} {
		put16(head[24+2*i:], v)
	}
	put32(head[44:], 1)    // one sector of the table,
	put32(head[48:], 1)    // the directory in the second,
	put32(head[56:], 4096) // no small streams
	put32(head[60:], 0xfffffffe)
	put32(head[68:], 0xfffffffe)
	put32(head[76:], 0) // and the table in the first
	table := bytes.Repeat([]byte{0xff}, 512)
	put32(table, 0xfffffffd)
	put32(table[4:], 0xfffffffe)
	for i := range sectors {
		next := uint32(3 + i)
		if i == sectors-1 {
			next = 0xfffffffe
		}
		put32(table[4*(2+i):], next)
	}
	dir := make([]byte, 512)
	for i, e := range []struct {
		name               string
		kind               byte
		child, start, size uint32
	}{{"Root Entry", 5, 1, 0xfffffffe, 0}, {"WordDocument", 2, 0xffffffff, 2, uint32(len(word))}} {
		at := dir[128*i:]
		for k, u := range utf16.Encode([]rune(e.name)) {
			put16(at[2*k:], u)
		}
		put16(at[64:], uint16(2*len(e.name)+2))
		at[66], at[67] = e.kind, 1
		put32(at[68:], 0xffffffff)
		put32(at[72:], 0xffffffff)
		put32(at[76:], e.child)
		put32(at[116:], e.start)
		put32(at[120:], e.size)
	}
	return bytes.Join([][]byte{head, table, dir, word}, nil)
}

func latexSource() []byte {
	var b strings.Builder
	b.WriteString("\\documentclass{article} % a comment\n\\title{On \\emph{Engines}}\n\\author{Ada Lovelace \\and Kurt G\\\"odel}\n\\begin{document}\n\\maketitle\n")
	b.WriteString("\\begin{abstract}\nIn this paper we show that engines run. % or not\n\\end{abstract}\n\\section{Introduction}\\label{sec:i}\n")
	b.WriteString(strings.Repeat("Engines run, as Babbage~\\cite{b} had it, 50\\% of the time.\n", 60))
	b.WriteString("\\begin{thebibliography}{9}\n\\bibitem{b} C. Babbage. {\\em On the Economy}. 1832.\n\\bibitem[O01]{o} K. Other. Looms. 1801.\n\\bibitem{c} B. Third. Cards. 1805.\n\\end{thebibliography}\n\\end{document}\nnot this\n")
	return []byte(b.String())
}

func jats() []byte {
	return []byte(`<?xml version="1.0" encoding="iso-8859-1"?><!DOCTYPE article><article><front><article-title>On Engines</article-title><contrib>Ada Lovelace and Kurt G` + "\xf6" + `del</contrib>
<abstract><p>In this paper we show that engines run.</p></abstract></front><body><sec><title>Introduction</title>` + strings.Repeat("<p>Engines run, as Babbage &amp; others had it, and they run well.</p>", 60) + `</sec></body>
<back><ref-list><ref>[1] C. Babbage. On the Economy. 1832.</ref><ref>[2] K. Other. Looms. 1801.</ref><ref>[3] B. Third. Cards. 1805.</ref></ref-list></back></article>`)
}

// Each format in which E takes papers is read: its title, letters, sections and
// references are those of the paper.
func TestReadWordProcessors(t *testing.T) {
	t.Parallel()
	_, lacks := exec.LookPath("catdoc")
	r := NewReader(Options{})
	for name, c := range map[string]struct {
		body   []byte
		kind   Kind
		reader string
		title  string
	}{
		"p.docx": {docx(), Word, "office", "On Engines"}, "p.odt": {odt(), Word, "office", "On Engines"},
		"p.rtf": {rtf(), Word, "catdoc", ""}, "p.doc": {oldWord(), Word, "catdoc", ""},
		"p.tex": {latexSource(), LaTeX, "latex", "On Engines"}, "p.xml": {jats(), XML, "xml", ""},
		"p.txt": {[]byte(strings.Join(paragraphs, "\n")), PlainText, "text", ""},
	} {
		if lacks != nil && c.reader == "catdoc" {
			t.Log("catdoc is not installed")
			continue
		}
		got := read(t, r, name, c.body)
		assert.Equal(t, []any{OK, c.kind, c.reader, c.title}, []any{got.Outcome, got.Kind, got.Reader, got.Title}, "%s: %s", name, got.Detail)
		text := got.String()
		for _, want := range []string{"On Engines", "Ada Lovelace", "Gödel", "Abstract\n", "Introduction\n", "References\n", "[2] K. Other. Looms."} {
			assert.Contains(t, text+"\n", want, name)
		}
		assert.NotContains(t, text, "gone", name)
		assert.NotContains(t, text, `\`, name)
		assert.Equal(t, 3, countReferences(got), name)
		list := growthFilter.Judge(got, Hints{}).ReferenceList
		require.Len(t, list, 3, name)
		assert.Regexp(t, `^\[2\] K\. Other\. Looms\..* ?1801\.$`, list[1], name)
	}
}

// What is broken, or made to harm, is named.
func TestWordProcessorsOutcomes(t *testing.T) {
	t.Parallel()
	r := NewReader(Options{})
	none := NewReader(Options{Catdoc: "-"})
	bomb := stored("word/document.xml", strings.Repeat("<w:t>a</w:t>", 2<<20))
	for name, c := range map[string]struct {
		r    *Reader
		body []byte
		want Outcome
	}{
		"bomb.docx":  {r, bomb, TooLarge},
		"cut.docx":   {r, docx()[:300], Unreadable},
		"none.docx":  {r, stored("word/styles.xml", "<a/>"), Unreadable},
		"empty.docx": {r, stored("word/document.xml", "<w:p/>"), EmptyFile},
		"x.doc":      {none, oldWord(), NoReader},
		"x.rtf":      {none, rtf(), NoReader},
		"data.xml":   {r, []byte("<?xml version=\"1.0\"?><rows>" + strings.Repeat("<row>one two three</row>", 99) + "</rows>"), NotADocument},
	} {
		got, err := c.r.Read(t.Context(), Part{Name: name, Kind: map[bool]Kind{true: XML, false: Word}[name == "data.xml"], Body: c.body})
		require.NoError(t, err)
		assert.Equal(t, c.want, got.Outcome, "%s: %s", name, got.Detail)
	}
}
