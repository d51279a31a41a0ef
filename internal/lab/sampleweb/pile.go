package sampleweb

import (
	"fmt"
	"strings"

	"gleaner/internal/gleaner"
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
	from := p.paper(i)
	out := gleaner.Paper{Key: from.key, Venue: "conf/pile", Year: from.year, Title: from.title}
	for _, a := range from.authors {
		out.Authors = append(out.Authors, gleaner.Author{Name: a.name})
	}
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
		return gzipped(writePS(a))
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
		return sheetPDF(fmt.Sprintf("CS %d, Homework %d, due on Friday", 100+r.IntN(300), i%12), lines)
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
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html><head><meta charset=utf-8><title>%s</title></head><body>\n<h1>%s</h1>\n<p>%s</p>\n", esc(a.title), esc(a.title), esc(strings.Join(a.authors, ", ")))
	fmt.Fprintf(&b, "<h2>Abstract</h2>\n<p>%s</p>\n", esc(a.abstract))
	for _, s := range a.sections {
		fmt.Fprintf(&b, "<h2>%s</h2>\n", esc(s.heading))
		for _, p := range s.text {
			fmt.Fprintf(&b, "<p>%s</p>\n", esc(p))
		}
	}
	b.WriteString("<h2>References</h2>\n")
	for _, r := range a.refs {
		fmt.Fprintf(&b, "<p>%s</p>\n", esc(r))
	}
	b.WriteString("</body></html>\n")
	return []byte(b.String())
}
