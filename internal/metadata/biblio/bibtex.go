package biblio

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"gleaner/internal/gleaner"
)

// maxEntry bounds one BibTeX entry, in bytes; an unclosed brace would otherwise
// swallow the rest of a large file.
const maxEntry = 4 << 20

// maxExpanded bounds what the abbreviations of one file stand for, in bytes beyond those of
// the file, each time that they are used: one may stand for others, which stand for others.
const maxExpanded = 4 << 20

// maxValue bounds a value that is joined of others, in bytes: a name takes ten times its
// bytes of memory, and physics has papers with 5,000.
const maxValue = 1 << 20

// bibReader reads BibTeX byte by byte and knows where it is.
type bibReader struct {
	in           *bufio.Reader
	line, column int
	prevColumn   int
	read         int // bytes of this entry
	all          int // bytes of the file
	strings      map[string]string
	expanded     int               // bytes that abbreviations stood for
	fields       map[string]string // of the last entry
}

// EachBibTeX hands on the entries of a BibTeX file that can be read, each with its fields by
// lower-case name. Errors are those of do and of the reader.
func EachBibTeX(in io.Reader, do func(p gleaner.Paper, fields map[string]string) error) error {
	r := newBibReader(bufio.NewReaderSize(in, 64<<10))
	return r.each(func(p gleaner.Paper) error { return do(p, r.fields) }, func(*SyntaxError) error { return nil })
}

func newBibReader(br *bufio.Reader) *bibReader { return &bibReader{in: br, line: 1, strings: months()} }

func (r *bibReader) each(do func(gleaner.Paper) error, bad func(*SyntaxError) error) error {
	for {
		// Whatever stands between entries is a comment.
		c, err := r.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if c == '%' { // a commented-out entry is not an entry
			if err := r.skipLine(); err != nil {
				return err
			}
			continue
		}
		if c != '@' {
			continue
		}
		r.read = 0
		line, column := r.line, r.column
		p, ok, err := r.entry()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return tell(failAt(line, column, "the entry that begins here is not closed before the file ends: is a brace missing?"), bad)
		}
		if err != nil {
			if err := tell(err, bad); err != nil {
				return err
			}
			if err := r.skipEntry(); err != nil {
				return err
			}
			continue
		}
		if ok {
			if err := take(p, line, do, bad); err != nil {
				return err
			}
		}
	}
}

// months are the abbreviations that BibTeX's styles define.
func months() map[string]string {
	m := map[string]string{}
	for _, name := range []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"} {
		m[strings.ToLower(name[:3])] = name
	}
	m["sept"] = "September"
	return m
}

func (r *bibReader) next() (byte, error) {
	c, err := r.in.ReadByte()
	if err != nil {
		return 0, err
	}
	r.prevColumn = r.column
	r.column++
	r.read++
	r.all++
	if c == '\n' {
		r.line++
		r.column = 0
	}
	if r.read > maxEntry {
		return c, r.fail("an entry of more than %d bytes: is a brace missing?", maxEntry)
	}
	return c, nil
}

func (r *bibReader) back(c byte) {
	_ = r.in.UnreadByte()
	r.read--
	r.all--
	if c == '\n' {
		r.line--
	}
	r.column = r.prevColumn
}

func (r *bibReader) fail(format string, args ...any) error {
	return failAt(r.line, max(1, r.column), format, args...)
}

