package match

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// place is the position of a title in a document, and the authors near it.
type place struct {
	top     bool // only a running head is above it
	head    bool // before the body, on page one or behind a cover
	listed  bool // below a heading of a list of other works
	alone   bool // on lines of its own
	authors int  // authors of the paper found near it
	of      int  // authors of the paper
	own     bool // one of them is an owner (Evidence.Owners)
	signed  bool // own, and one of them is further down, or misread by a letter
	gap     int  // letters between the title and the next author
	colon   bool // the line ends with a colon: a subtitle follows
	called  bool // alone but for a name and a colon before it: "SpecFuzzer: …"
	form    string
}

const (
	topLetters   = 160  // a running head, a stamp, a report number
	aboveLetters = 200  // above a title, searched for authors
	belowLetters = 1500 // below a title, searched for authors
	headLimit    = 1000 // above a title: copyright notices, a cover's words
)

func (d *document) placeOf(start, end int, paper gleaner.Paper) place {
	var p place
	origin := 0
	if d.second >= 0 && start >= d.second {
		origin = d.second
	}
	before := start - origin // letters above it on the page
	p.top = before <= topLetters
	p.listed = start >= d.list
	p.head = !p.listed && before <= headLimit && (start <= d.body || p.top && origin > 0) && (origin == 0 || d.cover())
	p.of = len(paper.Authors)
	p.own = d.ev.ownedBy(paper)
	p.gap = 1 << 20
	lo, hi := max(0, start-aboveLetters), min(len(d.letters), end+belowLetters)
	for _, a := range paper.Authors[:min(len(paper.Authors), maxAuthors)] {
		if at := d.findAuthor(a, lo, hi, end); at >= 0 {
			p.authors++
			if at >= end {
				p.gap = min(p.gap, at-end)
			}
		}
	}
	p.signed = p.own && p.authors == 0 && slices.ContainsFunc(paper.Authors[:min(len(paper.Authors), 20)],
		func(a gleaner.Author) bool { return d.findAuthor(a, hi, len(d.letters), hi) >= 0 || d.nearlySigned(a) })
	if d.lined {
		starts := d.startsLine(start)
		p.alone = starts && d.endsLine(end, paper)
		p.colon = starts && !p.alone && d.colonBehind(end)
		p.called = !starts && d.calledBefore(start) && d.endsLine(end, paper)
	} else {
		// Without lines, only the page's first letters and an author's name bound a title. The
		// text above can be a running head: nothing, a number, or more than the first words of a
		// longer title.
		p.alone = p.top && (len(bytes.TrimLeft(d.letters[origin:start], digits)) == 0 || start-origin > 12) &&
			(p.gap <= 12 || p.gap <= 200 && end-start > 24 && d.endsWithName(end))
	}
	p.form = d.lead(start)
	return p
}

// cover reports whether page one is a cover sheet: it has little text, or words of repositories.
func (d *document) cover() bool {
	if d.second < 700 {
		return true
	}
	first := d.letters[:d.second]
	marks := []string{"tocitethisversion", "openaccessarchive", "technicalreport", "citation", "downloaded", "thisversion", "acceptedmanuscript"}
	return slices.ContainsFunc(marks, func(w string) bool { return bytes.Contains(first, []byte(w)) })
}

// startsLine reports whether letter i is the first of its line, except for numbers and labels.
func (d *document) startsLine(i int) bool {
	lo := d.letterAt(d.lineStart(d.at(i)))
	head := bytes.TrimLeft(d.letters[lo:i], "0123456789")
	switch string(head) {
	case "", "title", "papertitle", "paper", "researcharticle", "article", "invitedpaper", "extendedabstract":
		return true
	}
	return false
}

