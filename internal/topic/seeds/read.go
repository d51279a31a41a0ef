package seeds

import (
	"bufio"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// Entry is a page in a directory.
type Entry struct {
	URL         string
	Category    string // its path, such as Top/Science/Math/Number_Theory
	Title       string
	Description string
}

// ErrFormat is what is wrong with a dump; its text says what.
var ErrFormat = errors.New("no dump of a directory")

// maxEntry bounds what a dump says of one page, in bytes.
const maxEntry = 1 << 20

// Each hands over the entries of a dump in its order, until do says no, and returns how
// many could not be read. A dump that breaks off is an ErrFormat after the entries before.
func Each(dump io.Reader, do func(Entry) bool) (broken int, err error) {
	in := bufio.NewReader(dump)
	if head, _ := in.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		defer func() { _ = z.Close() }()
		in = bufio.NewReader(z)
	}
	m := &meter{in: transform.NewReader(in, transform.Chain(runes.ReplaceIllFormed(), runes.Map(printed)))}
	text := bufio.NewReader(m)
	head, err := text.Peek(1)
	for ; err == nil && (unicode.IsSpace(rune(head[0])) || head[0] == 0xEF || head[0] == 0xBB || head[0] == 0xBF); head, err = text.Peek(1) {
		_, _ = text.Discard(1)
	}
	switch {
	case errors.Is(err, io.EOF):
		return 0, fmt.Errorf("%w: it is empty", ErrFormat)
	case err != nil:
		return 0, fmt.Errorf("%w: %w", ErrFormat, err)
	case head[0] == '<':
		r := rdf{in: text, m: m, do: do}
		broken, err = r.each()
	default:
		broken, err = eachRow(text, m, do)
	}
	if err != nil && !errors.Is(err, ErrFormat) {
		err = fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return broken, err
}

// printed blanks the control characters with which dumps are strewn: XML has none.
func printed(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
		return ' '
	}
	return r
}

// meter bounds what is read for one entry.
type meter struct {
	in io.Reader
	n  int
}

func (m *meter) Read(p []byte) (int, error) {
	if m.n > maxEntry {
		return 0, fmt.Errorf("%w: one entry has more than %d bytes", ErrFormat, maxEntry)
	}
	n, err := m.in.Read(p[:min(len(p), 64<<10)])
	m.n += n
	return n, err
}

func (m *meter) next() { m.n = 0 }

// maxDepth is how many elements of RDF may be open at once, and how many parts of a
// category's path are looked at.
const maxDepth = 100

// rdf reads what the Open Directory wrote: an ExternalPage for each page, with its
// title, description and topic, and Topics with links.
type rdf struct {
	in *bufio.Reader
	m  *meter
	do func(Entry) bool

	dec      *xml.Decoder
	page     *Entry  // that is open; nil where none is
	category string  // of the Topic that is open; "" where none is
	says     *string // the element of the page that is open
	depth    int
	met      bool // some page
}

func (r *rdf) begin() {
	r.dec = xml.NewDecoder(r.in)
	r.dec.Strict, r.dec.Entity = false, xml.HTMLEntity
	r.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	r.page, r.category, r.says, r.depth = nil, "", nil, 0
}

// each goes on behind what is no XML, where the file goes on.
func (r *rdf) each() (broken int, err error) {
	r.begin()
	for {
		token, err := r.dec.Token()
		var wrong *xml.SyntaxError
		switch {
		case errors.Is(err, io.EOF) && !r.met:
			return broken, fmt.Errorf("%w: it has no page (ExternalPage, link)", ErrFormat)
		case errors.Is(err, io.EOF):
			return broken, nil
		case errors.As(err, &wrong):
			if _, ended := r.in.Peek(1); ended != nil && r.depth > 0 {
				return broken, err
			}
			if r.page != nil || r.category != "" {
				broken++
			}
			r.begin()
			continue
		case err != nil:
			return broken, err
		}
		more, err := r.take(token)
		if !more || err != nil {
			return broken, err
		}
	}
}

func (r *rdf) take(token xml.Token) (more bool, err error) {
	more = true
	switch t := token.(type) {
	case xml.StartElement:
		if r.depth++; r.depth > maxDepth {
			return false, fmt.Errorf("%w: more than %d elements are open at once", ErrFormat, maxDepth)
		}
		more = r.start(t)
	case xml.CharData:
		if r.says != nil {
			*r.says += string(t)
		}
	case xml.EndElement:
		r.says = nil
		r.depth--
		switch {
		case t.Name.Local == "Topic":
			r.category = ""
		case t.Name.Local == "ExternalPage" && r.page != nil:
			more = r.do(*r.page)
			r.page = nil
		}
	}
	if r.page == nil && r.category == "" {
		r.m.next()
	}
	return more, nil
}

// start takes the beginning of an element. What is said of a page again stands in place
// of what was said before.
func (r *rdf) start(t xml.StartElement) (more bool) {
	r.says = nil
	switch t.Name.Local {
	case "ExternalPage":
		r.page, r.met = &Entry{URL: attribute(t, "about")}, true
		r.m.next()
	case "Topic":
		r.category = attribute(t, "id", "about")
		r.m.next()
	case "link", "link1":
		r.met = true
		r.m.next()
		return r.category == "" || r.do(Entry{URL: attribute(t, "resource"), Category: r.category})
	}
	if r.page == nil {
		return true
	}
	switch t.Name.Local {
	case "Title":
		r.says = &r.page.Title
	case "Description":
		r.says = &r.page.Description
	case "topic":
		r.says = &r.page.Category
	}
	if r.says != nil {
		*r.says = ""
	}
	return true
}

// attribute is the first of an element's attributes that has one of these names.
func attribute(e xml.StartElement, names ...string) string {
	for _, a := range e.Attr {
		if slices.Contains(names, a.Name.Local) {
			return a.Value
		}
	}
	return ""
}

// columns are the names of a table's columns, by what they hold.
var columns = map[string][]string{
	"url":         {"url", "link", "address", "uri"},
	"category":    {"category", "categories", "topic", "path", "subject"},
	"title":       {"title", "name"},
	"description": {"description", "text"},
}

// eachRow reads a table with a header.
func eachRow(in *bufio.Reader, m *meter, do func(Entry) bool) (broken int, err error) {
	head, err := in.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	comma := ','
	if strings.Contains(head, "\t") {
		comma = '\t'
	}
	table := func(from io.Reader) *csv.Reader {
		r := csv.NewReader(from)
		r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = comma, true, -1, true
		return r
	}
	names, err := table(strings.NewReader(head)).Read()
	if err != nil {
		return 0, err
	}
	at := map[string]int{}
	for what, spellings := range columns {
		at[what] = slices.IndexFunc(names, func(name string) bool { return slices.Contains(spellings, strings.ToLower(strings.TrimSpace(name))) })
	}
	if at["url"] < 0 || at["category"] < 0 {
		return 0, fmt.Errorf("%w: want RDF, or a table whose first line names the columns url and category; it names %.200q", ErrFormat, names)
	}
	rows := table(in)
	for {
		m.next()
		row, err := rows.Read()
		var wrong *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return broken, nil
		case errors.As(err, &wrong) && !errors.Is(err, ErrFormat):
			broken++
			continue
		case err != nil:
			return broken, err
		}
		cell := func(what string) string {
			if i := at[what]; i >= 0 && i < len(row) {
				return strings.Clone(strings.TrimSpace(row[i]))
			}
			return ""
		}
		if !do(Entry{URL: cell("url"), Category: cell("category"), Title: cell("title"), Description: cell("description")}) {
			return broken, nil
		}
	}
}
