package page

import (
	"bytes"

	"golang.org/x/net/html/atom"
)

// kind is what the scanner met.
type kind uint8

const (
	endOfInput kind = iota
	textToken
	startTag
	endTag
	rawText // what stands inside <script>, <style>, <textarea>, <title>, <xmp>
)

// attribute is one of a tag, as it stands in the source.
type attribute struct{ key, val []byte }

// scanner cuts HTML into tags and text in place, without copying. It differs
// from golang.org/x/net/html's tokenizer in what it does where authors forgot
// a quote, an angle bracket or an end tag: there the standard swallows the page
// up to the next like sign, with all links in between, and the scanner goes on
// at the place where the author would have.
type scanner struct {
	src []byte
	pos int

	// of the last token
	text      []byte // textToken, rawText
	name      []byte // tags, as written
	atom      atom.Atom
	attrs     []attribute
	selfClose bool

	raw    atom.Atom         // element whose raw text comes next
	closes map[atom.Atom]int // where its end tag is next found, so that no search is made twice
	lower  [24]byte
}

// next reads a token. Comments, doctypes and processing instructions are passed
// over.
func (s *scanner) next() kind {
	if s.raw != 0 {
		if k := s.readRaw(); k != endOfInput {
			return k
		}
	}
	for s.pos < len(s.src) {
		start := s.pos
		i := bytes.IndexByte(s.src[start:], '<')
		for i >= 0 && !opensMarkup(s.src[start+i:]) {
			j := bytes.IndexByte(s.src[start+i+1:], '<')
			if j < 0 {
				i = -1
				break
			}
			i += 1 + j
		}
		if i != 0 {
			end := len(s.src)
			if i > 0 {
				end = start + i
			}
			s.text, s.pos = s.src[start:end], end
			return textToken
		}
		switch c := s.src[start+1]; {
		case c == '!' || c == '?':
			s.skipComment()
		case c == '/':
			if k := s.readEndTag(); k != endOfInput {
				return k
			}
		default:
			s.readStartTag()
			return startTag
		}
	}
	return endOfInput
}

// opensMarkup says whether b, which starts with "<", is more than a less-than
// sign.
func opensMarkup(b []byte) bool {
	if len(b) < 2 {
		return false
	}
	return isLetter(b[1]) || b[1] == '!' || b[1] == '?' || b[1] == '/' && len(b) > 2
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// skipComment passes over "<!…>" and "<?…>". A comment that is never closed
// hides the rest of the page, as browsers have it.
func (s *scanner) skipComment() {
	b := s.src[s.pos:]
	if !bytes.HasPrefix(b, []byte("<!--")) {
		s.skipTo(b, []byte(">"), 2)
		return
	}
	switch {
	case bytes.HasPrefix(b, []byte("<!-->")):
		s.pos += len("<!-->")
	case bytes.HasPrefix(b, []byte("<!--->")):
		s.pos += len("<!--->")
	default:
		s.pos += commentLength(b)
	}
}

// commentLength measures "<!--…-->", which may end in "--!>" too. Both ends are
// looked for at once, so that no byte is looked at for more than one comment.
func commentLength(b []byte) int {
	for at := len("<!--"); ; at++ {
		i := bytes.Index(b[at:], []byte("--"))
		if i < 0 {
			return len(b)
		}
		at += i
		for _, end := range []string{"-->", "--!>"} {
			if bytes.HasPrefix(b[at:], []byte(end)) {
				return at + len(end)
			}
		}
	}
}

// skipTo moves behind the first mark in b from offset from on, or to the end.
func (s *scanner) skipTo(b, mark []byte, from int) {
	i := bytes.Index(b[from:], mark)
	if i < 0 {
		s.pos = len(s.src)
		return
	}
	s.pos += from + i + len(mark)
}

// readEndTag reads "</name …>". What is no end tag is passed over.
func (s *scanner) readEndTag() kind {
	b := s.src[s.pos:]
	if !isLetter(b[2]) {
		s.skipTo(b, []byte(">"), 2)
		return endOfInput
	}
	n := nameLength(b[2:])
	s.setName(b[2 : 2+n])
	end := bytes.IndexAny(b[2+n:], "<>")
	switch {
	case end < 0:
		s.pos = len(s.src)
	case b[2+n+end] == '>':
		s.pos += 2 + n + end + 1
	default:
		s.pos += 2 + n + end
	}
	return endTag
}

// nameLength measures the tag name at the start of b.
func nameLength(b []byte) int {
	for i, c := range b {
		if isSpace(c) || c == '/' || c == '>' || c == '<' {
			return i
		}
	}
	return len(b)
}

// setName keeps the name of a tag and looks it up.
func (s *scanner) setName(name []byte) {
	s.name, s.atom = name, 0
	if len(name) > len(s.lower) {
		return
	}
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		s.lower[i] = c
	}
	s.atom = atom.Lookup(s.lower[:len(name)])
}