// endsLine reports whether a title that ends before letter i is followed on its line only by
// footnote marks or by an author's name.
func (d *document) endsLine(i int, paper gleaner.Paper) bool {
	if i >= len(d.letters) || i == 0 {
		return true
	}
	stop := d.lineEnd(d.after(i - 1))
	rest := d.letters[i:d.letterAt(stop)]
	raw := strings.TrimSpace(d.text[d.after(i-1):stop])
	if len(rest) == 0 {
		return !strings.HasSuffix(raw, ":") && (!d.runsOn(stop) || d.namedAt(i, paper))
	}
	if len(rest) == 1 && !roman(string(rest)) && (rest[0] < '2' || rest[0] > '9') {
		return true // a footnote mark
	}
	return remark(raw) || d.namedAt(i, paper)
}

// remark reports whether a title is followed by a remark such as "(extended abstract)" or
// "[technical report]", but not "(Part II)" or "(2)".
func remark(raw string) bool {
	if !strings.HasPrefix(raw, "(") && !strings.HasPrefix(raw, "[") || len(raw) < 6 {
		return false
	}
	if last := raw[len(raw)-1]; last != ')' && last != ']' {
		return false
	}
	return !slices.ContainsFunc(text.TitleWords(raw), func(w string) bool { return roman(w) || number(w) != "" || w == "part" })
}

// namedAt reports whether an author's name is at letter i.
func (d *document) namedAt(i int, paper gleaner.Paper) bool {
	return slices.ContainsFunc(paper.Authors[:min(len(paper.Authors), maxAuthors)], func(a gleaner.Author) bool {
		at := d.findAuthor(a, i, min(i+40, len(d.letters)), i)
		return at >= 0 && at-i <= 3
	})
}

// runsOn reports whether the next line continues a title: it begins in lower case, directly
// below, and not with an address, arXiv's stamp or "by" and a name.
func (d *document) runsOn(stop int) bool {
	if stop >= len(d.text) || d.text[stop] == '\f' {
		return false
	}
	next := strings.TrimSpace(d.text[stop+1 : d.lineEnd(stop+1)])
	r, _ := utf8.DecodeRuneInString(next)
	if !unicode.IsLower(r) || strings.ContainsRune(next, '@') || strings.HasPrefix(next, "arXiv:") {
		return false
	}
	first, rest, _ := strings.Cut(next, " ")
	r, _ = utf8.DecodeRuneInString(rest)
	return first != "by" || rest != "" && !unicode.IsUpper(r)
}

// calledBefore reports whether only a name and a colon are before letter i on its line. A name
// has two capitals, which excludes "Discussion:", and is not in a line of capitals.
func (d *document) calledBefore(i int) bool {
	line := d.text[d.lineStart(d.at(i)):d.lineEnd(d.at(i))]
	name, _, _ := strings.Cut(line, ":")
	before := strings.TrimSpace(d.text[d.lineStart(d.at(i)):d.at(i)])
	if before != strings.TrimSpace(name)+":" || len(strings.Fields(name)) != 1 {
		return false
	}
	first, last := strings.IndexFunc(name, unicode.IsUpper), strings.LastIndexFunc(name, unicode.IsUpper)
	return first < last && strings.IndexFunc(line[len(name):], unicode.IsLower) >= 0
}

// colonBehind reports whether a colon or dash follows a title that ends before letter i.
func (d *document) colonBehind(i int) bool {
	if i == 0 || i > len(d.letters) {
		return false
	}
	raw := strings.TrimLeft(d.text[d.after(i-1):], " \t")
	return strings.HasPrefix(raw, ":") || strings.HasPrefix(raw, "—") || strings.HasPrefix(raw, "–")
}

// endsWithName reports whether the text after letter i begins with a capital, like a name.
func (d *document) endsWithName(i int) bool {
	if i >= len(d.letters) {
		return true
	}
	r, _ := utf8.DecodeRuneInString(d.text[d.at(i):])
	return unicode.IsUpper(r)
}

