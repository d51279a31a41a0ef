package document

import (
	"strings"
	"time"
	"unicode"

	"gleaner/internal/gleaner"
)

// Outcome names how the reading of one file ended. It is stored with the
// document, shown to people and counted in reports.
type Outcome string

// The outcomes. All but OK and Truncated come without text worth judging.
const (
	OK           Outcome = "ok"
	Encrypted    Outcome = "encrypted"       // wants a password, or forbids copying its text
	Truncated    Outcome = "truncated"       // the end of the file is missing; the text that could be saved is there
	EmptyFile    Outcome = "empty"           // no bytes, no pages, or pages with nothing on them
	ImageOnly    Outcome = gleaner.ImageOnly // pages of pictures: needs optical character recognition
	Garbled      Outcome = gleaner.Garbled   // text whose letters cannot be told (fonts without names): needs recognition
	NotADocument Outcome = "not-a-document"  // a kind or a web page that cannot be a paper
	Wall         Outcome = "wall"            // a web page that asks for a log-in, a payment, consent or a captcha
	ErrorPage    Outcome = "error-page"      // a web page that says "not found" or the like
	Unreadable   Outcome = "unreadable"      // broken beyond what the readers mend
	Timeout      Outcome = "timeout"         // the reader used up its processor time, and nothing was read
	Stalled      Outcome = gleaner.Stalled   // the reader was stopped before: the machine was busy; says nothing of the file
	TooLarge     Outcome = "too-large"       // the file, or the memory that reading it takes, is over the limit
	NoReader     Outcome = "no-reader"       // a kind known by name for which nothing is installed here
	Unwelcome    Outcome = "unwelcome"       // passed over unread for its name or size, where the pre-filter is on
	SourceOnly   Outcome = "source"          // BibTeX, or a part of LaTeX: a paper's source, not a paper

	// OtherDiscipline is academic, and of none of the disciplines that are collected.
	OtherDiscipline Outcome = gleaner.OtherDiscipline
)

// Text is what was read out of one file.
type Text struct {
	Name    string  `json:"name"`
	Kind    Kind    `json:"kind"`
	Bytes   int     `json:"bytes"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail,omitempty"` // one line for a person: what was wrong
	Reader  string  `json:"reader"`           // "poppler", "go", "ghostscript", "tesseract", "catdoc", "office", "latex", "xml", "html", "text"; "" when none was needed

	Pages     []string `json:"pages,omitempty"` // text of the pages read, in order
	PageCount int      `json:"page_count"`      // of the whole file
	Skipped   int      `json:"skipped"`         // pages left out between the first and the last ones read
	Front     int      `json:"front"`           // how many of Pages stand before the gap; len(Pages) without one
	Stopped   bool     `json:"stopped"`         // the first pages said enough, and not all others were read

	Title string `json:"title,omitempty"` // from the file's metadata; often wrong

	First  Layout  `json:"first"`  // the first page as it lies
	Width  float64 `json:"width"`  // median over the pages read, in points
	Height float64 `json:"height"` // median over the pages read, in points

	Elapsed time.Duration `json:"elapsed"`
}

// Layout is one page with the places of its lines. Coordinates are in points
// from the upper left corner; all zero where the reader knows none.
type Layout struct {
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Lines  []Line  `json:"lines,omitempty"`
}

// Line is one line of text in reading order.
type Line struct {
	Text  string  `json:"text"`
	X0    float64 `json:"x0"`
	Y0    float64 `json:"y0"`
	X1    float64 `json:"x1"`
	Y1    float64 `json:"y1"`
	Size  float64 `json:"size"`            // height of its letters, points
	Block int     `json:"block,omitempty"` // lines of one paragraph or heading share it
}

// String returns all text read, pages apart by form feeds.
func (t *Text) String() string { return strings.Join(t.Pages, "\f") }

// Words counts the words of the pages read.
func (t *Text) Words() int {
	n := 0
	for _, p := range t.Pages {
		n += len(strings.Fields(p))
	}
	return n
}

// HasText reports whether there is text to judge.
func (t *Text) HasText() bool { return t.Outcome == OK || t.Outcome == Truncated && len(t.Pages) > 0 }

// landscape reports whether the pages are wider than high, as slides are.
func (t *Text) landscape() bool { return t.Width > t.Height*1.05 && t.Height > 0 }

// garbled reports text that is there but says nothing: bitmap fonts whose codes
// mean nothing give control characters, a salad of signs, or capitals where
// low codes are taken for TeX's Greek ones. In any language most words of a
// text consist of letters, and most of these are small.
func (t *Text) garbled() bool {
	words, plain, control, chars, upper, lower := 0, 0, 0, 0, 0, 0
	for _, p := range t.Pages {
		for _, r := range p {
			chars++
			if r < ' ' && r != '\n' && r != '\t' && r != '\f' && r != '\r' || r == unicode.ReplacementChar {
				control++
			}
			upper += boolInt(unicode.IsUpper(r))
			lower += boolInt(unicode.IsLower(r) || unicode.IsLetter(r) && !unicode.IsUpper(r)) // most scripts have but one case
		}
		for _, w := range strings.Fields(p) {
			words++
			if w = strings.TrimFunc(w, unicode.IsPunct); len(w) >= 2 && letters(w) == len([]rune(w)) {
				plain++
			}
		}
	}
	return control*12 > chars || words > 150 && (plain*5 < words || upper > 2*lower)
}

// letters counts letters.
func letters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

var ligatures = strings.NewReplacer(
	"ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st",
	"\u00ad", "", "\u00a0", " ", "\u200b", "", "\ufeff", "", "\x00", "",
)

// clean expands ligatures and drops what is not text.
func clean(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 || s[i] == 0 {
			return ligatures.Replace(strings.ToValidUTF8(s, ""))
		}
	}
	return s // plain ASCII, as most is
}

// page is what both PDF readers deliver; everything else is computed from it,
// so that features do not depend on which reader was at hand.
type page struct {
	Width, Height float64 // 0 where Plain is all that is known
	Lines         []Line
	Plain         string // its text, where the places of the lines were not asked for
}

// text joins the lines of a page: a blank line between blocks, and a word
// broken at a line's end made whole where the next line goes on in lower case.
func (p page) text() string {
	if len(p.Lines) == 0 {
		return p.Plain
	}
	var b strings.Builder
	for i, l := range p.Lines {
		if i > 0 {
			b.WriteString(separator(p.Lines[i-1], l))
		}
		s := l.Text
		if i+1 < len(p.Lines) && broken(l, p.Lines[i+1]) {
			s = strings.TrimSuffix(strings.TrimSuffix(s, "-"), "‐")
		}
		b.WriteString(s)
	}
	return b.String()
}

func separator(prev, next Line) string {
	switch {
	case broken(prev, next):
		return ""
	case prev.Block != next.Block:
		return "\n\n"
	}
	return "\n"
}

func broken(l, next Line) bool {
	s, ok := strings.CutSuffix(l.Text, "-")
	if !ok {
		s, ok = strings.CutSuffix(l.Text, "‐")
	}
	if !ok || s == "" || next.Text == "" {
		return false
	}
	last := []rune(s)
	first := []rune(next.Text)[0]
	return unicode.IsLetter(last[len(last)-1]) && unicode.IsLower(first)
}

// Bounds of what is taken of one file, in bytes. The longest novels have three
// million letters; what says more was made to fill the memory.
const (
	mostText     = 4 << 20
	longestTitle = 1000
)
