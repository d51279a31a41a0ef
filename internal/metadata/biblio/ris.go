package biblio

import (
	"bufio"
	"cmp"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"gleaner/internal/gleaner"
)

// risRecord gathers the lines of one reference.
type risRecord struct {
	paper  gleaner.Paper
	start  int
	last   string // tag of the line before, for lines that go on
	pages  [2]string
	inside bool
	size   int      // bytes of its lines
	title  []string // lines of the title, and of the venue, that go on
	venue  []string
}

func risPapers(br *bufio.Reader) iter.Seq2[gleaner.Paper, error] {
	var rec risRecord
	skip := false // up to the next reference
	all := byLine(br, maxLine, func(s string, line int) (p gleaner.Paper, start int, err error) {
		s = strings.TrimRight(s, " \r")
		begins := strings.HasPrefix(s, "TY  -")
		if strings.TrimSpace(s) == "" || skip && !begins {
			return p, 0, nil
		}
		skip = false
		done, err := rec.line(s, line)
		if err != nil {
			if rec, skip = (risRecord{}), !begins; begins { // the one before was not closed
				_, _ = rec.take(s, line)
			}
		}
		if done {
			p, start, rec = rec.finish(), rec.start, risRecord{}
		}
		return p, start, err
	})
	return func(yield func(gleaner.Paper, error) bool) {
		for p, err := range all {
			if !yield(p, err) {
				return
			}
		}
		if rec.inside {
			yield(rec.paper, failAt(rec.start, 1, "the reference that begins here has no closing \"ER  - \""))
		}
	}
}

// line takes a line that can be one of a reference.
func (rec *risRecord) line(s string, line int) (done bool, err error) {
	if !utf8.ValidString(s) {
		return false, failAt(line, 0, notUTF8)
	}
	if rec.size += len(s); rec.size > maxEntry {
		return false, failAt(rec.start, 1, "the reference that begins here is longer than %d bytes: is its \"ER  - \" missing?", maxEntry)
	}
	return rec.take(s, line)
}

// take reads one line; done means that the reference is complete.
func (rec *risRecord) take(s string, line int) (done bool, err error) {
	tag, value, ok := risLine(s)
	if !ok {
		if rec.inside && rec.last != "" { // a long field goes on
			rec.append(rec.last, strings.TrimSpace(s))
			return false, nil
		}
		return false, failAt(line, 1, "want a tag such as \"TI  - \", found %.20q", s)
	}
	switch {
	case tag == "TY" && rec.inside:
		return false, failAt(line, 1, "a new reference begins, but that of line %d is not closed with \"ER  - \"", rec.start)
	case tag == "TY":
		rec.inside, rec.start = true, line
	case !rec.inside:
		return false, failAt(line, 1, "%q before \"TY  - \"", tag)
	case tag == "ER":
		return true, nil
	case tag == "PY" || tag == "Y1" || tag == "DA" || tag == "Y2":
		y, ok := yearOf(value)
		if !ok && tag != "DA" && tag != "Y2" {
			return false, failAt(line, 7, "%q is not a year", value)
		}
		if tag != "Y2" && (rec.paper.Year == 0 || tag == "PY") && y != 0 {
			rec.paper.Year = y
		}
	default:
		rec.set(tag, value)
	}
	rec.last = tag
	return false, nil
}

// risLine splits "TI  - A title".
func risLine(s string) (tag, value string, ok bool) {
	if len(s) < 5 || s[2] != ' ' || s[3] != ' ' || s[4] != '-' {
		return "", "", false
	}
	for _, c := range []byte(s[:2]) {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return "", "", false
		}
	}
	return s[:2], strings.TrimSpace(s[5:]), true
}

func (rec *risRecord) set(tag, v string) {
	p := &rec.paper
	first := func(field *string) { *field = cmp.Or(*field, v) }
	switch tag {
	case "TI", "T1":
		first(&p.Title)
	case "AU", "A1":
		if n := turned(v); n != "" {
			p.Authors = append(p.Authors, gleaner.Author{Name: n})
		}
	case "DO":
		p.DOI = gleaner.ParseDOI(v)
	case "ID":
		first(&p.Key)
	case "T2", "JO", "JF", "BT":
		first(&p.Venue)
	case "SP":
		rec.pages[0] = v
	case "EP":
		rec.pages[1] = v
	case "UR", "L1":
		if v != "" && (tag == "UR" || strings.Contains(v, "://")) { // not the path of a file
			p.Links = append(p.Links, v)
		}
		if p.ArXiv == "" && strings.Contains(v, "arxiv.org/") {
			p.ArXiv = gleaner.ParseArXiv(v)
		}
	}
}

func (rec *risRecord) append(tag, v string) {
	switch tag {
	case "TI", "T1":
		rec.title = append(rec.title, v)
	case "T2", "JO", "JF", "BT":
		rec.venue = append(rec.venue, v)
	}
}

func (rec *risRecord) finish() gleaner.Paper {
	p := rec.paper
	p.Title = clean(strings.Join(append([]string{p.Title}, rec.title...), " "))
	p.Venue = strings.Join(append([]string{p.Venue}, rec.venue...), " ")
	p.Pages = rec.pages[0]
	if rec.pages[1] != "" && rec.pages[1] != rec.pages[0] {
		p.Pages += "-" + rec.pages[1]
	}
	return p
}

// risTypes are the types of references in RIS for those of BibTeX.
var risTypes = map[string]string{
	"inproceedings": "CONF", "conference": "CONF", "incollection": "CHAP", "inbook": "CHAP", "book": "BOOK",
	"phdthesis": "THES", "mastersthesis": "THES", "techreport": "RPT", "unpublished": "UNPB",
}

func writeRIS(w *bufio.Writer, entries []Entry) {
	line := func(tag, v string) {
		if v = strings.Join(strings.Fields(plain(v)), " "); v != "" {
			fmt.Fprintf(w, "%s  - %s\r\n", tag, v)
		}
	}
	for _, e := range entries {
		kind, in := "CONF", "BT"
		switch {
		case inJournal(e.Paper), e.Type == "article":
			kind, in = "JOUR", "T2"
		case risTypes[e.Type] != "":
			kind = risTypes[e.Type]
		case e.Venue == "":
			kind = "GEN"
		}
		line("TY", kind)
		line("ID", e.Key)
		line("TI", e.Title)
		for _, a := range e.Authors {
			line("AU", inverted(a, RIS))
		}
		line("PY", Year(e.Year))
		line(in, e.Venue)
		first, last, _ := strings.Cut(e.Pages, "-")
		line("SP", first)
		line("EP", strings.TrimLeft(last, "-"))
		line("DO", e.DOI)
		for _, u := range e.Links {
			line("UR", u)
		}
		line("L1", e.File)
		_, _ = w.WriteString("ER  - \r\n\r\n")
	}
}
