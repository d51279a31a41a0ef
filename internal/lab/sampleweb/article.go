package sampleweb

import (
	"fmt"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/lab/packtest"
)

// article is the text of a paper, before it becomes a file.
type article struct {
	title    string
	authors  []string
	contact  string
	venue    string
	abstract string
	sections []section
	refs     []string
}

type section struct {
	heading string
	text    []string // paragraphs
}

// article writes the paper. It says the same whenever it is asked.
func (w *Web) article(p *paper) article {
	r := w.opt.random("article " + p.key)
	a := article{
		title: p.title, venue: fmt.Sprintf("%s %d, %s", venue(p.venue).Name, p.year, venue(p.venue).Title),
		abstract: paragraph(r, 5), authors: p.authorNames(),
	}
	lead := p.authors[0]
	a.contact = "Department of Computer Science, University of " + capital(lead.university) + "\n" + lead.login + "@cs." + lead.university + ".example"
	for i, heading := range []string{"Introduction", "Related Work", "The Approach", "Evaluation", "Conclusion"} {
		s := section{heading: fmt.Sprintf("%d. %s", i+1, heading)}
		for range 3 + r.IntN(3) {
			s.text = append(s.text, paragraph(r, 5+r.IntN(4)))
		}
		a.sections = append(a.sections, s)
	}
	for i := range 8 + r.IntN(8) {
		a.refs = append(a.refs, fmt.Sprintf("[%d] %s. %s. Journal of %s %d (%d), %d-%d.",
			i+1, pick(r, firstNames)[:1]+". "+pick(r, lastNames), title(r), capital(pick(r, topics)),
			1+r.IntN(30), p.year-1-r.IntN(12), 10+r.IntN(200), 220+r.IntN(20)))
	}
	return a
}

// paperFile is what stands at a paper's address.
func (w *Web) paperFile(p *paper) []byte {
	if p.reason == ReasonRejected {
		// The ways in which a file that is linked turns out to be useless.
		switch p.index / 8 % 3 {
		case 0:
			whole := writePDF(w.article(p))
			return whole[:len(whole)*11/20]
		case 1:
			return encryptedPDF(w.article(p))
		default:
			return scannedPDF(w.opt.random("scan " + p.key))
		}
	}
	switch p.format {
	case formatPS:
		return writePS(w.article(p))
	case formatPSGzip:
		return packtest.Gzip(writePS(w.article(p)))
	default:
		return writePDF(w.article(p))
	}
}

// bibtex is the paper's entry as authors put it on their pages.
func (p *paper) bibtex() string {
	names := each.Of(p.authors, func(a *author) string { return a.last + ", " + a.first })
	return fmt.Sprintf("@inproceedings{%s,\n  author = {%s},\n  title = {%s},\n  booktitle = {%s},\n  pages = {%s},\n  year = {%d}\n}\n",
		p.id, strings.Join(names, " and "), p.title, venue(p.venue).Title, strings.ReplaceAll(p.pages, "-", "--"), p.year)
}

func (p *paper) authorNames() []string {
	return each.Of(p.authors, func(a *author) string { return a.name })
}
