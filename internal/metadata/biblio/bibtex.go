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
	err          error             // the first; nothing is read after it
}

// EachBibTeX calls do for the entries of a BibTeX file that can be read, each with its fields by
// lower-case name. Errors are those of do and of the reader.
func EachBibTeX(in io.Reader, do func(p gleaner.Paper, fields map[string]string) error) error {
	r := newBibReader(bufio.NewReaderSize(in, 64<<10))
	for p, err := range r.papers {
		if _, malformed := errors.AsType[*SyntaxError](err); malformed {
			continue
		}
		if err == nil {
			err = do(p, r.fields)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func newBibReader(br *bufio.Reader) *bibReader { return &bibReader{in: br, line: 1, strings: months()} }

func (r *bibReader) papers(yield func(gleaner.Paper, error) bool) {
	for more := true; more; {
		// Text between entries is a comment.
		switch c := r.next(); {
		case r.err == io.EOF:
			return
		case r.err != nil:
			yield(gleaner.Paper{}, r.err)
			return
		case c == '%': // a commented-out entry is not an entry
			r.skipLine()
			continue
		case c != '@':
			continue
		}
		r.read = 0
		line, column := r.line, r.column
		p, ok := r.entry()
		err := r.err
		r.err = nil
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			yield(p, failAt(line, column, "the entry that begins here is not closed before the file ends: is a brace missing?"))
			return
		case err != nil:
			more = yield(p, err)
			r.skipEntry()
		case ok:
			more = yield(p, identified(p, line))
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

// next is the next byte; 0 where there is none, or after an error.
func (r *bibReader) next() (c byte) {
	if r.err != nil {
		return 0
	}
	if c, r.err = r.in.ReadByte(); r.err != nil {
		return 0
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
		r.fail("an entry of more than %d bytes: is a brace missing?", maxEntry)
	}
	return c
}

func (r *bibReader) back(c byte) {
	if r.err != nil {
		return
	}
	_ = r.in.UnreadByte()
	r.read--
	r.all--
	if c == '\n' {
		r.line--
	}
	r.column = r.prevColumn
}

// fail notes an error unless there was one before.
func (r *bibReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = failAt(r.line, max(1, r.column), format, args...)
	}
}

func (r *bibReader) skipLine() {
	for c := byte(0); c != '\n' && r.err == nil; c = r.next() {
		r.read = 0
	}
}

// skipEntry goes on before the next line that begins an entry.
func (r *bibReader) skipEntry() {
	for r.err == nil {
		r.read = 0
		if c := r.next(); c == '@' && r.column == 1 {
			r.back(c)
			return
		}
	}
}

const space = " \t\r\n"

// skipSpace returns the first byte that is not a space.
func (r *bibReader) skipSpace() byte {
	for {
		if c := r.next(); strings.IndexByte(space, c) < 0 {
			return c
		}
	}
}

// word reads a name: of an entry type, a key, a field or a string.
func (r *bibReader) word(stop string) string {
	var b strings.Builder
	for c := r.skipSpace(); r.err == nil; c = r.next() {
		if strings.IndexByte(stop, c) >= 0 || strings.IndexByte(space, c) >= 0 {
			r.back(c)
			break
		}
		b.WriteByte(c)
	}
	return b.String()
}

// entry reads what follows an '@'; ok is false for what is no reference.
func (r *bibReader) entry() (p gleaner.Paper, ok bool) {
	kind := r.word("{(,=}@")
	closing := byte('}')
	switch open := r.skipSpace(); open {
	case '{':
	case '(':
		closing = ')'
	default:
		r.fail("want { after @%.20s, found %q", kind, open)
	}
	switch strings.ToLower(kind) {
	case "comment", "preamble":
		r.balanced(closing)
		return p, false
	case "string":
		r.definition(closing)
		return p, false
	case "":
		r.fail("want a type of entry after @")
	}
	start := r.line
	key := r.word(",}")
	if r.fields = r.readFields(closing); r.err != nil {
		return p, false
	}
	p, err := paperOfFields(key, r.fields)
	if err != nil {
		r.err = failAt(start, 0, "entry %s: %v", key, err)
	}
	p.Type = strings.ToLower(kind)
	return p, true
}

// definition reads name = value of an @string.
func (r *bibReader) definition(closing byte) {
	name := r.word("=}")
	if c := r.skipSpace(); c != '=' {
		r.fail("want = after %q in @string, found %q", name, c)
	}
	if v := r.value(); r.err == nil {
		r.strings[strings.ToLower(name)] = v
	}
	if c := r.skipSpace(); c != closing {
		r.fail("want %q at the end of @string, found %q", closing, c)
	}
}

// readFields reads ", name = value" up to the closing brace.
func (r *bibReader) readFields(closing byte) map[string]string {
	out := map[string]string{}
	for {
		c := r.skipSpace()
		if c == closing {
			return out
		}
		if c != ',' {
			r.fail("want , or %q after a field, found %q", closing, c)
			return nil
		}
		if c = r.skipSpace(); c == closing {
			return out
		}
		r.back(c)
		name := r.word("=,{}\"@#")
		if c = r.skipSpace(); c != '=' || name == "" {
			r.fail("want a field such as title = {…}, found %.20q and %q", name, c)
			return nil
		}
		v := r.value()
		if name = strings.ToLower(name); out[name] == "" {
			out[name] = v
		}
	}
}

// value reads a value: braced, quoted, a number or a name, joined by '#'.
func (r *bibReader) value() string {
	var b strings.Builder
	for {
		part := r.part()
		if b.Len() > 0 && b.Len()+len(part) > maxValue {
			r.fail("a value joined of more than %d bytes", maxValue)
		}
		b.WriteString(part)
		if c := r.skipSpace(); c != '#' {
			r.back(c)
			return b.String()
		}
	}
}

func (r *bibReader) part() string {
	c := r.skipSpace()
	switch c {
	case '{':
		return r.balanced('}')
	case '"':
		return r.balanced('"')
	}
	r.back(c)
	w := r.word(",}#)\"{=@")
	if w == "" {
		r.fail("want a value, found %q", c)
	}
	if strings.Trim(w, "0123456789") == "" {
		return w
	}
	v := r.strings[strings.ToLower(w)] // an undefined name is empty, as in BibTeX
	if r.expanded += len(v); r.expanded > maxExpanded+r.all {
		r.fail("the abbreviations stand for %d bytes more than the file has", maxExpanded)
		return ""
	}
	return v
}

// balanced reads up to closing at the same depth of braces.
func (r *bibReader) balanced(closing byte) string {
	var b strings.Builder
	line, column, depth := r.line, max(1, r.column), 0
	for r.err == nil {
		c := r.next()
		switch {
		case r.err == io.EOF:
			r.err = failAt(line, column, "what opens here is not closed before the file ends")
		case c == closing && depth == 0:
			if !utf8.ValidString(b.String()) {
				r.err = failAt(line, column, notUTF8)
			}
			return b.String()
		case c == '\\':
			b.WriteByte(c)
			c = r.next()
		case c == '{':
			depth++
		case c == '}' && depth == 0:
			r.fail("a } without its {")
		case c == '}':
			depth--
		}
		b.WriteByte(c)
	}
	return ""
}
