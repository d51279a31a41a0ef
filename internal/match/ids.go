package match

import (
	"cmp"

	"gleaner/internal/gleaner"
)

// mostDOIs bounds how many DOIs of the first pages are looked at.
const mostDOIs = 8

// byID adds the papers whose arXiv id or DOI the document bears. An id in a
// stamp or in arXiv's URL is the document's own; a DOI on page one may be that of
// a work it cites, and one in a URL or a landing page whatever its host likes, so
// that these need the title to go with them, or each other.
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
	for _, doi := range gleaner.DOIsInText(d.text, mostDOIs) {
		d.hint(ix, seen, doi, "on the first pages", doi == said)
	}
	d.hint(ix, seen, said, "of its landing page", false)
	d.hint(ix, seen, gleaner.ParseDOI(d.ev.URLDOI), "in the URL", false)
}

// hint counts a DOI that may be that of another work: "A preliminary version
// appeared as 10.…", by the same authors; sure says that its landing page names the
// same.
func (d *document) hint(ix *Index, seen map[int]finding, doi, where string, sure bool) {
	for _, i := range ix.doi[doi] {
		v := Ambiguous
		if f, ok := seen[int(i)]; sure || ok && f.verdict != Different && f.end > f.start {
			v = Strong
		}
		seen[int(i)] = d.raise(seen[int(i)], ix, int(i), v, "DOI "+doi+" "+where)
	}
}

// raise lifts a finding to a verdict that an id supports, if the authors do not
// speak against it.
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

// anchor is what the words of a link are called in reasons.
const anchor = "anchor"

// byName looks at what others call the document: its own metadata, the link that
// led to it. Where the pages are legible and say otherwise, that decides.
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
			if rel > nearTitle || Untellable(ix.papers[c.paper]) != "" {
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

// cutShort reports whether a wanted title stands at the top of a document over all of
// its authors with letters missing, as where lines run beyond the page: too few to
// tell it by, but enough to believe a link that bears the title.
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
