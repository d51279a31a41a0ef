package document

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

// Kind names a file format. The words are stored and shown.
type Kind string

// The kinds. Those of IsDocument may hold a paper, those of IsPacked are
// unpacked first.
const (
	PDF          Kind = "pdf"
	PostScript   Kind = "postscript"
	DVI          Kind = "dvi"
	DjVu         Kind = "djvu"
	HTML         Kind = "html"
	Word         Kind = "word" // .doc, .docx, .rtf, .odt
	LaTeX        Kind = "latex"
	BibTeX       Kind = "bibtex"
	PlainText    Kind = "text"
	Presentation Kind = "presentation" // .ppt, .pptx, .odp
	Spreadsheet  Kind = "spreadsheet"  // .xls, .xlsx, .ods
	EPUB         Kind = "epub"
	XML          Kind = "xml"
	Image        Kind = "image"
	Media        Kind = "media" // sound and video
	Gzip         Kind = "gzip"
	Compress     Kind = "compress" // .Z
	Bzip2        Kind = "bzip2"
	Zip          Kind = "zip"
	Tar          Kind = "tar"
	Packed       Kind = "packed"      // xz, 7z, rar, zstd: named, not opened
	WebArchive   Kind = "web archive" // WARC or ARC: imported by its own format
	Empty        Kind = "empty"
	Unknown      Kind = "unknown"
)

// IsDocument reports whether a paper can come in this kind of file.
func (k Kind) IsDocument() bool {
	switch k {
	case PDF, PostScript, DVI, DjVu, HTML, Word, LaTeX, PlainText, XML, EPUB, Presentation:
		return true
	}
	return false
}

// IsPaper reports whether papers are published as files of this kind. It leaves out plain
// text and markup, which are mostly code, notes and pages where an archive holds them.
func (k Kind) IsPaper() bool { return k.IsDocument() && k != HTML && k != PlainText && k != XML }

// IsPacked reports whether Unpack opens this kind.
func (k Kind) IsPacked() bool {
	switch k {
	case Gzip, Compress, Bzip2, Zip, Tar:
		return true
	}
	return false
}

// sniffWindow is how far into a file its text is looked at.
const sniffWindow = 16 << 10

// Sniff tells the kind of a file from its bytes. Name and media type only
// settle what bytes leave open: they decide between kinds of plain text.
func Sniff(name, mediaType string, body []byte) Kind {
	if len(bytes.TrimSpace(head(body, sniffWindow))) == 0 && len(body) <= sniffWindow {
		return Empty
	}
	if k := sniffMagic(body); k != "" {
		return k
	}
	if k := sniffText(name, mediaType, body); k != "" {
		return k
	}
	return sniffOther(body)
}

func head(b []byte, n int) []byte { return b[:min(len(b), n)] }

