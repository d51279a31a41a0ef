package document

import (
	"regexp"

	"github.com/ledongthuc/pdf"
)

// matrix is the upper two columns of a transformation: x' = a·x + c·y + e,
// y' = b·x + d·y + f.
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

// times applies m first, then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d,
		m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

// glyph is one piece of text as drawn: origin, advance along the baseline, and
// the direction of the baseline in quarter turns.
type glyph struct {
	text  string
	x, y  float64
	end   float64 // x after the advance, in the turned page
	size  float64
	turns int
}

type graphicsState struct {
	ctm                        matrix
	font                       *goFont
	size, charSp, wordSp, rise float64
	scale, leading             float64
}

// walker interprets the text operators of a page and of the forms it draws
// (ISO 32000-1, 9.4 and 8.10). Forms are where whole pages hide: arXiv stamps,
// imposition and proceedings tools wrap the original page in one.
type walker struct {
	names  map[string]string
	fonts  map[string]*goFont
	over   func() bool
	glyphs []glyph
	budget int // operators left for this page
	steps  int
	rotate int // of the page, quarter turns clockwise
}

const (
	maxContent   = 24 << 20 // bytes of one content stream
	maxOperators = 3_000_000
	maxForms     = 12 // forms within forms
	maxGlyphs    = 400_000
)

// content reads a page's content: one stream, or several that count as one
// with blanks between.
func content(v pdf.Value) []byte {
	if v.Kind() != pdf.Array {
		return streamBytes(v, maxContent)
	}
	var all []byte
	for i := range v.Len() {
		all = append(all, streamBytes(v.Index(i), maxContent)...)
		all = append(all, '\n')
		if len(all) > maxContent {
			break
		}
	}
	return all
}

// walk interprets one content stream with its resources.
func (w *walker) walk(b []byte, resources pdf.Value, start graphicsState, depth int) {
	in := interpreter{w: w, res: resources, g: start, depth: depth, tm: identity, tlm: identity, local: map[string]*goFont{}}
	l := lexer{b: b}
	var args []token
	for {
		t := l.next()
		if t.kind == tokEOF || w.budget <= 0 || len(w.glyphs) > maxGlyphs {
			return
		}
		if t.kind != tokOperator {
			if len(args) < 4096 {
				args = append(args, t)
			}
			continue
		}
		w.tick()
		if t.str == "BI" {
			l.skipInlineImage()
		} else {
			in.do(t.str, args)
		}
		args = args[:0]
	}
}

func (w *walker) tick() {
	w.budget--
	w.steps++
	if w.steps%1024 == 0 && w.over() {
		panic(errOver)
	}
}

// interpreter is the state of one content stream.
type interpreter struct {
	w       *walker
	res     pdf.Value
	g       graphicsState
	stack   []graphicsState
	tm, tlm matrix
	depth   int
	local   map[string]*goFont // fonts by resource name, for this stream
}

func num(args []token, i int) float64 {
	if i < 0 || i >= len(args) {
		return 0
	}
	return args[i].num
}

func toMatrix(a []token) (matrix, bool) {
	if len(a) < 6 {
		return identity, false
	}
	a = a[len(a)-6:]
	return matrix{a[0].num, a[1].num, a[2].num, a[3].num, a[4].num, a[5].num}, true
}

// do obeys one operator; those that draw no text are passed over.
func (in *interpreter) do(op string, a []token) {
	last := len(a) - 1
	switch op {
	case "q":
		if len(in.stack) < 512 {
			in.stack = append(in.stack, in.g)
		}
	case "Q":
		if n := len(in.stack); n > 0 {
			in.g, in.stack = in.stack[n-1], in.stack[:n-1]
		}
	case "cm":
		if m, ok := toMatrix(a); ok {
			in.g.ctm = m.times(in.g.ctm)
		}
	case "Do":
		if last >= 0 {
			in.form(a[last].str)
		}
	case "Tf":
		if last >= 1 {
			in.g.font, in.g.size = in.font(a[last-1].str), a[last].num
		}
	case "Tc":
		in.g.charSp = num(a, last)
	case "Tw":
		in.g.wordSp = num(a, last)
	case "Tz":
		in.g.scale = num(a, last) / 100
	case "TL":
		in.g.leading = num(a, last)
	case "Ts":
		in.g.rise = num(a, last)
	default:
		in.text(op, a)
	}
}

