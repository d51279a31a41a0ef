package match

import (
	"bytes"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

const (
	run       = 12  // letters from the start of a word; it includes the next words
	topOfPage = 168 // letters of a page that may hold a title of a few letters (see placeOf)
	shortRuns = 40  // letters below which a title also has signs for starts and ends of lines
	longWords = 12  // letters of a word in a text that lost its spaces
	maxSigns  = 40  // signs of one title
)

// Kinds of signs. Each has its own numbers.
const (
	wordSign  = iota // letters from the start of a word
	startSign        // letters from the start of a line
	endSign          // letters to the end of a line
	lineSign         // a whole line of a few letters
	topSign          // fewer letters from the start of a word, at the top of a page
	doiSign
	arxivSign
)

// Signs returns numbers of a document: hashes of the letters at starts of words and lines in its
// text, its name and its link, and of its identifiers. If [Index.Document] finds a paper, the
// document has one of the paper's [SignsOf], for any index. So the documents that may be a paper
// are found by an index of signs. This holds if at least one run of some twelve letters of a
// title, from the start of a word, is read correctly.
func Signs(all ...Evidence) []int32 {
	var s signs
	for i, ev := range all {
		if i == 0 || ev.FirstPages != all[i-1].FirstPages {
			s.addText(ev.FirstPages)
		}
		s.addName(ev.MetaTitle)
		s.addName(ev.Anchor)
		s.addID(arxivSign, gleaner.ParseArXiv(ev.ArXiv))
		s.addID(doiSign, gleaner.ParseDOI(ev.DOI))
		s.addID(doiSign, gleaner.ParseDOI(ev.URLDOI))
	}
	slices.Sort(s)
	return slices.Compact(s)
}

// SignsOf returns the signs of a paper: of its identifiers, and of its title in the order of the
// words.
func SignsOf(p gleaner.Paper) (ids, title []int32) {
	var byID, byTitle signs
	byID.addID(arxivSign, gleaner.ParseArXiv(p.ArXiv))
	byID.addID(doiSign, gleaner.ParseDOI(p.DOI))
	s := titleStream(p.Title)
	n := len(s.letters)
	switch {
	case n == 0:
	case n < gram:
		byTitle.add(lineSign, s.letters)
	default:
		for i := 0; i+run <= n && len(byTitle) < maxSigns; i++ {
			if s.begins(i) {
				byTitle.add(wordSign, s.letters[i:i+run])
			}
		}
		if n < shortRuns {
			byTitle.add(startSign, s.letters[:gram])
			byTitle.add(endSign, s.letters[n-gram:])
		}
		if n < run {
			byTitle.add(topSign, s.letters[:gram])
		}
	}
	return byID, byTitle
}

type signs []int32

func (s *signs) add(kind uint64, letters []byte) {
	h := kind + 1
	for _, c := range letters {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	*s = append(*s, int32(uint32(mix(h)>>32)))
}

func (s *signs) addID(kind uint64, id string) {
	if id != "" {
		s.add(kind, []byte(id))
	}
}

// addText adds the signs of the first pages that are searched for titles and ids.
func (s *signs) addText(text string) {
	s.addID(arxivSign, arxivStamp(text))
	for _, doi := range gleaner.DOIsInText(text, maxDOIs) {
		s.addID(doiSign, doi)
	}
	d := newDocument(Evidence{FirstPages: text})
	end := min(headLetters, len(d.letters))
	if d.second >= 0 {
		end = min(end, d.second+gram-1)
		s.addStretch(d.stream, d.second, min(d.second+secondLetters, len(d.letters)))
	}
	s.addStretch(d.stream, 0, end)
	s.addShortLines(d)
}

// addName adds the signs of a name given by metadata or a link.
func (s *signs) addName(name string) {
	if name != "" {
		d := newStream(text.Plain(clip(name)), 4*maxTitle)
		s.addStretch(d, 0, len(d.letters))
	}
}

// addStretch adds the signs of letters[lo:hi]; a run may continue after hi. In a text without
// spaces, a word may begin at any letter.
func (s *signs) addStretch(d stream, lo, hi int) {
	words := 0
	for i := lo; i < hi; i++ {
		if d.begins(i) {
			words++
		}
	}
	glued := hi-lo > words*longWords
	for i := lo; i < hi; i++ {
		first := d.starts(i)
		if first || glued || d.begins(i) {
			if i+run <= len(d.letters) {
				s.add(wordSign, d.letters[i:i+run])
			}
			if i-lo < topOfPage && i+gram <= len(d.letters) {
				s.add(topSign, d.letters[i:i+gram])
			}
		}
		if first {
			if rest := bytes.TrimLeft(d.letters[i:], digits); len(rest) >= gram {
				s.add(startSign, rest[:gram])
			}
		}
		if i+1 == len(d.letters) || d.starts(i+1) {
			if rest := bytes.TrimRight(d.letters[:i+1], digits); len(rest) >= gram {
				s.add(endSign, rest[len(rest)-gram:])
			}
		}
	}
}

// addShortLines adds the signs of the lines that shortInLines compares.
func (s *signs) addShortLines(d *document) {
	for p, n := 0, 0; n < shortLines && p < len(d.text); n++ {
		end := d.lineEnd(p)
		lo, hi := d.letterAt(p), d.letterAt(end)
		if hi > lo && hi-lo < gram {
			s.add(lineSign, d.letters[lo:hi])
		}
		p = end + 1
	}
}

// begins reports whether a word begins with letter i.
func (s stream) begins(i int) bool { return i == 0 || parted(s.text[s.pos[i-1]:s.pos[i]]) }

// starts reports whether a line begins with letter i.
func (s stream) starts(i int) bool {
	if i == 0 {
		return true
	}
	return strings.ContainsAny(s.text[s.pos[i-1]:s.pos[i]], "\n\f")
}

const digits = "0123456789"