// sniffMagic knows the formats that begin with a signature.
func sniffMagic(b []byte) Kind {
	h := head(b, 1024)
	switch {
	case bytes.HasPrefix(h, []byte("%PDF-")):
		return PDF
	case bytes.HasPrefix(h, []byte{0x1f, 0x8b}):
		return Gzip
	case bytes.HasPrefix(h, []byte{0x1f, 0x9d}):
		return Compress
	case bytes.HasPrefix(h, []byte("BZh")) && len(h) > 9 && bytes.Equal(h[4:10], []byte("1AY&SY")):
		return Bzip2
	case bytes.HasPrefix(h, []byte("PK\x03\x04")) || bytes.HasPrefix(h, []byte("PK\x05\x06")):
		return sniffZip(b)
	case bytes.HasPrefix(h, []byte{0xf7, 0x02, 0x01, 0x83, 0x92, 0xc0}), bytes.HasPrefix(h, []byte{0xf7, 0x02}) && len(h) > 14:
		return DVI
	case bytes.HasPrefix(h, []byte("AT&TFORM")):
		return DjVu
	case bytes.HasPrefix(h, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return sniffOLE(b)
	case bytes.HasPrefix(h, []byte("{\\rtf")):
		return Word
	case len(b) > 262 && bytes.Equal(b[257:262], []byte("ustar")):
		return Tar
	case isPostScript(h):
		return PostScript
	case bytes.HasPrefix(h, []byte("WARC/")), bytes.HasPrefix(h, []byte("filedesc://")):
		return WebArchive
	}
	// Junk before the header is common (mail headers, a byte order mark, HTTP
	// headers that a server repeated); readers accept it within 1,024 bytes. A
	// web page that speaks of "%PDF-" is still a web page.
	if i := bytes.Index(h, []byte("%PDF-")); i > 0 && !looksHTML(h[:i]) {
		return PDF
	}
	return ""
}

// isPostScript accepts a control-D or a printer job language prologue ahead of
// the "%!", as spoolers write them, and the DOS header of binary EPS.
func isPostScript(h []byte) bool {
	if bytes.HasPrefix(h, []byte("\xc5\xd0\xd3\xc6")) {
		return true
	}
	h = bytes.TrimLeft(h, "\x04\r\n\t \ufeff")
	if bytes.HasPrefix(h, []byte("%!")) {
		return true
	}
	return bytes.HasPrefix(h, []byte("\x1b%-12345X")) && bytes.Contains(h, []byte("%!PS"))
}

// sniffZip tells office formats, which are zip files, from archives.
func sniffZip(b []byte) Kind {
	h := head(b, 64<<10)
	has := func(s string) bool { return bytes.Contains(h, []byte(s)) }
	switch {
	case has("word/"), has("mimetypeapplication/vnd.oasis.opendocument.text"):
		return Word
	case has("ppt/"), has("mimetypeapplication/vnd.oasis.opendocument.presentation"):
		return Presentation
	case has("xl/workbook"), has("xl/worksheets"), has("mimetypeapplication/vnd.oasis.opendocument.spreadsheet"):
		return Spreadsheet
	case has("mimetypeapplication/epub+zip"):
		return EPUB
	}
	return Zip
}

// sniffOLE looks for the stream names of the old office formats (UTF-16).
func sniffOLE(b []byte) Kind {
	wide := func(s string) []byte { return []byte(strings.Join(strings.Split(s, ""), "\x00")) }
	switch {
	case bytes.Contains(b, wide("WordDocument")):
		return Word
	case bytes.Contains(b, wide("PowerPoint Document")):
		return Presentation
	case bytes.Contains(b, wide("Workbook")):
		return Spreadsheet
	}
	return Unknown
}

var (
	partTag   = regexp.MustCompile(`(?i)<(p|h[1-6]|a|ul|ol|li|br|hr|b|i|em|strong|center|font|img|span|pre|blockquote)[\s/>]`)
	htmlTag   = regexp.MustCompile(`(?i)<(!doctype\s+html|html|head|body|title|meta|script|table|div|frameset)[\s>/]`)
	pageTag   = regexp.MustCompile(`(?i)<(a\s|(html|body)[\s>])`)
	latexMark = regexp.MustCompile(`\\(documentclass|documentstyle|begin\s*\{document\}|chapter\s*\{|section\s*\{)`)
	bibMark   = regexp.MustCompile(`(?im)^\s*@(article|inproceedings|conference|book|incollection|inbook|misc|techreport|phdthesis|mastersthesis|proceedings|unpublished|string)\s*[{(]`)
)

func looksHTML(b []byte) bool {
	t := bytes.TrimLeft(b, "\xef\xbb\xbf \t\r\n")
	if !bytes.HasPrefix(t, []byte("<")) {
		return false
	}
	if bytes.HasPrefix(t, []byte("<?xml")) { // an article in XML has a title, too
		return bytes.Contains(bytes.ToLower(head(t, 4096)), []byte("<html"))
	}
	return htmlTag.Match(head(t, 4096))
}

// sniffText tells texts apart: web pages, LaTeX, BibTeX, XML, plain.
func sniffText(name, mediaType string, body []byte) Kind {
	w := head(body, sniffWindow)
	if looksHTML(w) {
		return HTML
	}
	if !isText(w) {
		return ""
	}
	switch {
	case latexMark.Match(w):
		return LaTeX
	case bibMark.Match(w) && !(strings.Contains(mediaType, "html") && pageTag.Match(w)):
		return BibTeX
	case bytes.HasPrefix(bytes.TrimLeft(w, "\xef\xbb\xbf \t\r\n"), []byte("<?xml")):
		if bytes.Contains(w, []byte("<html")) {
			return HTML
		}
		return XML
	case len(htmlTag.FindAll(w, 3)) >= 3, strings.Contains(mediaType, "html") && (htmlTag.Match(w) || partTag.Match(w)):
		return HTML
	case strings.HasSuffix(strings.ToLower(name), ".tex") && bytes.Contains(w, []byte(`\`)):
		return LaTeX
	}
	return PlainText
}

// isText accepts UTF-8 and the Latin encodings: few control characters, and
// what is not ASCII is either valid UTF-8 or rare.
func isText(b []byte) bool {
	control, high := 0, 0
	for _, c := range b {
		switch {
		case c == '\t' || c == '\n' || c == '\r' || c == '\f':
		case c < 0x20 || c == 0x7f:
			control++
		case c >= 0x80:
			high++
		}
	}
	if control*200 > len(b) {
		return false
	}
	return high*10 <= len(b)*3 || utf8.Valid(b[:len(b)-min(3, len(b))])
}

// sniffOther leaves the long tail to the mimetype library.
func sniffOther(body []byte) Kind {
	m := mimetype.Detect(head(body, 4096)).String()
	switch {
	case strings.HasPrefix(m, "image/"):
		return Image
	case strings.HasPrefix(m, "audio/"), strings.HasPrefix(m, "video/"):
		return Media
	case strings.Contains(m, "x-xz"), strings.Contains(m, "7z"), strings.Contains(m, "rar"), strings.Contains(m, "zstd"):
		return Packed
	}
	return Unknown
}
