package document

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ledongthuc/pdf"
)

// readGoPDF reads a PDF with the library's object layer and our own walk over
// its pages. It never panics. first and last are how many pages are wanted from
// either end; over is asked now and then whether to stop.
func readGoPDF(body []byte, first, last int, over func() bool) (s *scan) {
	s = &scan{Reader: "go"}
	defer func() {
		if x := recover(); x != nil {
			s.Failed, s.Detail = panicOutcome(x)
			if len(s.Pages) > 0 && s.Failed != Timeout {
				s.Failed = ""
			}
		}
	}()
	body = mendEnds(body)
	r, err := pdf.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		s.Failed, s.Detail = Unreadable, err.Error()
		if errors.Is(err, pdf.ErrInvalidPassword) {
			s.Failed = Encrypted
		}
		return s
	}
	s.metadata(r)
	g := goDocument{r: r, walker: walker{names: glyphTable(), fonts: map[string]*goFont{}, over: over}}
	s.PageCount = g.count()
	if s.PageCount == 0 {
		s.Failed, s.Detail = Unreadable, "no pages"
		return s
	}
	for i := range min(first, s.PageCount) {
		s.Pages = append(s.Pages, g.page(i))
	}
	s.Front = len(s.Pages)
	for i := max(first, s.PageCount-last); i < s.PageCount; i++ {
		s.Pages = append(s.Pages, g.page(i))
	}
	return s
}

func panicOutcome(x any) (Outcome, string) {
	if err, ok := x.(error); ok && errors.Is(err, errOver) {
		return Timeout, "the built-in reader used up its time"
	}
	return Unreadable, fmt.Sprint(x)
}

// mendEnds cuts junk before the header and after the end mark, and writes a
// header that the library knows: it insists on "%PDF-1.0" to "1.7" and a line
// end, and on "%%EOF" as the very last word.
func mendEnds(b []byte) []byte {
	if i := bytes.Index(head(b, 1024), []byte("%PDF-")); i > 0 {
		b = b[i:]
	}
	if i := bytes.LastIndex(b, []byte("%%EOF")); i >= 0 {
		b = b[:i+5]
	} else {
		b = append(bytes.Clone(b), "\n%%EOF"...)
	}
	if len(b) < 100 { // the library looks at the last hundred bytes
		return b
	}
	if v := b[:9]; !bytes.HasPrefix(v, []byte("%PDF-1.")) || v[7] < '0' || v[7] > '7' || v[8] != '\n' && v[8] != '\r' {
		b = bytes.Clone(b)
		copy(b, "%PDF-1.7\n")
	}
	return b
}

func (s *scan) metadata(r *pdf.Reader) {
	defer func() { _ = recover() }() // broken metadata costs the metadata alone
	info := r.Trailer().Key("Info")
	s.Title = clean(info.Key("Title").Text())
	s.Author = clean(info.Key("Author").Text())
	s.Creator = clean(info.Key("Creator").Text())
}

type goDocument struct {
	r      *pdf.Reader
	walker walker
	pages  []pdf.Value
}

// maxPageTree bounds how many pages of a page tree are looked at.
const maxPageTree = 20_000

// count gathers the pages. The tree is walked here and not by the library,
// which trusts its counts, and panics or loops where they lie.
func (g *goDocument) count() int {
	g.gather(g.r.Trailer().Key("Root").Key("Pages"), 0)
	return len(g.pages)
}

func (g *goDocument) gather(v pdf.Value, depth int) {
	if depth > 40 || len(g.pages) >= maxPageTree || v.Kind() != pdf.Dict {
		return
	}
	kids := v.Key("Kids")
	if kids.Kind() != pdf.Array {
		g.pages = append(g.pages, v)
		return
	}
	for i := range kids.Len() {
		if g.walker.over() {
			panic(errOver)
		}
		g.gather(g.kid(kids, i), depth+1)
	}
}

// kid survives a broken reference.
func (g *goDocument) kid(kids pdf.Value, i int) (v pdf.Value) {
	defer func() {
		if recover() != nil {
			v = pdf.Value{}
		}
	}()
	return kids.Index(i)
}

// page reads one page; one that breaks costs what came after the break.
func (g *goDocument) page(i int) (p page) {
	v := g.pages[i]
	w := &g.walker
	w.glyphs, w.budget = w.glyphs[:0], maxOperators
	defer func() {
		if x := recover(); x != nil {
			if o, _ := panicOutcome(x); o == Timeout {
				panic(x)
			}
			p.Lines = w.lines(p.Width, p.Height)
		}
	}()
	x0, y0, x1, y1 := pageBox(v)
	turns := ((int(inherited(v, "Rotate").Int64())/90)%4 + 4) % 4
	p.Width, p.Height = x1-x0, y1-y0
	w.rotate = (4 - turns) % 4
	if turns%2 == 1 {
		p.Width, p.Height = p.Height, p.Width
	}
	start := graphicsState{ctm: matrix{1, 0, 0, 1, -x0, -y0}, scale: 1}
	w.walk(content(v.Key("Contents")), inherited(v, "Resources"), start, 0)
	p.Lines = w.lines(p.Width, p.Height)
	return p
}

// inherited looks a key up along the page's ancestors.
func inherited(v pdf.Value, key string) pdf.Value {
	for range 40 {
		if x := v.Key(key); !x.IsNull() {
			return x
		}
		if v = v.Key("Parent"); v.IsNull() {
			break
		}
	}
	return pdf.Value{}
}

// pageBox is the crop box, or the media box, or a letter page.
func pageBox(v pdf.Value) (x0, y0, x1, y1 float64) {
	for _, key := range []string{"CropBox", "MediaBox"} {
		b := inherited(v, key)
		if b.Len() != 4 {
			continue
		}
		x0, y0, x1, y1 = b.Index(0).Float64(), b.Index(1).Float64(), b.Index(2).Float64(), b.Index(3).Float64()
		x0, x1 = min(x0, x1), max(x0, x1)
		y0, y1 = min(y0, y1), max(y0, y1)
		if x1-x0 > 1 && y1-y0 > 1 {
			return x0, y0, x1, y1
		}
	}
	return 0, 0, 612, 792
}
