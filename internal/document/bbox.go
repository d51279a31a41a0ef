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
// writes control characters that XML forbids, because a killed child leaves half
// a file of which the whole pages are good, and because it is ten times as fast.
func parseBBox(b []byte, s *scan) {
	p := bboxParser{scan: s}
	for line := range bytes.Lines(b) {
		p.line(bytes.TrimSpace(line))
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

// The tags by which lines are known.
var (
	tagWord, tagWordEnd = []byte("<word "), []byte("</word>")
	tagLine, tagLineEnd = []byte("<line "), []byte("</line>")
	tagBlock            = []byte("<block ")
	tagPage, tagPageEnd = []byte("<page "), []byte("</page>")
	tagTitle            = []byte("<title>")
)

func (p *bboxParser) line(s []byte) {
	switch {
	case bytes.HasPrefix(s, tagWord):
		p.word(s)
	case bytes.HasPrefix(s, tagLine):
		v, _ := numbers(s)
		p.box = Line{X0: v[0], Y0: v[1], X1: v[2], Y1: v[3]}
		p.words, p.sizes = p.words[:0], p.sizes[:0]
	case bytes.Equal(s, tagLineEnd):
		p.flushLine()
	case bytes.HasPrefix(s, tagBlock):
		p.blocks++
	case bytes.HasPrefix(s, tagPage):
		p.flushPage()
		v, _ := numbers(s)
		p.page = &page{Width: v[0], Height: v[1]}
		p.blocks = 0
	case bytes.Equal(s, tagPageEnd):
		p.flushPage()
	case bytes.HasPrefix(s, tagTitle):
		title, _, _ := strings.Cut(string(s[len(tagTitle):]), "</title>")
		p.scan.Title = strings.TrimSpace(clean(html.UnescapeString(title)))
	}
}

func (p *bboxParser) word(s []byte) {
	v, rest := numbers(s)
	end := bytes.LastIndex(rest, tagWordEnd)
	if end < 0 {
		return
	}
	w := wordText(rest[:end])
	if w == "" {
		return
	}
	left, right, h := v[0], v[2], v[3]-v[1]
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

// wordText is what a word says; most are plain ASCII and need no cleaning.
func wordText(b []byte) string {
	for _, c := range b {
		if c <= ' ' || c >= 0x7f || c == '&' {
			return strings.TrimSpace(clean(html.UnescapeString(string(b))))
		}
	}
	return string(b)
}

// smallCaps knows a word of small capitals, which poppler parts after its large
// initial: "B" and "LUM", close together, the second lower. Authors and
// headings are often set so.
func smallCaps(initial, rest string, size, small, gap float64) bool {
	if len(initial) > 4 || small > size*0.92 || small < size*0.6 || gap > size*0.2 || len([]rune(initial)) != 1 {
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

// numbers reads the attributes of a tag, which are numbers and always in the
// same order (left, top, right, bottom; width, height), and returns what follows
// the tag. Missing ones are 0.
func numbers(tag []byte) (v [4]float64, rest []byte) {
	for i := range v {
		open := bytes.IndexByte(tag, '"')
		if open < 0 {
			return v, nil
		}
		tag = tag[open+1:]
		end := bytes.IndexByte(tag, '"')
		if end < 0 {
			return v, nil
		}
		if n, err := strconv.ParseFloat(string(tag[:end]), 64); err == nil {
			v[i] = n
		}
		if tag = tag[end+1:]; len(tag) > 0 && tag[0] == '>' {
			break
		}
	}
	open := bytes.IndexByte(tag, '>')
	return v, tag[open+1:]
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
