package document

import (
	"math"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// place enters a glyph, seen so that its own baseline runs to the right: text
// set in quarter turns keeps its order and gets lines of its own.
func (w *walker) place(text string, m matrix, width float64) {
	if text == "" {
		return
	}
	turns := 0
	switch {
	case math.Abs(m.a) >= math.Abs(m.b) && m.a < 0:
		turns = 2
	case math.Abs(m.b) > math.Abs(m.a) && m.b > 0:
		turns = 1
	case math.Abs(m.b) > math.Abs(m.a):
		turns = 3
	}
	x, y := m.e, m.f
	switch turns {
	case 1:
		x, y = y, -x
	case 2:
		x, y = -x, -y
	case 3:
		x, y = -y, x
	}
	along, up := math.Hypot(m.a, m.b), math.Hypot(m.c, m.d)
	w.glyphs = append(w.glyphs, glyph{text: text, x: x, y: y, end: x + width*along, size: up, turns: (turns + w.rotate) % 4})
}

// lineBuilder makes lines of glyphs in the order in which they were drawn,
// which is the reading order for nearly all producers and keeps columns apart.
type lineBuilder struct {
	lines []Line
	cur   strings.Builder
	open  bool
	box   Line
	base  float64
	size  float64
	last  glyph
	block int
}

// lines turns the glyphs of a page into lines, upright text first.
func (w *walker) lines(width, height float64) []Line {
	var count [4]int
	for _, g := range w.glyphs {
		count[g.turns]++
	}
	main := 0
	for t := range count {
		if count[t] > count[main] {
			main = t
		}
	}
	var out []Line
	for i := range 4 {
		turn := (main + i) % 4
		b := lineBuilder{block: len(out)}
		for _, g := range w.glyphs {
			if g.turns == turn {
				b.add(g)
			}
		}
		b.flush()
		out = append(out, b.lines...)
	}
	return topDown(out, width, height)
}

// topDown measures from the upper left corner, like poppler.
func topDown(lines []Line, width, height float64) []Line {
	right, top := math.Inf(-1), math.Inf(-1)
	for _, l := range lines {
		right, top = max(right, l.X1), max(top, l.Y1)
	}
	for i := range lines {
		l := &lines[i]
		if top <= 0 { // a turned page: its text was turned about the origin
			l.Y0, l.Y1 = l.Y0+height, l.Y1+height
		}
		if right <= 0 {
			l.X0, l.X1 = l.X0+width, l.X1+width
		}
		l.Y0, l.Y1 = height-l.Y1, height-l.Y0
		l.Size = l.Y1 - l.Y0
		if width > 0 && (l.X0 < -width || l.X0 > 2*width) { // a turned line in its own coordinates
			l.X0, l.X1 = 0, l.X1-l.X0
		}
	}
	return lines
}

func (b *lineBuilder) add(g glyph) {
	if !b.open {
		b.start(g)
		return
	}
	if b.repeats(g) {
		return
	}
	em := max(b.size, g.size)
	dy, gap := math.Abs(g.y-b.base), g.x-b.last.end
	small := g.size < b.size*0.9 || b.last.size < b.size*0.9 // an index or exponent
	switch {
	case dy > em*0.9, dy > em*0.25 && !small && (gap < -em || gap > em*2), dy > em*0.35 && !small, gap < -em*1.5, gap > em*12:
		b.flush()
		b.start(g)
		return
	}
	b.join(g, gap, em)
}

// repeats knows glyphs drawn twice to look bold.
func (b *lineBuilder) repeats(g glyph) bool {
	return g.text == b.last.text && math.Abs(g.x-b.last.x) < b.size*0.1 && math.Abs(g.y-b.last.y) < b.size*0.1 && g.text != " "
}

// spaceGap is how wide a gap means a space, in ems: TeX's narrowest space
// between words is about 0.2, its widest kerning about 0.1.
const spaceGap = 0.16

func (b *lineBuilder) join(g glyph, gap, em float64) {
	s := b.cur.String()
	if gap > em*spaceGap && g.text != " " && !strings.HasSuffix(s, " ") {
		b.cur.WriteByte(' ')
	}
	b.cur.WriteString(g.text)
	if g.size > b.size*1.1 && strings.TrimSpace(s) != "" && len(s) < 3 {
		b.size, b.base = g.size, g.y // a footnote mark came before the text proper
	}
	b.box.X1 = max(b.box.X1, g.end)
	b.last = g
}

func (b *lineBuilder) start(g glyph) {
	b.open, b.base, b.size, b.last = true, g.y, g.size, g
	b.box = Line{X0: g.x, X1: g.end}
	b.cur.WriteString(g.text)
}

func (b *lineBuilder) flush() {
	if !b.open {
		return
	}
	text := strings.Join(strings.Fields(clean(compose(b.cur.String()))), " ")
	b.cur.Reset()
	b.open = false
	if text == "" {
		return
	}
	l := b.box
	l.Text, l.Y0, l.Y1 = text, b.base-b.size*0.22, b.base+b.size*0.78
	if n := len(b.lines); n > 0 && b.newBlock(b.lines[n-1], l) {
		b.block++
	}
	l.Block = b.block
	b.lines = append(b.lines, l)
}

// newBlock starts a block at a wide gap, at another size of letters, and where
// the text jumps back up.
func (b *lineBuilder) newBlock(prev, l Line) bool {
	h := prev.Y1 - prev.Y0
	down := prev.Y0 - l.Y0 // y grows upwards here
	return down < 0 || down > h*1.9 || math.Abs((l.Y1-l.Y0)-h) > h*0.12
}

// compose joins the accents that TeX draws apart with the letters after them:
// "G¨odel" is Gödel.
func compose(s string) string {
	if !strings.ContainsAny(s, "´`ˆ˜¨˚ˇ˘¯˙¸˝˛") {
		return s
	}
	var out strings.Builder
	r := []rune(s)
	for i := 0; i < len(r); i++ {
		mark, ok := combining[string(r[i])]
		if !ok || i+1 >= len(r) {
			out.WriteRune(r[i])
			continue
		}
		j := i + 1
		if r[j] == ' ' && j+1 < len(r) {
			j++
		}
		letter := r[j]
		switch letter {
		case 'ı':
			letter = 'i'
		case 'ȷ':
			letter = 'j'
		}
		both := norm.NFC.String(string(letter) + mark)
		if !unicode.IsLetter(letter) || len([]rune(both)) != 1 {
			out.WriteRune(r[i])
			continue
		}
		out.WriteString(both)
		i = j
	}
	return out.String()
}
