package page

import (
	"bytes"
)

// plainText reads a page without markup: its paragraphs end at empty lines, and
// what is written as an address is a faint link.
func (b *builder) plainText(text []byte) {
	b.path = append(b.path, "text"...)
	for rest := text; len(rest) > 0; {
		para := rest
		if i := bytes.Index(rest, []byte("\n\n")); i >= 0 {
			para, rest = rest[:i], rest[i+2:]
		} else {
			rest = nil
		}
		b.breakAt()
		e := element{role: roleBlock, start: b.text.start(), link: len(b.links)}
		b.plainParagraph(para)
		b.breakAt()
		b.settle(e)
	}
}

// plainParagraph reads text and the addresses in it.
func (b *builder) plainParagraph(para []byte) {
	for len(para) > 0 {
		i := bytes.Index(para, []byte("http"))
		if i < 0 {
			break
		}
		b.text.fold(para[:i])
		n := addressLength(para[i:])
		if n > 0 {
			if l := b.textLink(string(para[i:i+n]), SourceScript); l != nil {
				l.anchor = span{b.text.start(), b.text.start() + n}
			}
		}
		n = max(n, len("http"))
		b.text.fold(para[i : i+n])
		para = para[i+n:]
	}
	b.text.fold(para)
}

// addressLength measures the web address at the start of s, without the stop or
// the bracket that ends the sentence around it; 0 if there is none.
func addressLength(s []byte) int {
	if !bytes.HasPrefix(s, []byte("http://")) && !bytes.HasPrefix(s, []byte("https://")) {
		return 0
	}
	n := 0
	for n < len(s) && s[n] > ' ' && !bytes.ContainsAny(s[n:n+1], "<>\"'`|{}\x7f") {
		n++
	}
	for n > 0 && bytes.ContainsAny(s[n-1:n], ".,;:!?)]") {
		n--
	}
	if n <= len("https://") {
		return 0
	}
	return n
}
