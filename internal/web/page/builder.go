package page

import (
	"bytes"
	"context"

	"golang.org/x/net/html/atom"
)

// maxOpen bounds the stack of open elements: deeper ones are taken as closed at
// once. Browsers draw such a line too.
const maxOpen = 256

// element is one that is open.
type element struct {
	atom    atom.Atom
	role    role
	tag     tags
	pathEnd int // length of the tag path before it
	start   int // where its text starts
	link    int // first link that may lie in it
}

// rawLink is a link as it was met; its texts are spans of the page's text.
type rawLink struct {
	href     []byte // as written, or nil where ref is set
	ref      string // already decoded
	source   Source
	noFollow bool
	path     span // in builder.paths
	anchor   span
	alt      string
	heading  span
	context  span
	rest     int  // bytes of context that are no link's label
	final    bool // context is settled
}

// span is a part of a buffer.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

// builder turns tokens into a Page.
type builder struct {
	ctx  context.Context
	page *Page
	scan scanner
	text textBuffer

	open    []element
	path    []byte // tag path of the innermost open element
	paths   []byte // tag paths of links, end to end
	lastTag span   // the last of them: neighbours often have the same
	breaks  []int  // offsets of text at which a line surely ends, ascending

	links   []rawLink
	current int // link whose anchor text is being read, -1 for none
	curOpen int // depth of its element
	ctxFrom int // no link before it awaits its context

	heading   span // nearest heading before this point
	headStart int  // where the text of an open heading starts, -1 for none
	bold      span // a line that was bold from its start
	afterBR   int  // offset of text at the last <br>, -1 for none
	lineStart int
	lastTerm  int // where the text of the last <dt> starts, -1 for none
	hints     int // links from scripts so far
	tries     int // strings looked at for them
	hidden    int // open elements whose text is not seen

	data pageData

	baseSeen bool
	metas    map[string][]string // contents of meta data by name
	metaSize map[string]int
	xhtml    bool
	signs    signs
	robots   robotsRules
}

// newBuilder makes a builder for one page.
func newBuilder(ctx context.Context, p *Page, text []byte) *builder {
	return &builder{
		ctx: ctx, page: p, scan: newScanner(text, false),
		text: textBuffer{buf: make([]byte, 0, len(text)/2)},
		path: make([]byte, 0, 256), links: make([]rawLink, 0, min(64, len(text)/64)),
		current: -1, headStart: -1, afterBR: -1, lastTerm: -1,
		xhtml: bytes.HasPrefix(bytes.TrimSpace(text[:min(len(text), 128)]), []byte("<?xml")),
	}
}

// tokensBetween is how many tokens are read between two looks at the context.
const tokensBetween = 1 << 12

// run reads the whole page, or up to where its context ends.
func (b *builder) run() {
	for n := 1; n%tokensBetween != 0 || b.ctx.Err() == nil; n++ {
		switch b.scan.next() {
		case endOfInput:
			for len(b.open) > 0 {
				b.pop()
			}
			b.breakAt()
			b.settle(element{link: b.ctxFrom, role: roleBlock})
			return
		case textToken:
			if b.hidden == 0 {
				b.text.write(b.scan.text)
			}
		case rawText:
			b.rawText()
		case startTag:
			b.startTag()
		case endTag:
			b.endTag()
		}
	}
}

// rawText reads what stands in a script or a title; the rest is not looked at.
func (b *builder) rawText() {
	switch b.scan.atom {
	case atom.Title:
		if b.page.Title == "" {
			b.page.Title = cutText(folded(b.scan.text), maxTitleOut)
		}
	case atom.Script:
		b.scriptHints(b.scan.text)
		if !b.data.script(b.scan.text) {
			b.cut(CutData)
		}
	}
}

// startTag opens an element and takes its links.
func (b *builder) startTag() {
	s := &b.scan
	role := roleOf(s.atom)
	b.closeImplied(s.atom)
	if role&roleBlock != 0 {
		b.breakAt()
	}
	switch s.atom {
	case atom.Br:
		b.lineBreak()
	case atom.Hr:
		b.bold = span{}
	case atom.A:
		b.closeLink()
	}
	depth := len(b.open)
	if role&roleVoid == 0 && !(s.selfClose && (b.xhtml || s.atom == 0)) {
		b.push(role)
	} else if s.selfClose {
		s.raw = 0
	}
	b.element()
	b.inlineHandlers()
	b.data.see(&b.scan)
	if len(b.open) > depth && s.atom == atom.A && b.current >= 0 {
		b.curOpen = len(b.open)
	}
}

// push opens an element and lengthens the tag path by it.
func (b *builder) push(r role) {
	if len(b.open) >= maxOpen {
		return
	}
	s := &b.scan
	e := element{atom: s.atom, role: r, tag: tagOf[s.atom], pathEnd: len(b.path), start: b.text.start(), link: len(b.links)}
	b.lengthenPath()
	switch {
	case r&roleHidden != 0:
		b.hidden++
	case r&roleHeading != 0:
		b.headStart = e.start
	case s.atom == atom.Dt:
		b.lastTerm = e.start
	case s.atom == atom.Dd && b.lastTerm >= 0:
		e.start = b.lastTerm // a term and what is said of it are one entry
	case s.atom == atom.Dl:
		b.lastTerm = -1
	}
	b.open = append(b.open, e)
}

