package document

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"iter"
	"strings"

	"golang.org/x/net/html/charset"
)

// readWord reads what word processors write: .docx and .odt, which are XML in a zip,
// here; .doc and .rtf by catdoc, in the box.
func (r *Reader) readWord(ctx context.Context, p Part, t *Text) error {
	if !bytes.HasPrefix(p.Body, []byte("PK")) {
		return r.catdoc(ctx, p, t)
	}
	t.Reader, t.PageCount = "office", 1
	text, err := readOffice(ctx, p, t)
	var bad *UnpackError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &bad):
		t.end(bad.Outcome, bad.Error())
	case err != nil:
		t.end(Unreadable, err.Error())
	default:
		r.settlePlain(t, text)
	}
	return nil
}

// settlePlain takes text whose pages form feeds part.
func (r *Reader) settlePlain(t *Text, text string) {
	t.Pages = nil
	for page := range strings.SplitSeq(strings.Trim(text, "\f\n "), "\f") {
		t.Pages = append(t.Pages, tidy(page))
	}
	t.PageCount, t.First = len(t.Pages), plainLayout(t.Pages, 0, 0)
	switch {
	case t.Words() < r.opt.MinWords:
		t.end(EmptyFile, "fewer words than a document has")
	case t.garbled():
		t.end(Garbled, "its letters cannot be told")
	default:
		t.end(OK, "")
	}
}

// officeMember bounds what one member of an office file may unpack to, in bytes:
// the text of a paper takes a tenth of a megabyte of XML.
const officeMember = 16 << 20

// readOffice takes the text of a .docx or .odt, and its title, within the limits on
// archives.
func readOffice(ctx context.Context, p Part, t *Text) (string, error) {
	u := newUnpacker(ctx, p.Body, Limits{Member: officeMember})
	z, err := u.openZip(p.Name, p.Body)
	if err != nil {
		return "", err
	}
	text, found := "", false
	for _, f := range z.File {
		if f.Name != "word/document.xml" && f.Name != "content.xml" && f.Name != "docProps/core.xml" && f.Name != "meta.xml" {
			continue
		}
		rd, err := f.Open()
		if err != nil {
			return "", unpackError(f.Name, err)
		}
		body, err := u.read(f.Name, rd)
		_ = rd.Close()
		switch {
		case err != nil:
			return "", err
		case f.Name == "word/document.xml" || f.Name == "content.xml":
			text, found = officeText(body), true
		case t.Title == "":
			t.Title = officeTitle(body)
		}
	}
	if !found {
		return "", errors.New("no text is in it")
	}
	return text, nil
}

// longestToken bounds one tag, comment or run of text of XML, in bytes: what holds the
// attributes of a tag takes twenty times the memory of what it is read from.
const longestToken = 1 << 20

// tokens reads XML without a tree, up to its end, an error that cannot be passed over, or a token
// that is too long. Each token is valid until the next one.
func tokens(body []byte) iter.Seq[xml.Token] {
	m := &markup{}
	m.in.Reset(body)
	d := xml.NewDecoder(m)
	d.Strict, d.Entity, d.CharsetReader = false, xml.HTMLEntity, charset.NewReaderLabel
	return func(yield func(xml.Token) bool) {
		for {
			m.left = longestToken
			if tok, err := d.RawToken(); err != nil || !yield(tok) {
				return
			}
		}
	}
}

// markup bounds the bytes of a token.
type markup struct {
	in   bytes.Reader
	left int
}

// Read implements io.Reader, which the decoder wants in other character sets.
func (m *markup) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errLimit
	}
	n, err := m.in.Read(p)
	m.left -= n
	return n, err
}

func (m *markup) ReadByte() (byte, error) {
	if m.left--; m.left < 0 {
		return 0, errLimit
	}
	return m.in.ReadByte()
}

// officeText is the text of WordprocessingML or OpenDocument: paragraphs and
// headings are lines, what was deleted or says how a field is made is left out.
func officeText(body []byte) string {
	var b strings.Builder
	skip := 0
	for tok := range tokens(body) {
		if b.Len() > mostText {
			break
		}
		switch x := tok.(type) {
		case xml.StartElement:
			skip += boolInt(notText(x.Name))
			b.WriteString(officeSpace(x))
		case xml.EndElement:
			skip = max(0, skip-boolInt(notText(x.Name)))
			if x.Name.Local == "p" || x.Name.Local == "h" {
				b.WriteByte('\n')
			}
		case xml.CharData:
			if skip == 0 {
				b.Write(x)
			}
		}
	}
	return clean(b.String())
}

