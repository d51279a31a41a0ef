package match

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gleaner/internal/gleaner"
)

const (
	headLetters   = 2400 // of page one that may hold the title
	secondLetters = 1200 // of page two, behind a cover page
	allLetters    = 9000 // of both pages that are searched for authors and ids
	shortLines    = 12   // lines that a title of a few letters may fill
)

// document is a text prepared for matching.
type document struct {
	stream
	ev     Evidence
	second int  // first letter of page two, or -1
	body   int  // first letter of the abstract or introduction, or the text's end
	list   int  // first letter of a heading of a list of titles, or the end
	lined  bool // the text has line breaks
	form   string
	formBy string
	al     aligner
	by     func() traits
}

// Document returns the wanted papers that a document may be, best first, without those that
// differ. Several matches of one verdict are wanted papers of one title (a conference and a
// journal version).
func (ix *Index) Document(ev Evidence) []Match {
	d := newDocument(ev)
	d.by = sync.OnceValue(func() traits { return d.traits(ix) })
	seen := map[int]finding{}
	for _, c := range ix.inHead(d) {
		f := d.judge(ix, c)
		if old, ok := seen[c.paper]; !ok || f.verdict.rank() < old.verdict.rank() {
			seen[c.paper] = f
		}
	}
	ix.byID(d, seen)
	ix.byName(d, seen)
	dropLists(seen)
	var out []Match
	for i, f := range seen {
		if f.verdict == Different {
			continue
		}
		m := Match{Paper: ix.papers[i], Verdict: f.verdict, Score: f.score, Reasons: f.reasons, Form: d.form}
		if f.form != "" {
			m.Form = f.form
		}
		if d.formBy != "" {
			m.Reasons = append(m.Reasons, d.formBy)
		}
		if d.ev.Year != 0 && m.Paper.Year != 0 {
			m.Score -= 0.01 * float64(min(10, max(d.ev.Year-m.Paper.Year, m.Paper.Year-d.ev.Year)))
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, Compare)
	return out
}

// inHead returns the candidates whose title may be in the head.
func (ix *Index) inHead(d *document) []candidate {
	end := min(headLetters, len(d.letters))
	if d.second >= 0 {
		end = min(end, d.second+gram-1)
	}
	out := ix.candidates(d.letters, 0, end, 24, d.by)
	if d.second >= 0 {
		out = append(out, ix.candidates(d.letters, d.second, d.second+secondLetters, 12, d.by)...)
	}
	return append(out, ix.shortInLines(d)...)
}

// traits returns the words of the first pages, which hold the names of authors, and the papers of
// the document's DOIs.
func (d *document) traits(ix *Index) traits {
	of := traits{year: d.ev.Year, names: []string{nobody}}
	for lo, i := 0, 1; lo < len(d.letters); i++ {
		if i == len(d.letters) || d.begins(i) {
			of.names = append(of.names, string(d.letters[lo:i]))
			lo = i
		}
	}
	slices.Sort(of.names)
	of.names = slices.Compact(of.names)
	for _, doi := range append(gleaner.DOIsInText(d.text, maxDOIs),
		gleaner.ParseDOI(d.ev.DOI), gleaner.ParseDOI(d.ev.PageDOI), gleaner.ParseDOI(d.ev.URLDOI)) {
		of.same = append(of.same, ix.doi[doi]...)
	}
	return of
}

// shortInLines finds titles too short for an n-gram, which must fill a line.
func (ix *Index) shortInLines(d *document) []candidate {
	if len(ix.short) == 0 {
		return nil
	}
	var out []candidate
	p := 0
	for range shortLines {
		end := d.lineEnd(p)
		lo, hi := d.letterAt(p), d.letterAt(end)
		if first, ok := ix.short[string(d.letters[lo:hi])]; ok {
			for _, i := range ix.likeliest(first, maxSameTitle, d.by) {
				out = append(out, candidate{paper: i, at: lo, votes: 1})
			}
		}
		if p = end + 1; p >= len(d.text) {
			break
		}
	}
	return out
}

func newDocument(ev Evidence) *document {
	d := &document{stream: newStream(ev.FirstPages, allLetters), ev: ev, second: -1}
	if i := strings.IndexByte(ev.FirstPages, '\f'); i >= 0 {
		if s := d.letterAt(i); s < len(d.letters) {
			d.second = s
		}
	}
	head := d.text[:d.at(min(len(d.letters), 800))]
	d.lined = strings.Count(head, "\n")*150 >= len(head)
	d.body, d.list = len(d.letters), len(d.letters)
	for p := 0; p < len(d.text); p = d.lineEnd(p) + 1 {
		lo := d.letterAt(p)
		if lo >= len(d.letters) {
			break
		}
		line := d.letters[lo:d.letterAt(d.lineEnd(p))]
		if d.body == len(d.letters) && startsBody(line) {
			d.body = lo
		}
		if d.list == len(d.letters) && startsList(line) {
			d.list = lo
		}
	}
	d.form, d.formBy = formOf(d)
	return d
}

// startsBody reports whether the body of the text begins with a line. It compares skeletons: "1.
// Introduction" folds to "1introduction".
func startsBody(line []byte) bool {
	line = bytes.TrimLeft(line, "0123456789")
	words := []string{"abstract", "summary", "introduction", "zusammenfassung", "resume", "iintroduction"}
	return slices.ContainsFunc(words, func(w string) bool { return bytes.HasPrefix(line, []byte(w)) })
}

// startsList reports whether a line is a heading of a list of other works.
func startsList(line []byte) bool {
	line = bytes.TrimLeft(line, "0123456789")
	if len(line) > 60 {
		return false
	}
	switch string(line) {
	case "contents", "tableofcontents", "papers", "program", "acceptedpapers", "proceedings", "preface", "curriculumvitae", "cv",
		"references", "bibliography", "journalarticles", "conferencepapers", "refereedpapers":
		return true
	}
	return bytes.HasSuffix(line, []byte("publications")) || bytes.HasSuffix(line, []byte("preface"))
}

// finding is the verdict on one candidate.
type finding struct {
	verdict    Verdict
	score      float64
	reasons    []string
	start, end int
	form       string
}

// judge aligns a candidate's title and rates its place and the authors near it.
func (d *document) judge(ix *Index, c candidate) finding {
	paper := ix.papers[c.paper]
	title := ix.title(c.paper)
	slack, limit := len(title)/6+12, maxEdits(len(title))
	al := d.al.align(title, d.letters, c.at-slack, c.at+len(title)+slack, limit)
	f := finding{verdict: Different, start: al.start, end: al.end}
	if al.edits > limit && subtitleAt(paper.Title) < 0 {
		return f
	}
	w := newWanted(paper.Title)
	rel := otherTitle
	if al.edits <= limit {
		rel = w.judge(al, d.letters)
	}
	if rel == otherTitle {
		if al, rel = d.mainOnly(w, c); rel == otherTitle {
			return f
		}
		f.start, f.end = al.start, al.end
	}
	p := d.placeOf(al.start, al.end, paper)
	f.reasons = append(f.reasons, rel.reason(), p.reason())
	f.verdict, f.score = decide(rel, p, w)
	if f.verdict == Ambiguous && p.form == FormSupplement && (p.authors > 0 || p.of == 0) {
		f.verdict = Strong // it names the work that it belongs to
	}
	if (f.verdict != Exact || p.authors < p.of || p.of == 0) && Unidentifiable(paper) != "" {
		f.verdict = Different
	}
	f.score -= float64(al.edits) / float64(10*len(w.letters))
	f.form = p.form
	return f
}

// decide returns the verdict and score of a title in a document.
func decide(rel relation, p place, w wanted) (Verdict, float64) {
	letters := len(w.letters)
	long := w.long()
	named := p.authors > 0
	switch {
	case p.listed:
		return Different, 0
	case !p.head && rel <= misread && named && p.alone && letters > shortTitle:
		return Ambiguous, 0.4
	case !p.head:
		return Different, 0
	case rel == sameTitle && named && p.alone && (letters > shortTitle || p.authors == p.of):
		return Exact, 1
	case rel <= misread && named && p.alone:
		return Strong, 0.9
	case rel == nearTitle && named && p.alone:
		return Strong, 0.8
	case rel <= misread && p.alone && long && (p.of == 0 || p.top && p.signed):
		return Strong, 0.7 // the title alone may be that of another person's work
	case rel == withSubtitle:
		return subtitled(p)
	case rel <= misread && long && p.top && p.colon && p.allOf():
		return Strong, 0.7 // the document adds a subtitle
	case rel <= misread && long && p.top && p.called && p.allOf():
		return Strong, 0.7 // the document names the subject of its title
	case rel <= nearTitle && named && letters > shortTitle && p.top:
		return Ambiguous, 0.6
	case rel <= misread && p.alone && letters > shortTitle:
		return Ambiguous, 0.5
	}
	return Different, 0
}

// subtitled returns the verdict on a document that has a wanted title without its subtitle.
func subtitled(p place) (Verdict, float64) {
	switch {
	case p.alone && p.top && p.allOf():
		return Strong, 0.7
	case p.alone && p.head && p.authors > 0:
		return Ambiguous, 0.5
	}
	return Different, 0
}

// allOf reports whether at least two authors are near the title, and none is missing.
func (p place) allOf() bool { return p.of >= 2 && p.authors == p.of }

// mainOnly aligns a wanted title without the part after its first colon, dash, question mark or
// full stop.
func (d *document) mainOnly(w wanted, c candidate) (alignment, relation) {
	if w.main < 16 {
		return alignment{}, otherTitle
	}
	head := w.letters[:w.main]
	slack := 8 + len(head)/8
	al := d.al.align(head, d.letters, c.at-slack, c.at+len(head)+slack, len(head)/16)
	if al.edits > len(head)/16 {
		return al, otherTitle
	}
	return al, withSubtitle
}

func (p place) reason() string {
	var b strings.Builder
	switch {
	case p.top:
		b.WriteString("at the top of the page")
	case p.head:
		b.WriteString("in the head of the page")
	default:
		b.WriteString("within the text")
	}
	if !p.alone {
		b.WriteString(", not on lines of its own")
	}
	if p.of > 0 {
		fmt.Fprintf(&b, ", %d of %d authors by it", p.authors, p.of)
	}
	if p.own && p.authors == 0 {
		b.WriteString(", at an author's homepage")
	}
	if p.signed {
		b.WriteString(", an author further down")
	}
	return b.String()
}

// dropLists removes the matches of a document that has several wanted titles in different places:
// it lists papers and is none of them, unless one is at the top with text before the next.
func dropLists(seen map[int]finding) {
	var starts []int
	for _, f := range seen {
		if f.verdict.rank() <= Strong.rank() && f.end > f.start {
			starts = append(starts, f.start)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	apart := 0
	for i := 1; i < len(starts); i++ {
		if starts[i]-starts[i-1] > 10 {
			apart++
		}
	}
	if apart == 0 {
		return
	}
	for i, f := range seen {
		if f.end <= f.start || f.verdict == Different {
			continue
		}
		if apart >= 2 || f.start != starts[0] {
			f.verdict = Different
			seen[i] = f
		}
	}
}