func (r *bibReader) skipLine() error {
	for {
		r.read = 0
		c, err := r.next()
		if err == io.EOF || c == '\n' {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// skipEntry goes on before the next line that begins an entry.
func (r *bibReader) skipEntry() error {
	for {
		r.read = 0
		c, err := r.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if c == '@' && r.column == 1 {
			r.back(c)
			return nil
		}
	}
}

// skipSpace returns the first byte that is not a space.
func (r *bibReader) skipSpace() (byte, error) {
	for {
		c, err := r.next()
		if err != nil {
			return 0, err
		}
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c, nil
		}
	}
}

// word reads a name: of an entry type, a key, a field or a string.
func (r *bibReader) word(stop string) (string, error) {
	c, err := r.skipSpace()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for {
		if strings.IndexByte(stop, c) >= 0 || c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			r.back(c)
			return b.String(), nil
		}
		b.WriteByte(c)
		if c, err = r.next(); err != nil {
			return "", err
		}
	}
}

// entry reads what follows an '@'; ok is false for what is no reference.
func (r *bibReader) entry() (gleaner.Paper, bool, error) {
	var p gleaner.Paper
	kind, err := r.word("{(,=}@")
	if err != nil {
		return p, false, err
	}
	open, err := r.skipSpace()
	if err != nil {
		return p, false, err
	}
	if open != '{' && open != '(' {
		return p, false, r.fail("want { after @%.20s, found %q", kind, open)
	}
	closing := byte('}')
	if open == '(' {
		closing = ')'
	}
	switch strings.ToLower(kind) {
	case "comment", "preamble":
		_, err := r.balanced(closing)
		return p, false, err
	case "string":
		return p, false, r.definition(closing)
	case "":
		return p, false, r.fail("want a type of entry after @")
	}
	start := r.line
	key, err := r.word(",}")
	if err != nil {
		return p, false, err
	}
	r.fields, err = r.readFields(closing)
	if err != nil {
		return p, false, err
	}
	p, err = paperOfFields(key, r.fields)
	if err != nil {
		return p, false, failAt(start, 0, "entry %s: %v", key, err)
	}
	return p, true, nil
}

// definition reads name = value of an @string.
func (r *bibReader) definition(closing byte) error {
	name, err := r.word("=}")
	if err != nil {
		return err
	}
	if c, err := r.skipSpace(); err != nil || c != '=' {
		if err == nil {
			err = r.fail("want = after %q in @string, found %q", name, c)
		}
		return err
	}
	v, err := r.value()
	if err != nil {
		return err
	}
	r.strings[strings.ToLower(name)] = v
	c, err := r.skipSpace()
	if err == nil && c != closing {
		err = r.fail("want %q at the end of @string, found %q", closing, c)
	}
	return err
}

// readFields reads ", name = value" up to the closing brace.
func (r *bibReader) readFields(closing byte) (map[string]string, error) {
	out := map[string]string{}
	for {
		c, err := r.skipSpace()
		if err != nil {
			return nil, err
		}
		if c == closing {
			return out, nil
		}
		if c != ',' {
			return nil, r.fail("want , or %q after a field, found %q", closing, c)
		}
		if c, err = r.skipSpace(); err != nil {
			return nil, err
		}
		if c == closing {
			return out, nil
		}
		r.back(c)
		name, err := r.word("=,{}\"@#")
		if err != nil {
			return nil, err
		}
		if c, err = r.skipSpace(); err != nil {
			return nil, err
		}
		if c != '=' || name == "" {
			return nil, r.fail("want a field such as title = {…}, found %.20q and %q", name, c)
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		if name = strings.ToLower(name); out[name] == "" {
			out[name] = v
		}
	}
}

// value reads a value: braced, quoted, a number or a name, joined by '#'.
func (r *bibReader) value() (string, error) {
	var b strings.Builder
	for {
		part, err := r.part()
		if err != nil {
			return "", err
		}
		if b.Len() > 0 && b.Len()+len(part) > maxValue {
			return "", r.fail("a value joined of more than %d bytes", maxValue)
		}
		b.WriteString(part)
		c, err := r.skipSpace()
		if err != nil {
			return "", err
		}
		if c != '#' {
			r.back(c)
			return b.String(), nil
		}
	}
}

func (r *bibReader) part() (string, error) {
	c, err := r.skipSpace()
	if err != nil {
		return "", err
	}
	switch c {
	case '{':
		return r.balanced('}')
	case '"':
		return r.balanced('"')
	}
	r.back(c)
	w, err := r.word(",}#)\"{=@")
	if err != nil {
		return "", err
	}
	if w == "" {
		return "", r.fail("want a value, found %q", c)
	}
	if strings.Trim(w, "0123456789") == "" {
		return w, nil
	}
	v := r.strings[strings.ToLower(w)] // an undefined name is empty, as in BibTeX
	if r.expanded += len(v); r.expanded > maxExpanded+r.all {
		return "", r.fail("the abbreviations stand for %d bytes more than the file has", maxExpanded)
	}
	return v, nil
}

// balanced reads up to closing at the same depth of braces.
func (r *bibReader) balanced(closing byte) (string, error) {
	var b strings.Builder
	line, column := r.line, r.column
	depth := 0
	for {
		c, err := r.next()
		if err == io.EOF {
			return "", failAt(line, max(1, column), "what opens here is not closed before the file ends")
		}
		if err != nil {
			return "", err
		}
		switch {
		case c == closing && depth == 0:
			if s := b.String(); utf8.ValidString(s) {
				return s, nil
			}
			return "", failAt(line, max(1, column), notUTF8)
		case c == '\\':
			b.WriteByte(c)
			if c, err = r.next(); err != nil {
				return "", err
			}
		case c == '{':
			depth++
		case c == '}':
			if depth == 0 {
				return "", r.fail("a } without its {")
			}
			depth--
		}
		b.WriteByte(c)
	}
}
