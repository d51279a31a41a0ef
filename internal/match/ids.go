package match

import (
	"cmp"

	"gleaner/internal/gleaner"
)

// maxDOIs is the number of DOIs of the first pages that are examined.
const maxDOIs = 8

// byID adds the papers whose arXiv id or DOI the document has. An id in a stamp or in arXiv's URL
// is the document's own. A DOI on page one may be that of a cited work, and any host may write
// one into a URL or a landing page. So these count only together with the title, or with each
// other.
func (ix *Index) byID(d *document, seen map[int]finding) {
	for _, id := range []string{gleaner.ParseArXiv(d.ev.ArXiv), arxivStamp(d.text)} {
		for _, i := range ix.arxiv[id] {
			seen[int(i)] = d.raise(seen[int(i)], ix, int(i), Exact, "arXiv id "+id)
		}
	}
	landing := gleaner.ParseDOI(d.ev.DOI)
	for _, i := range ix.doi[landing] {
		seen[int(i)] = d.raise(seen[int(i)], ix, int(i), Strong, "DOI "+landing+" of its landing page")
	}
	said := gleaner.ParseDOI(d.ev.PageDOI)
	for _, doi := range gleaner.DOIsInText(d.text, maxDOIs) {
		d.hint(ix, seen, doi, "on the first pages", doi == said)
	}
	d.hint(ix, seen, said, "of its landing page", false)
	d.hint(ix, seen, gleaner.ParseDOI(d.ev.URLDOI), "in the URL", false)
}

// hint counts a DOI that may be that of another work by the same authors ("A preliminary version
// appeared as 10.…"). sure means that the landing page has the same DOI.
func (d *document) hint(ix *Index, seen map[int]finding, doi, where string, sure bool) {
	for _, i := range ix.doi[doi] {
		v := Ambiguous
		if f, ok := seen[int(i)]; sure || ok && f.verdict != Different && f.end > f.start {
			v = Strong
		}
		seen[int(i)] = d.raise(seen[int(i)], ix, int(i), v, "DOI "+doi+" "+where)
	}
}

// raise returns a finding with the better verdict of an id, unless the authors contradict it.
func (d *document) raise(f finding, ix *Index, i int, v Verdict, why string) finding {
	paper := ix.papers[i]
	p := d.placeOf(0, 0, paper)
	f.verdict = cmp.Or(f.verdict, Different)
	if p.of > 0 && p.authors == 0 && f.verdict == Different {
		if len(d.letters) > 400 {
			return f
		}
		v = Ambiguous
	}
	if v.rank() < f.verdict.rank() {
		f.verdict = v
	}
	f.score = max(f.score, 0.95)
	f.reasons = append(f.reasons, why)
	return f
}

// anchor names the words of a link in reasons.
const anchor = "anchor"

// byName compares the names of the document in its own metadata and in the link to it. Legible
// pages that contradict them take precedence.
func (ix *Index) byName(d *document, seen map[int]finding) {
	for _, name := range []struct{ what, text string }{
		{"metadata title", d.ev.MetaTitle}, {anchor, d.ev.Anchor},
	} {
		if name.text == "" {
			continue
		}
		sk := skeleton(clip(name.text))
		for _, c := range ix.candidates(sk, 0, len(sk), 10, d.by) {
			rel := compareTitles(ix.papers[c.paper].Title, name.text)
			if rel > nearTitle || Unidentifiable(ix.papers[c.paper]) != "" {
				continue
			}
			f := seen[c.paper]
			f.verdict = cmp.Or(f.verdict, Different)
			p := d.placeOf(0, 0, ix.papers[c.paper])
			v := Different
			switch {
			case name.what == anchor && rel <= misread && d.cutShort(ix, c.paper):
				v = Strong
			case len(d.letters) < 200: // nothing legible
				v = Ambiguous
			case p.authors > 0 && f.end > f.start && f.verdict == Ambiguous:
				v = Strong
			case p.authors > 0:
				v = Ambiguous
			}
			if v.rank() < f.verdict.rank() {
				f.verdict, f.score = v, max(f.score, 0.5)
			}
			f.reasons = append(f.reasons, name.what+": "+rel.reason())
			seen[c.paper] = f
		}
	}
}

// cutShort reports whether a wanted title is at the top over all of its authors with letters
// missing, as from lines that run beyond the page. Such a title does not identify the paper, but
// supports a link with the title.
func (d *document) cutShort(ix *Index, paper int) bool {
	title, wanted := ix.title(paper), ix.papers[paper]
	w := newWanted(wanted.Title)
	limit := len(title) / 4
	al := d.al.align(title, d.letters, 0, topLetters+len(title), limit)
	if !d.lined || al.edits > limit || !w.long() || !w.onlyLost(al) || !d.startsLine(al.start) {
		return false
	}
	p := d.placeOf(al.start, al.end, wanted)
	return p.top && p.head && p.authors > 0 && p.authors == p.of
}
