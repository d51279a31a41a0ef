package document

import (
	"bytes"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// parseBBox reads the output of pdftotext -bbox-layout: XHTML with a tag on
// each line. It is scanned by lines and not by an XML parser, because poppler
// writes control characters that XML forbids, and because a killed child leaves
// half a file of which the whole pages are good.
func parseBBox(b []byte, s *scan) {
	p := bboxParser{scan: s}
	for line := range bytes.Lines(b) {
		p.line(strings.TrimSpace(string(line)))
	}
	p.flushPage()
}

type bboxParser struct {
	scan   *scan
	page   *page
	words  []string
	sizes  []float64
	box    Line
	blocks int
	end    float64 // right edge of the last word
}

func (p *bboxParser) line(s string) {
	switch {
	case strings.HasPrefix(s, "<word "):
		p.word(s)
	case strings.HasPrefix(s, "<line "):
		p.box = Line{X0: attr(s, "xMin"), Y0: attr(s, "yMin"), X1: attr(s, "xMax"), Y1: attr(s, "yMax")}
		p.words, p.sizes = p.words[:0], p.sizes[:0]
	case s == "</line>":
		p.flushLine()
	case strings.HasPrefix(s, "<block "):
		p.blocks++
	case strings.HasPrefix(s, "<page "):
		p.flushPage()
		p.page = &page{Width: attr(s, "width"), Height: attr(s, "height")}
		p.blocks = 0
	case s == "</page>":
		p.flushPage()
	case strings.HasPrefix(s, "<title>"):
		s, _, _ = strings.Cut(strings.TrimPrefix(s, "<title>"), "</title>")
		p.scan.Title = metaValue(s)
	case strings.HasPrefix(s, "<meta name=\"Author\""):
		p.scan.Author = metaContent(s)
	case strings.HasPrefix(s, "<meta name=\"Creator\""):
		p.scan.Creator = metaContent(s)
	}
}

func (p *bboxParser) word(s string) {
	open := strings.IndexByte(s, '>')
	end := strings.LastIndex(s, "</word>")
	if open < 0 || end <= open {
		return
	}
	w := s[open+1 : end]
	if strings.IndexByte(w, '&') >= 0 {
		w = html.UnescapeString(w)
	}
	w = strings.TrimSpace(clean(w))
	if w == "" {
		return
	}
	left, right := attr(s, "xMin"), attr(s, "xMax")
	h := attr(s, "yMax") - attr(s, "yMin")
	if right-left < h/3 && len(w) > 3 { // set upright
		h = right - left
	}
	if n := len(p.words); n > 0 && smallCaps(p.words[n-1], w, p.sizes[n-1], h, left-p.end) {
		p.words[n-1] += w
	} else {
		p.words, p.sizes = append(p.words, w), append(p.sizes, h)
	}
	p.end = right
}

// smallCaps knows a word of small capitals, which poppler parts after its large
// initial: "B" and "LUM", close together, the second lower. Authors and
// headings are often set so.
func smallCaps(initial, rest string, size, small, gap float64) bool {
	if len([]rune(initial)) != 1 || small > size*0.92 || small < size*0.6 || gap > size*0.2 {
		return false
	}
	for _, r := range initial + rest {
		if !unicode.IsUpper(r) && !strings.ContainsRune("-.,:'’", r) {
			return false
		}
	}
	return unicode.IsUpper([]rune(rest)[0])
}

func (p *bboxParser) flushLine() {
	if len(p.words) == 0 || p.page == nil {
		return
	}
	l := p.box
	l.Text = strings.Join(p.words, " ")
	l.Size = median(p.sizes)
	l.Block = p.blocks
	p.page.Lines = append(p.page.Lines, l)
	p.words = p.words[:0]
}

func (p *bboxParser) flushPage() {
	if p.page == nil {
		return
	}
	p.scan.Pages = append(p.scan.Pages, *p.page)
	p.page = nil
}

// attr reads one number out of a tag.
func attr(tag, name string) float64 {
	i := strings.Index(tag, name+`="`)
	if i < 0 {
		return 0
	}
	v := tag[i+len(name)+2:]
	j := strings.IndexByte(v, '"')
	if j < 0 {
		return 0
	}
	f, err := strconv.ParseFloat(v[:j], 64)
	if err != nil {
		return 0
	}
	return f
}

func metaContent(tag string) string {
	_, v, ok := strings.Cut(tag, `content="`)
	if !ok {
		return ""
	}
	if i := strings.LastIndexByte(v, '"'); i >= 0 {
		v = v[:i]
	}
	return metaValue(v)
}

func metaValue(s string) string {
	return strings.TrimSpace(clean(html.UnescapeString(s)))
}

// median returns 0 for no values. It does not change its argument.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Clone(v)
	slices.Sort(s)
	return s[len(s)/2]
}
