package document

import (
	"math"
	"slices"
	"strings"

	"gleaner/internal/learn"
)

// FrontModel judges documents by their first pages alone. It is trained on these
// pages of the same documents; how many pages there are it does not know.
type FrontModel struct {
	Academic *learn.Logistic `json:"academic"`
	Kinds    *learn.Logistic `json:"kinds"`
	Settled  float64         `json:"settled"` // share of the documents with more pages that these settled, cross-validated
}

// The first pages settle a document whose score by them is outside of these.
// Cross-validated accuracy is the same from 0.02 to 0.05 and from 0.9 to 0.98.
const (
	surelyNot = 0.05
	surely    = 0.9
)

// Settled reports whether a score by the first pages needs no further reading.
func Settled(score float64) bool { return score < surelyNot || score > surely }

// Enough says of a document's first pages, for Reader.ReadUntil, how much more is
// to be read of it: its end where they settle that it is academic, nothing where they
// settle that it is not, all of what comes late to its matter, and else the end, whose
// references may settle it, before all.
func (f *Filter) Enough(t *Text, h Hints) More {
	if f.model.Front == nil { // trained without
		return ReadAll
	}
	c, x := byFront(t, h)
	score := f.model.Front.Academic.Probability(x, LabelAcademic)
	paper := c.paperEvidence(t, x) != ""
	switch {
	case c.slow(t, paper):
		return ReadAll
	case paper || score > surely:
		return ReadEnd
	case score < surelyNot:
		return ReadNoMore
	case t.Skipped > 0: // its end is there
		return ReadAll
	}
	return ReadOn
}

// byAll counts a text, and takes its features.
func byAll(t *Text, h Hints) (*counts, Features) {
	c := counted(t)
	return c, c.features(t, h)
}

// byFront counts a text, and takes the features of its first pages.
func byFront(t *Text, h Hints) (*counts, Features) {
	c := counted(t)
	if first := t.front(); first != nil && c.first != nil {
		return c, ofFront(c.first.features(first, h))
	}
	return c, ofFront(c.features(t, h))
}

// fewWords is how little the first pages of a document may say before more is
// read: title pages, blank pages, pictures.
const fewWords = 150

// slow knows the documents that take more pages to come to their matter than
// papers do: theses, reports and books with their title pages and contents.
func (c *counts) slow(t *Text, paper bool) bool {
	return !t.landscape() && (c.words < fewWords || c.at[secContents] >= 0) || !paper && thesisFront.in(strings.ToLower(c.front))
}

// ofFront is what the first pages know of the features.
func ofFront(x Features) Features {
	x = slices.Clone(x)
	x[atPages] = math.NaN()
	return x
}

// front is the text that ReadUntil asks about; nil for a document without more.
func (t *Text) front() *Text {
	if t.PageCount <= VerdictPages || t.Front < VerdictPages || t.Outcome != OK {
		return nil
	}
	f := *t
	f.Pages, f.Front, f.PageCount, f.Skipped = t.Pages[:VerdictPages], VerdictPages, VerdictPages, 0
	return &f
}
