package match

import (
	"slices"
	"strings"

	"gleaner/internal/gleaner"
)

// Verdict is the certainty of a match.
type Verdict string

// The verdicts in descending order. Exact and strong matches are accepted; ambiguous ones wait
// for a person.
const (
	Exact     Verdict = "exact"
	Strong    Verdict = "strong"
	Ambiguous Verdict = "ambiguous"
	Different Verdict = "different"
)

// rank returns the order of verdicts, the surest first.
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

// Forms of a work. Paper, preprint and extended version are the work itself; the others only
// belong to it.
const (
	FormPaper      = "paper"
	FormPreprint   = "preprint"   // with a preprint server's stamp, or called so
	FormExtended   = "extended"   // called the full or extended version
	FormSlides     = "slides"     // a talk of the same title
	FormPoster     = "poster"     // a poster of the same title
	FormThesis     = "thesis"     // a thesis of the same title
	FormSupplement = "supplement" // an appendix, erratum or other matter about the work
)

// Evidence describes a document. Every field may be empty.
type Evidence struct {
	FirstPages string // text of the first two pages, separated by a form feed
	MetaTitle  string // title in the file's own metadata, or citation_title of its landing page
	FileName   string // last part of the URL's path
	Anchor     string // visible text of the link to it
	ArXiv      string // id in the URL, or ""
	DOI        string // DOI from the publisher's landing page or URL, or from the resolver, or ""
	PageDOI    string // DOI from a landing page on another host, which anyone can write, or ""
	URLDOI     string // DOI in a URL of another host, likewise
	Owners     string // ids of people whose homepage holds or links it, one per line
	Year       int    // 0 if unknown
}

// ownedBy reports whether an author of a paper is among the owners.
func (ev Evidence) ownedBy(paper gleaner.Paper) bool {
	if ev.Owners == "" {
		return false
	}
	owners := strings.Split(ev.Owners, "\n")
	return slices.ContainsFunc(paper.Authors, func(a gleaner.Author) bool { return slices.Contains(owners, a.ID()) })
}

// Match is a wanted paper that a document or a record may be.
type Match struct {
	Paper   gleaner.Paper
	Verdict Verdict
	Score   float64  // 0–1, orders matches of one verdict
	Reasons []string // for people
	Form    string   // "" for a record
}

// Taken reports whether the document can be stored as the paper without review: the verdict is
// sure, and the form is the work itself and not, for example, a talk.
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