// readStartTag reads "<name key=value …>".
func (s *scanner) readStartTag() {
	p := s.pos + 1
	n := nameLength(s.src[p:])
	s.setName(s.src[p : p+n])
	s.attrs, s.selfClose = s.attrs[:0], false
	s.pos = p + n
	for s.readAttribute() {
	}
	switch s.atom {
	case atom.Script, atom.Style, atom.Textarea, atom.Title, atom.Xmp:
		s.raw = s.atom
	}
}

// readAttribute reads one attribute, or the end of the tag (false).
func (s *scanner) readAttribute() bool {
	src, p := s.src, s.pos
	for p < len(src) && (isSpace(src[p]) || src[p] == '/') {
		p++
	}
	if p >= len(src) {
		s.pos = p
		return false
	}
	switch src[p] {
	case '>':
		s.selfClose = src[p-1] == '/'
		s.pos = p + 1
		return false
	case '<': // the author forgot a ">"
		if opensMarkup(src[p:]) {
			s.pos = p
			return false
		}
	}
	start := p
	for p++; p < len(src); p++ {
		if c := src[p]; isSpace(c) || c == '/' || c == '>' || c == '=' || c == '<' {
			break
		}
	}
	a := attribute{key: src[start:p]}
	q := p
	for q < len(src) && isSpace(src[q]) {
		q++
	}
	if q < len(src) && src[q] == '=' {
		a.val, p = s.readValue(a.key, q+1)
	}
	s.attrs = append(s.attrs, a)
	s.pos = p
	return true
}

// readValue reads an attribute's value from p on, and returns where it ends.
func (s *scanner) readValue(key []byte, p int) ([]byte, int) {
	src := s.src
	for p < len(src) && isSpace(src[p]) {
		p++
	}
	if p >= len(src) {
		return nil, p
	}
	if q := src[p]; q == '"' || q == '\'' {
		i := bytes.IndexByte(src[p+1:], q)
		if i >= 0 && !brokenQuote(key, src[p+1:p+1+i]) {
			return src[p+1 : p+1+i], p + 1 + i + 1
		}
		return s.readUnclosed(p + 1)
	}
	start := p
	for p < len(src) && !isSpace(src[p]) && src[p] != '>' {
		p++
	}
	return bytes.TrimRight(src[start:p], `"'`), p
}

// brokenQuote says whether a value holds the rest of its own tag, and then
// more markup: its closing quote is the next tag's opening one. Values that may
// well hold markup are left alone.
func brokenQuote(key, val []byte) bool {
	gt := bytes.IndexByte(val, '>')
	if gt < 0 {
		return false
	}
	lt := bytes.IndexByte(val, '<')
	if lt < gt { // none, or markup as text: "<b>…</b>"
		return false
	}
	if !opensMarkup(val[lt:]) || len(key) > 8 {
		return false
	}
	switch string(bytes.ToLower(key)) {
	case "href", "src", "class", "id", "target", "rel", "name", "type", "align", "valign", "width", "height",
		"border", "color", "bgcolor", "size", "face", "lang", "data", "shape", "coords":
		return true
	}
	return false
}

// readUnclosed reads a value whose closing quote was forgotten: it ends at the
// first space or the end of the tag.
func (s *scanner) readUnclosed(p int) ([]byte, int) {
	start := p
	for p < len(s.src) && !isSpace(s.src[p]) && s.src[p] != '>' {
		p++
	}
	return bytes.TrimRight(s.src[start:p], `"'`), p
}

// maxTitle is the length from which a <title> is taken for one that was never
// closed, though some later one is.
const maxTitle = 4096

// readRaw reads the raw text of the element that was just opened. It declines
// (endOfInput) where the element is never closed: what follows is markup then.
func (s *scanner) readRaw() kind {
	el := s.raw
	s.raw = 0
	end := s.findClose(el)
	if end < 0 {
		return endOfInput
	}
	text := s.src[s.pos:end]
	if el == atom.Title && (len(text) > maxTitle || bytes.Contains(text, []byte("<a ")) || bytes.Contains(text, []byte("<body"))) {
		return endOfInput
	}
	s.text, s.pos = text, end
	s.atom = el
	return rawText
}

// findClose finds the end tag of a raw element from here on, or -1.
func (s *scanner) findClose(el atom.Atom) int {
	if at, ok := s.closes[el]; ok && (at < 0 || at >= s.pos) {
		return at
	}
	if s.closes == nil {
		s.closes = make(map[atom.Atom]int)
	}
	name := el.String()
	at := -1
	for p := s.pos; ; {
		i := bytes.Index(s.src[p:], []byte("</"))
		if i < 0 {
			break
		}
		p += i + 2
		if len(s.src)-p >= len(name) && equalFold(s.src[p:p+len(name)], name) &&
			(p+len(name) == len(s.src) || !isLetter(s.src[p+len(name)])) {
			at = p - 2
			break
		}
	}
	s.closes[el] = at
	return at
}

// equalFold compares b with a lower-case ASCII word.
func equalFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
