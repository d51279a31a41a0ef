package page

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// poor is how much text a context has beside labels of links under which it
// says nothing ("PDF Cite Code"), so that the block around is looked at. A link's
// text is a label up to maxLabel bytes; a longer one may be a title.
const (
	poor     = 16
	maxLabel = 24
)

// settle gives the links of a block that has just ended their context. The
// innermost block is a link's context; a list item, a table row or a paragraph
// around it takes over as long as it is short, any other block, but never a whole
// list or page, only where the context is poor so far.
func (b *builder) settle(e element) {
	end := len(b.text.buf)
	whole := span{min(e.start, end), end}
	first := max(e.link, b.ctxFrom)
	labels := 0
	for i := first; i < len(b.links); i++ {
		labels += b.links[i].label()
	}
	for i := first; i < len(b.links); i++ {
		l := &b.links[i]
		switch {
		case l.final:
		case l.context.to == 0: // the innermost block
			l.context = b.around(whole, l.anchor)
			l.rest = l.context.len() - l.label()
			if l.context == whole {
				l.rest = whole.len() - labels
			}
			l.final = whole.len() > maxContext
			if !l.final && (l.rest < poor && isPart(e.atom) || e.role&roleItem != 0 && e.atom != atom.P) {
				l.context, l.rest = whole, whole.len()-labels
			}
		case whole.len() > maxContext:
			l.final = true
		case e.role&roleItem != 0 || l.rest < poor && isPart(e.atom):
			l.context, l.rest = whole, whole.len()-labels
		}
	}
	if whole.len() > maxContext && first == b.ctxFrom {
		b.ctxFrom = len(b.links)
	}
}

// label is the length of a link's text if that is a label, not a title.
func (l *rawLink) label() int {
	if n := l.anchor.len(); n <= maxLabel {
		return max(n, 0)
	}
	return 0
}

// isPart says whether a block may be one entry among others.
func isPart(a atom.Atom) bool {
	switch a {
	case atom.Div, atom.Section, atom.Article, atom.Td, atom.Th, atom.Figure, atom.Details, atom.Blockquote, atom.Header, atom.Footer:
		return true
	}
	return false
}

// around is the part of a block that a link stands in: between the ends of
// lines around it where the block is long or has paragraphs without markup, and
// at most maxContext bytes.
func (b *builder) around(block, anchor span) span {
	from := max(min(anchor.from, block.to), block.from)
	i, _ := slices.BinarySearch(b.breaks, from+1)
	s := block
	if i > 0 && b.breaks[i-1] > s.from {
		s.from = min(b.breaks[i-1], s.to)
	}
	if i < len(b.breaks) && b.breaks[i] < s.to {
		s.to = max(b.breaks[i], s.from)
	}
	if s.len() <= maxContext {
		return s
	}
	const before = maxContext * 7 / 10 // titles and authors stand before their links
	if start := max(anchor.to, from) - before; start > s.from {
		s.from = b.wordStart(start)
	}
	if s.len() > maxContext {
		s.to = s.from + maxContext
	}
	return s
}

// wordStart moves an offset of the text forward to the start of a word, if one
// is near, and of a letter in any case.
func (b *builder) wordStart(at int) int {
	t := b.text.buf
	for i := at; i < len(t) && i < at+24; i++ {
		if t[i] == ' ' {
			return i + 1
		}
	}
	for at < len(t) && !utf8.RuneStart(t[at]) {
		at++
	}
	return at
}