// lead returns words before a title that make another work of it: "Supplementary material for …",
// "A review of …".
func (d *document) lead(start int) string {
	lo := max(0, start-40)
	before := string(d.letters[lo:start])
	works := []string{"supplementfor", "supplementto", "supplementarymaterial", "supplementarymaterialfor", "supplementarymaterialto",
		"appendixto", "appendixfor", "appendicesto", "supplementalmaterial", "supplementalmaterialfor", "erratumto", "errata", "erratum",
		"addendumto", "corrigendumto", "corrigendum", "correctionto", "commentson", "replyto", "reviewof", "onlineappendix", "artifactappendix"}
	if slices.ContainsFunc(works, func(w string) bool { return strings.HasSuffix(before, w) }) {
		return FormSupplement
	}
	return ""
}

// findAuthor returns the letter at which the author's name is in letters[lo:hi], preferably at or
// after from, or -1. A surname of at least four letters suffices if it is a word; a shorter one
// needs the first name or an initial.
func (d *document) findAuthor(a gleaner.Author, lo, hi, from int) int {
	names := people([]gleaner.Author{a})
	if len(names) == 0 {
		return -1
	}
	ws := names[0]
	best := -1
	better := func(at int) {
		if at >= 0 && (best < 0 || best < from && at >= from) {
			best = at
		}
	}
	full := skeleton(strings.Join(ws, ""))
	if len(full) >= 5 {
		better(d.find(full, from, hi, false))
		better(d.find(full, lo, from, false))
	}
	surname := skeleton(ws[len(ws)-1])
	if len(surname) >= 4 {
		near := hi // elsewhere, a surname may be a word of the abstract
		if d.body > from {
			near = min(hi, d.body)
		}
		better(d.find(surname, from, near, true))
		better(d.find(surname, lo, from, true))
	}
	if len(ws) > 1 && len(surname) >= 2 {
		firstLast := skeleton(ws[0] + ws[len(ws)-1])
		better(d.find(firstLast, from, hi, len(firstLast) < 8))
		lastFirst := skeleton(ws[len(ws)-1] + ws[0])
		better(d.find(lastFirst, from, hi, len(lastFirst) < 8))
	}
	if best < 0 && len(ws) > 2 {
		return d.findShorter(ws[:len(ws)-1], lo, hi)
	}
	return best
}

// nearlySigned reports whether an author's first and last name are anywhere in the text, up to
// one letter.
func (d *document) nearlySigned(a gleaner.Author) bool {
	names := people([]gleaner.Author{a})
	if len(names) == 0 {
		return false
	}
	ws := names[0]
	name := skeleton(ws[0] + ws[len(ws)-1])
	return len(ws) > 1 && len(name) >= 8 && d.al.align(name, d.letters, 0, len(d.letters), 1).edits <= 1
}

// findShorter finds a name without its last surname, as common in Spain, if no other word of a
// name follows.
func (d *document) findShorter(ws []string, lo, hi int) int {
	name := skeleton(strings.Join(ws, ""))
	if len(name) < 8 || len(ws[len(ws)-1]) < 4 {
		return -1
	}
	at := d.find(name, lo, hi, false)
	if at < 0 || !d.bounded(at, at+len(name)) {
		return -1
	}
	behind := strings.TrimLeft(d.text[d.after(at+len(name)-1):], " \t\u00a0")
	if r, _ := utf8.DecodeRuneInString(behind); unicode.IsLetter(r) && !strings.HasPrefix(behind, "and ") && !strings.HasPrefix(behind, "y ") {
		return -1
	}
	return at
}

// find returns the place of name in letters[lo:hi]. whole requires word boundaries at both ends,
// if the text has words.
func (d *document) find(name []byte, lo, hi int, whole bool) int {
	for lo < hi && len(name) > 0 {
		i := bytes.Index(d.letters[lo:hi], name)
		if i < 0 {
			return -1
		}
		i += lo
		if !whole || len(name) >= 7 || d.bounded(i, i+len(name)) {
			return i
		}
		lo = i + 1
	}
	return -1
}

func (d *document) bounded(i, j int) bool {
	left := i == 0 || d.at(i-1)+1 < d.at(i)
	right := j >= len(d.letters) || d.after(j-1) < d.at(j)
	return left && right
}