func notText(n xml.Name) bool {
	switch n.Local {
	case "del", "instrText", "delText", "tracked-changes", "annotation", "styles", "font-face-decls", "automatic-styles":
		return true
	}
	return false
}

// officeSpace is what an element stands for by itself.
func officeSpace(x xml.StartElement) string {
	switch x.Name.Local {
	case "tab", "s":
		return " "
	case "soft-page-break", "lastRenderedPageBreak":
		return "\f"
	case "line-break", "cr":
		return "\n"
	case "br":
		for _, a := range x.Attr {
			if a.Name.Local == "type" && a.Value == "page" {
				return "\f"
			}
		}
		return "\n"
	}
	return ""
}

// officeTitle is dc:title of the file's properties.
func officeTitle(body []byte) string {
	in := false
	for tok := range tokens(body) {
		switch x := tok.(type) {
		case xml.StartElement:
			in = x.Name.Local == "title"
		case xml.EndElement:
			in = false
		case xml.CharData:
			if s := strings.TrimSpace(string(x)); in && s != "" {
				return clean(s)
			}
		}
	}
	return ""
}

// catdoc reads .doc and .rtf.
func (r *Reader) catdoc(ctx context.Context, p Part, t *Text) error {
	if r.opt.Catdoc == "" {
		t.end(NoReader, "Word and RTF files need catdoc, which is not installed")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.opt.Timeout)
	defer cancel()
	j, remove, err := r.newJob(p.Body, "document.doc", r.opt.CPU)
	if err != nil {
		return err
	}
	defer remove()
	got, err := j.run(ctx, r.plain(), nil, r.opt.Catdoc, "-w", "-d", "utf-8", j.file)
	if err != nil {
		return err
	}
	t.Reader = "catdoc"
	o, detail := got.overLimit("catdoc")
	switch {
	case o != "":
		t.end(o, detail)
	case strings.Contains(got.stderr, "ncrypted"):
		t.end(Encrypted, firstLine(got.stderr))
	case got.exit != 0 && len(got.stdout) == 0:
		t.end(Unreadable, firstLine(got.stderr))
	default:
		r.settlePlain(t, clean(string(got.stdout)))
	}
	return nil
}

// xmlBlock knows the elements of JATS, TEI and DocBook that begin a line, and those
// that stand for a heading.
func xmlBlock(name string) (line bool, heading string) {
	switch name {
	case "abstract":
		return true, "Abstract"
	case "ref-list", "listBibl", "bibliography":
		return true, "References"
	case "ack", "acknowledgements":
		return true, "Acknowledgements"
	case "p", "para", "title", "article-title", "sec", "section", "sect1", "sect2", "div", "head", "label", "ref", "bibl", "biblStruct", "biblioentry", "bibliomixed",
		"contrib", "author", "aff", "caption", "list-item", "listitem", "item", "formula", "fig", "figure", "table", "tr", "row", "li", "byline", "kwd-group":
		return true, ""
	}
	return false, ""
}

// readXML takes the text of an article in XML. As of a web page its sections say
// whether it is one.
func (r *Reader) readXML(p Part, t *Text) {
	t.Reader = "xml"
	var b strings.Builder
	for tok := range tokens(p.Body) {
		if b.Len() > mostText {
			break
		}
		switch x := tok.(type) {
		case xml.StartElement:
			if line, heading := xmlBlock(x.Name.Local); line {
				b.WriteString("\n" + heading + "\n")
			}
		case xml.EndElement:
			if line, _ := xmlBlock(x.Name.Local); line {
				b.WriteByte('\n')
			} else {
				b.WriteByte(' ')
			}
		case xml.CharData:
			b.Write(x)
		}
	}
	if r.settlePlain(t, clean(b.String())); t.Outcome == OK && !t.Sectioned() {
		t.end(NotADocument, "XML without a paper's sections")
	}
}