// text obeys the operators that place and show text.
func (in *interpreter) text(op string, a []token) {
	last := len(a) - 1
	switch op {
	case "BT":
		in.tm, in.tlm = identity, identity
	case "Tm":
		if m, ok := toMatrix(a); ok {
			in.tm, in.tlm = m, m
		}
	case "TD":
		in.g.leading = -num(a, last)
		in.move(num(a, last-1), num(a, last))
	case "Td":
		in.move(num(a, last-1), num(a, last))
	case "T*":
		in.move(0, -in.g.leading)
	case "\"":
		in.g.wordSp, in.g.charSp = num(a, last-2), num(a, last-1)
		in.move(0, -in.g.leading)
		in.show(a)
	case "'":
		in.move(0, -in.g.leading)
		in.show(a)
	case "Tj", "TJ":
		in.show(a)
	}
}

func (in *interpreter) move(x, y float64) {
	in.tlm = matrix{1, 0, 0, 1, x, y}.times(in.tlm)
	in.tm = in.tlm
}

// show draws strings; numbers between them move back by thousandths.
func (in *interpreter) show(a []token) {
	if in.g.font == nil {
		return
	}
	for _, t := range a {
		switch t.kind {
		case tokNumber:
			in.advance(-t.num / 1000 * in.g.size * in.g.scale)
		case tokString:
			in.g.font.decode(t.str, in.glyph)
		}
	}
}

func (in *interpreter) advance(x float64) {
	in.tm = matrix{1, 0, 0, 1, x, 0}.times(in.tm)
}

func (in *interpreter) glyph(text string, width float64, space bool) {
	m := matrix{in.g.size * in.g.scale, 0, 0, in.g.size, 0, in.g.rise}.times(in.tm).times(in.g.ctm)
	step := width*in.g.size + in.g.charSp
	if space {
		step += in.g.wordSp
	}
	in.w.place(text, m, width)
	in.advance(step * in.g.scale)
}

// font finds a font by its resource name. The same font is parsed once for the
// document: its reference, as the dictionary shows it, is the key.
func (in *interpreter) font(name string) *goFont {
	if f, ok := in.local[name]; ok {
		return f
	}
	dict := in.res.Key("Font")
	shown := dict.String()
	key := name + "\x00" + shown
	if ref := regexp.MustCompile(`/` + regexp.QuoteMeta(name) + ` (\d+ \d+ R)`).FindStringSubmatch(shown); ref != nil {
		key = ref[1]
	}
	f, ok := in.w.fonts[key]
	if !ok {
		f = in.parseFont(dict.Key(name))
		in.w.fonts[key] = f
	}
	in.local[name] = f
	return f
}

// parseFont survives a broken font: its text is lost, the page's is not.
func (in *interpreter) parseFont(v pdf.Value) (f *goFont) {
	defer func() {
		if recover() != nil {
			f = nil
		}
	}()
	if v.IsNull() {
		return nil
	}
	return newGoFont(v, in.w.names)
}

// form draws a form XObject with its own matrix and resources.
func (in *interpreter) form(name string) {
	x := in.res.Key("XObject").Key(name)
	if x.Kind() != pdf.Stream || x.Key("Subtype").Name() != "Form" || in.depth >= maxForms {
		return
	}
	g := in.g
	if m := x.Key("Matrix"); m.Len() == 6 {
		v := matrix{m.Index(0).Float64(), m.Index(1).Float64(), m.Index(2).Float64(), m.Index(3).Float64(), m.Index(4).Float64(), m.Index(5).Float64()}
		g.ctm = v.times(g.ctm)
	}
	res := x.Key("Resources")
	if res.IsNull() {
		res = in.res
	}
	in.w.walk(streamBytes(x, maxContent), res, g, in.depth+1)
}
