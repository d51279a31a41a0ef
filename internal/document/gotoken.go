package document

import (
	"bytes"
	"strconv"
)

// tokenKind tells the tokens of a content stream apart.
type tokenKind byte

const (
	tokEOF tokenKind = iota
	tokNumber
	tokString
	tokName
	tokOperator
	tokArrayOpen
	tokArrayClose
)

// token is one token of a content stream or of a character map.
type token struct {
	kind tokenKind
	num  float64
	str  string
}

// lexer reads content streams and character maps. The library's own
// interpreter is not used for these: it stops at inline images, glues the last
// word of one content stream to the first of the next, and gives up a whole
// page at the first wrong operand.
type lexer struct {
	b   []byte
	pos int
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelimiter(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}

func (l *lexer) skipBlanks() {
	for l.pos < len(l.b) {
		c := l.b[l.pos]
		switch {
		case isBlank(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.b) && l.b[l.pos] != '\n' && l.b[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

// next returns the next token; dictionaries come as their contents, since the
// operators that matter take none.
func (l *lexer) next() token {
	for {
		l.skipBlanks()
		if l.pos >= len(l.b) {
			return token{kind: tokEOF}
		}
		switch c := l.b[l.pos]; c {
		case '(':
			return token{kind: tokString, str: l.literal()}
		case '<':
			if l.pos+1 < len(l.b) && l.b[l.pos+1] == '<' {
				l.pos += 2
				continue
			}
			return token{kind: tokString, str: l.hex()}
		case '[':
			l.pos++
			return token{kind: tokArrayOpen}
		case ']':
			l.pos++
			return token{kind: tokArrayClose}
		case '/':
			l.pos++
			return token{kind: tokName, str: l.name()}
		case '>', ')', '{', '}':
			l.pos++
		default:
			return l.word()
		}
	}
}

func (l *lexer) run() string {
	start := l.pos
	for l.pos < len(l.b) && !isBlank(l.b[l.pos]) && !isDelimiter(l.b[l.pos]) {
		l.pos++
	}
	return string(l.b[start:l.pos])
}

func (l *lexer) word() token {
	s := l.run()
	if c := s[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil { // "--5" and "1.2.3" occur; poppler takes what it can
			f, _ = strconv.ParseFloat(trimNumber(s), 64)
		}
		return token{kind: tokNumber, num: f}
	}
	return token{kind: tokOperator, str: s}
}

func trimNumber(s string) string {
	for len(s) > 1 && s[0] == '-' && s[1] == '-' {
		s = s[1:]
	}
	dot := false
	for i := 1; i < len(s); i++ {
		if s[i] == '.' && !dot {
			dot = true
			continue
		}
		if s[i] < '0' || s[i] > '9' {
			return s[:i]
		}
	}
	return s
}

func (l *lexer) name() string {
	s := l.run()
	if i := bytes.IndexByte([]byte(s), '#'); i < 0 {
		return s
	}
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '#' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(v))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func (l *lexer) hex() string {
	l.pos++
	var out []byte
	half, have := byte(0), false
	for l.pos < len(l.b) {
		c := l.b[l.pos]
		l.pos++
		if c == '>' {
			break
		}
		var v byte
		switch {
		case c >= '0' && c <= '9':
			v = c - '0'
		case c >= 'a' && c <= 'f':
			v = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			v = c - 'A' + 10
		default:
			continue
		}
		if have {
			out = append(out, half<<4|v)
		}
		half, have = v, !have
	}
	if have {
		out = append(out, half<<4)
	}
	return string(out)
}

var escapes = [256]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f', '(': '(', ')': ')', '\\': '\\'}

func (l *lexer) literal() string {
	l.pos++
	var out []byte
	for depth := 1; l.pos < len(l.b); {
		c := l.b[l.pos]
		l.pos++
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return string(out)
			}
		case '\\':
			out = l.escape(out)
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

// escape reads what follows a backslash.
func (l *lexer) escape(out []byte) []byte {
	if l.pos >= len(l.b) {
		return out
	}
	c := l.b[l.pos]
	l.pos++
	switch {
	case c >= '0' && c <= '7':
		v := int(c - '0')
		for range 2 {
			if l.pos < len(l.b) && l.b[l.pos] >= '0' && l.b[l.pos] <= '7' {
				v = v<<3 | int(l.b[l.pos]-'0')
				l.pos++
			}
		}
		return append(out, byte(v))
	case c == '\r':
		if l.pos < len(l.b) && l.b[l.pos] == '\n' {
			l.pos++
		}
		return out
	case c == '\n':
		return out
	case escapes[c] != 0:
		return append(out, escapes[c])
	}
	return append(out, c)
}

// skipInlineImage goes behind the data of an inline image: the first "EI" that
// stands alone and is followed by more of the page.
func (l *lexer) skipInlineImage() {
	i := bytes.Index(l.b[l.pos:], []byte("ID"))
	if i < 0 {
		l.pos = len(l.b)
		return
	}
	l.pos += i + 2
	for {
		j := bytes.Index(l.b[l.pos:], []byte("EI"))
		if j < 0 {
			l.pos = len(l.b)
			return
		}
		at := l.pos + j
		l.pos = at + 2
		before := at == 0 || isBlank(l.b[at-1])
		after := l.pos >= len(l.b) || isBlank(l.b[l.pos])
		if before && after {
			return
		}
	}
}