// pop closes the innermost element.
func (b *builder) pop() {
	e := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	b.path = b.path[:e.pathEnd]
	if b.current >= 0 && b.curOpen > len(b.open) {
		b.closeLink()
	}
	switch {
	case e.role&roleHidden != 0:
		b.hidden--
	case e.role&roleHeading != 0:
		b.closeHeading(e)
	case isBold(e.atom):
		b.bold = span{}
		if e.start <= b.lineStart && len(b.text.buf) > e.start {
			b.bold = span{e.start, len(b.text.buf)}
		}
	case e.atom == atom.Dl:
		b.lastTerm = -1
	}
	if e.role&roleBlock != 0 {
		b.breakAt()
		b.settle(e)
	}
}

// isBold knows the elements that make a heading of a line where authors do
// without one.
func isBold(a atom.Atom) bool {
	return a == atom.B || a == atom.Strong || a == atom.Font || a == atom.Big || a == atom.U
}

// endTag closes the elements up to the one it names. One that formats text does
// not close blocks, for "<b><p>…</b>" is common.
func (b *builder) endTag() {
	a, name := b.scan.atom, b.scan.name
	if a == atom.A {
		b.closeLink()
	}
	r := roleOf(a)
	if a == atom.P || a == atom.Br {
		b.breakAt()
	}
	inline := r&roleInline != 0
	for i := len(b.open) - 1; i >= 0; i-- {
		e := b.open[i]
		if e.atom == a && (a != 0 || b.named(e, name)) {
			for len(b.open) > i {
				b.pop()
			}
			return
		}
		if inline && e.role&roleBlock != 0 {
			return
		}
		if stopsEnd(a, e.atom) {
			return
		}
	}
}

// stopsEnd says whether an open element hides those outside it from an end tag:
// a cell's content closes nothing outside its table.
func stopsEnd(end, open atom.Atom) bool {
	switch open {
	case atom.Table:
		return end != atom.Body && end != atom.Html
	case atom.Td, atom.Th:
		switch end {
		case atom.Td, atom.Th, atom.Tr, atom.Table, atom.Tbody, atom.Thead, atom.Tfoot, atom.Body, atom.Html:
			return false
		}
		return true
	case atom.Ul, atom.Ol, atom.Dl:
		return end == atom.Li || end == atom.Dd || end == atom.Dt
	}
	return false
}

// named compares the name of an open element that is not in the atom table.
func (b *builder) named(e element, name []byte) bool {
	label := b.path[e.pathEnd:]
	label = bytes.TrimPrefix(label, []byte(" "))
	return len(label) >= len(name) && bytes.EqualFold(label[:len(name)], name) &&
		(len(label) == len(name) || label[len(name)] == '#' || label[len(name)] == '.' || label[len(name)] == ' ')
}

// closeImplied closes what the start of an element closes without saying.
func (b *builder) closeImplied(a atom.Atom) {
	closes, stops := closedBy(a)
	if closes == 0 {
		return
	}
	last := -1
	for i := len(b.open) - 1; i >= 0; i-- {
		e := &b.open[i]
		if closes&e.tag != 0 {
			last = i
			continue
		}
		if stops&e.tag != 0 || a == atom.A && e.role&roleBlock != 0 {
			break
		}
	}
	if last < 0 {
		return
	}
	for len(b.open) > last {
		b.pop()
	}
}

// breakAt ends the line here. A line that was all bold was a heading.
func (b *builder) breakAt() {
	b.text.breakLine()
	at := b.text.start()
	if n := len(b.breaks); n == 0 || b.breaks[n-1] != at {
		b.breaks = append(b.breaks, at)
	}
	if b.bold.len() >= 3 && b.bold.len() <= 80 && b.bold.to == len(b.text.buf) && !b.inItem() {
		b.heading = b.bold
	}
	b.bold = span{}
	b.lineStart, b.afterBR = at, -1
}

// inItem says whether an entry of a list is open: a bold line there is the
// title of a paper.
func (b *builder) inItem() bool {
	for i := len(b.open) - 1; i >= 0; i-- {
		switch b.open[i].atom {
		case atom.Li, atom.Dd, atom.Dt, atom.Td:
			return true
		}
	}
	return false
}

// lineBreak is <br>: two of them end a paragraph.
func (b *builder) lineBreak() {
	b.text.breakLine()
	at := b.text.start()
	if b.afterBR == at {
		b.breakAt()
	}
	b.afterBR, b.lineStart = at, at
}

// closeHeading keeps the text of a heading.
func (b *builder) closeHeading(e element) {
	from := b.headStart
	b.headStart = -1
	if from < 0 || from >= len(b.text.buf) {
		return
	}
	b.heading = span{from, len(b.text.buf)}
	if e.atom == atom.H1 || e.atom == atom.H2 || e.atom == atom.H3 {
		if len(b.page.Headings) < maxHeadings {
			b.page.Headings = append(b.page.Headings, cutText(string(b.text.buf[from:]), maxTitleOut))
		}
	}
}

// lengthenPath adds " tag#id.class1.class2" to the tag path.
func (b *builder) lengthenPath() {
	const most = 40 // bytes of an id or a class
	if len(b.path) > 0 {
		b.path = append(b.path, ' ')
	}
	if a := b.scan.atom; a != 0 {
		b.path = append(b.path, a.String()...)
	} else {
		b.path = append(b.path, bytes.ToLower(b.scan.name[:min(len(b.scan.name), most)])...)
	}
	if id := bytes.TrimSpace(b.scan.attr("id")); len(id) > 0 && len(id) <= most && !bytes.ContainsAny(id, " <>&") && len(withoutControls(id)) == len(id) {
		b.path = append(append(b.path, '#'), id...)
	}
	n := 0
	for c := range bytes.FieldsSeq(b.scan.attr("class")) {
		if n++; n > 2 || len(c) > most || bytes.ContainsAny(c, "<>&") || len(withoutControls(c)) < len(c) {
			break
		}
		b.path = append(append(b.path, '.'), c...)
	}
}
