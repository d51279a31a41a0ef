package sampleweb

import (
	"fmt"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/packtest"
)

// Pile is any number of papers without a web around them, each in all the forms
// in which a crawl may meet it: for tests and measurements of what is done with
// files. Paper i is the same whenever it is asked for.
type Pile struct{ web *Web }

// NewPile makes a pile.
func NewPile(seed uint64) *Pile {
	return &Pile{&Web{opt: Options{Seed: seed}.withDefaults()}}
}

// A Form is what comes when a paper is asked for.
type Form int

// The forms of a paper, and what may be there in its place.
const (
	AsPDF        Form = iota
	AsRevisedPDF      // the same text with a stamp on its first page: other bytes
	AsPostScript
	AsGzip      // the PostScript, packed
	AsHTML      // the paper as a web page
	AsSlides    // a talk of the same title
	AsSheet     // a homework sheet: no paper
	AsScan      // pictures of pages
	AsEncrypted // wants a password
	AsTruncatedPDF
	AsWall // a page that asks for a log-in
)

func (p *Pile) paper(i int) *paper {
	r := p.web.opt.random(fmt.Sprint("pile ", i))
	out := &paper{key: fmt.Sprintf("conf/pile/%d", i), id: fmt.Sprint("pile", i), index: i, year: 1990 + r.IntN(30)}
	// A code name and a number make every title of a large pile its own.
	out.title = codeName(r) + codeName(r) + ": " + title(r)
	for range 1 + r.IntN(3) {
		a := &author{first: pick(r, firstNames), last: pick(r, lastNames), university: pick(r, universities)}
		a.name, a.login = a.first+" "+a.last, ascii(a.last)
		out.authors = append(out.authors, a)
	}
	return out
}

// Paper is the record of paper i.
func (p *Pile) Paper(i int) gleaner.Paper {
	out := p.paper(i).record()
	out.Venue = "conf/pile"
	return out
}

// File is paper i in a form.
func (p *Pile) File(i int, as Form) []byte {
	from := p.paper(i)
	a := p.web.article(from)
	switch as {
	case AsRevisedPDF:
		a.contact += "\nTechnical report " + fmt.Sprint(i) + ", revised"
		return writePDF(a)
	case AsPostScript:
		return writePS(a)
	case AsGzip:
		return packtest.Gzip(writePS(a))
	case AsHTML:
		return htmlArticle(a)
	case AsSlides:
		return slidesPDF(a.title, a.authors, p.web.opt.random("slides "+from.key))
	case AsSheet:
		r := p.web.opt.random("sheet " + from.key)
		var lines []string
		for n := range 12 {
			lines = append(lines, fmt.Sprintf("%d. Show that %s %s are %s. (%d points)", n+1, pick(r, adjectives), pick(r, things), pick(r, adjectives), 1+r.IntN(9)))
		}
		return SheetPDF(fmt.Sprintf("CS %d, Homework %d, due on Friday", 100+r.IntN(300), i%12), lines)
	case AsScan:
		return scannedPDF(p.web.opt.random("scan " + from.key))
	case AsEncrypted:
		return encryptedPDF(a)
	case AsTruncatedPDF:
		whole := writePDF(a)
		return whole[:len(whole)/3]
	case AsWall:
		return []byte("<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in</h1><form><p>Please log in with your password to read this article.</p><input type=password name=p></form></body></html>")
	}
	return writePDF(a)
}

func htmlArticle(a article) []byte {
	d := newDoc(a.title)
	d.p(strings.Join(a.authors, ", "))
	for _, s := range slices.Concat([]section{{"Abstract", []string{a.abstract}}}, a.sections, []section{{"References", a.refs}}) {
		d.f("<h2>%s</h2>\n", esc(s.heading))
		for _, p := range s.text {
			d.p(p)
		}
	}
	return d.bytes()
}
