package document

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Bounds of what is taken for a paper by two signs of it.
const (
	fewEntries  = 3    // of a list of references
	lateList    = 0.3  // the share of the text before such a list: others are bibliographies
	earlyPlace  = 0.2  // of an abstract: the share of the text before it
	manyAddress = 6    // words of a thousand that speak of oneself or to the reader, as essays and instructions do
	manyCourse  = 8    // words of a thousand that speak of courses
	posterPage  = 1.25 // how much wider and higher than a letter's a page is
)

// ofOthers are the features that are signs of what is no paper.
var ofOthers = []string{"landscape", "contents", "course-front", "cv-front", "supplement-front", "name-course", "name-cv", "name-talk", "name-poster"}

// chapter is what a part of a book begins with.
var chapter = newCue(`(?i)(?:^|\n)\W*chapter\s+(?:[0-9]+|[ivx]+)\b`, "chapter")

// paperEvidence names what makes a document without a sign of anything else a paper,
// where much that papers have may be missing: a list of references, as short papers,
// reports and notes without an abstract have it, or an abstract by somebody from
// somewhere, as extended abstracts without references are. "" if nothing does, and for
// web pages, which have lists of references for other reasons.
func (c *counts) paperEvidence(t *Text, x Features) string {
	if t.Kind == HTML || x.of("page-area") > 2*math.Log(posterPage) || x.of("course-words") > math.Log1p(manyCourse) || chapter.in(strings.ToLower(c.front)) ||
		slices.ContainsFunc(ofOthers, func(sign string) bool { return x.of(sign) > 0 }) {
		return ""
	}
	switch {
	case c.entries >= fewEntries && c.place(c.refsEnd) >= lateList && x.of("first-person") < math.Log1p(manyAddress):
		return fmt.Sprintf("a list of %d references, and no sign of anything else", c.entries)
	case x[atAbstract] > 0 && x.of("abstract-at") < earlyPlace && x.of("affiliation")+x.of("email") > 0 && x.of("talk-front") == 0:
		return "an abstract and an address, and no sign of anything else"
	}
	return ""
}

// of is the feature of a name.
func (x Features) of(name string) float64 { return x[slices.Index(featureNames, name)] }
