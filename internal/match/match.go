package match

import (
	"slices"
	"strings"

	"gleaner/internal/gleaner"
)

// Verdict says how sure a match is.
type Verdict string

// The verdicts, from the surest on. Exact and strong ones are taken; an
// ambiguous one waits for a person.
const (
	Exact     Verdict = "exact"
	Strong    Verdict = "strong"
	Ambiguous Verdict = "ambiguous"
	Different Verdict = "different"
)

// rank orders verdicts: the lower, the surer.
func (v Verdict) rank() int {
	switch v {
	case Exact:
		return 0
	case Strong:
		return 1
	case Ambiguous:
		return 2
	}
	return 3
}

// The forms in which a work comes. Paper, preprint and extended version are the
// work itself; the others only belong to it.
const (
	FormPaper      = "paper"
	FormPreprint   = "preprint"   // stamped by a preprint server, or says so
	FormExtended   = "extended"   // says that it is the full or extended version
	FormSlides     = "slides"     // a talk of the same title
	FormPoster     = "poster"     // a poster of the same title
	FormThesis     = "thesis"     // a thesis of the same title
	FormSupplement = "supplement" // an appendix, erratum or other matter about the work
)

// Evidence is what is known of a document. Every field may be empty.
type Evidence struct {
	FirstPages string // text of the first two pages; a form feed parts them
	MetaTitle  string // title in the file's own metadata, or citation_title of its landing page
	FileName   string // last part of the URL's path
	Anchor     string // visible text of the link that led here
	ArXiv      string // id in the URL, or ""
	DOI        string // DOI that the publisher's landing page or URL, or the resolver's, gives, or ""
	PageDOI    string // DOI that a landing page on any other host gives, or "": anybody can write one there
	URLDOI     string // DOI in the URL of any other host, or "": likewise
	Owners     string // ids of people, a line each, at whose homepage it lies or from which it is linked
	Year       int    // 0 when unknown
}

// ownedBy reports whether an author of a paper is among the owners.
func (ev Evidence) ownedBy(paper gleaner.Paper) bool {
	if ev.Owners == "" {
		return false
	}
	owners := strings.Split(ev.Owners, "\n")
	return slices.ContainsFunc(paper.Authors, func(a gleaner.Author) bool { return slices.Contains(owners, a.ID()) })
}

// Match is one wanted paper that a document (or a record) may be.
type Match struct {
	Paper   gleaner.Paper
	Verdict Verdict
	Score   float64  // 0–1, orders matches of one verdict
	Reasons []string // what led there, for a person
	Form    string   // "" for a record
}

// Taken reports whether the document can be stored as the paper without asking
// anyone: a sure verdict, and the work itself rather than a talk about it.
func (m Match) Taken() bool {
	if m.Verdict != Exact && m.Verdict != Strong {
		return false
	}
	switch m.Form {
	case "", FormPaper, FormPreprint, FormExtended:
		return true
	}
	return false
}
