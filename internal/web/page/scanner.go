package page

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// kind is the kind of a token.
type kind uint8

const (
	endOfInput kind = iota
	textToken
	startTag
	endTag
	rawText // the content of <script>, <style>, <textarea>, <title> or <xmp>
)

// maxToken bounds the bytes of one token. The tokenizer holds a whole token in memory and
// keeps a table of its attributes that it clears with each later tag. Longer text comes in
// pieces; a longer tag or comment is skipped.
const maxToken = 512 << 10

// attribute is an attribute of a tag: its name in lower case, its value decoded.
type attribute struct{ key, val []byte }

// scanner cuts markup into tags and text by the tokenizer of golang.org/x/net/html.
type scanner struct {
	z    *html.Tokenizer
	rest []byte // what follows the last token
	xml  bool   // sitemaps and feeds: CDATA is text, no element has raw text

	// The last token.
	text      []byte    // textToken, rawText: as in the source; decoded if xml
	name      []byte    // tags, in lower case
	atom      atom.Atom // tags, rawText
	attrs     []attribute
	selfClose bool

	raw     atom.Atom // the element whose raw text comes next
	lastRaw atom.Atom // the element of the last token, if that was raw text
}

func newScanner(src []byte, xml bool) scanner {
	s := scanner{rest: src, xml: xml}
	s.restart()
	return s
}

// restart begins a tokenizer at the rest of the source, in the content of s.raw.
func (s *scanner) restart() {
	head := ""
	if s.raw != 0 {
		head = "<" + s.raw.String() + ">"
	}
	s.z = html.NewTokenizer(io.MultiReader(strings.NewReader(head), bytes.NewReader(s.rest)))
	s.z.SetMaxBuf(maxToken)
	s.z.AllowCDATA(s.xml)
	if s.raw != 0 {
		s.z.Next()
	}
}

// next reads a token. It skips comments and doctypes.
func (s *scanner) next() kind {
	for skipped := false; ; {
		raw, last := s.raw, s.lastRaw
		s.raw, s.lastRaw = 0, 0
		t := s.z.Next()
		source, n := s.rest, len(s.z.Raw())
		s.rest = source[n:]
		switch t {
		case html.ErrorToken:
			if !errors.Is(s.z.Err(), html.ErrBufferExceeded) {
				return endOfInput
			}
			if n > 0 || skipped { // within a tag or a comment
				_, s.rest, _ = bytes.Cut(s.rest, []byte(">"))
			}
			s.raw = last
			s.restart()
		case html.TextToken:
			s.text, s.lastRaw = s.z.Raw(), raw
			if i := bytes.LastIndexByte(s.text, '<'); n >= maxToken && i > n-len("</textarea>") {
				s.text, s.rest = s.text[:i], source[i:] // the end may be within a tag
			}
			switch {
			case s.xml:
				s.text = s.z.Text() // without the marks of CDATA
			case raw != 0:
				s.atom = raw
				return rawText
			}
			return textToken
		case html.StartTagToken, html.SelfClosingTagToken:
			s.readTag()
			s.selfClose = t == html.SelfClosingTagToken
			switch s.atom {
			case atom.Script, atom.Style, atom.Textarea, atom.Title, atom.Xmp:
				if !s.xml {
					s.raw = s.atom
					return startTag
				}
			}
			s.z.NextIsNotRawText() // <noscript>, <noframes> and <iframe> contain links
			return startTag
		case html.EndTagToken:
			s.readTag()
			return endTag
		}
		skipped = t == html.CommentToken
	}
}

// readTag reads the name and the attributes of a tag.
func (s *scanner) readTag() {
	name, more := s.z.TagName()
	s.name, s.atom, s.attrs = name, atom.Lookup(name), s.attrs[:0]
	for more {
		var a attribute
		a.key, a.val, more = s.z.TagAttr()
		s.attrs = append(s.attrs, a)
	}
}

// attr returns an attribute of the last start tag, or nil.
func (s *scanner) attr(key string) []byte {
	for _, a := range s.attrs {
		if string(a.key) == key {
			return a.val
		}
	}
	return nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// equalFold compares b with a lower-case ASCII word.
func equalFold(b []byte, word string) bool {
	return len(b) == len(word) && bytes.EqualFold(b, []byte(word))
}
