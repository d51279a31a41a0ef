package document

import (
	"math"
	"slices"
)

// Sample is a document as weights of the filter are learnt from it, and measured by it.
type Sample struct {
	X       Features // by all of its pages
	Front   Features // by its first pages; nil where these are all
	MayStop bool     // they may settle it
	HasText bool
	Thesis  bool // by its evidence
	Paper   bool // likewise
	Opens   bool // its first pages are evidence of a paper
	Closes  bool // they and the last ones are
}

// Sample is the text as a sample.
func (t *Text) Sample(h Hints) Sample {
	c, x := byAll(t, h)
	s := Sample{HasText: t.HasText(), X: x}
	if first := t.front(); first != nil {
		fc := counted(first)
		s.Front = ofFront(fc.features(first, h))
		s.Opens = fc.paperEvidence(first, s.Front) != ""
		s.MayStop = !fc.slow(first, s.Opens)
		ends := *t
		ends.Pages = slices.Concat(first.Pages, t.Pages[max(VerdictPages, len(t.Pages)-lastPages):])
		ends.Front, ends.Skipped = VerdictPages, t.PageCount-len(ends.Pages)
		s.Closes = ends.Skipped > 0 && counted(&ends).paperEvidence(&ends, s.Front) != ""
	}
	s.Thesis, s.Paper = c.thesisEvidence(t) != "", c.paperEvidence(t, s.X) != ""
	return s
}

// JudgeSample is what the filter says of a sample: by its first pages where these settle
// it, else by all. front is NaN where they may not settle anything.
func (m *FilterModel) JudgeSample(s Sample) (score, whole, front float64, said Class) {
	whole = m.Academic.Probability(s.X, LabelAcademic)
	if s.Thesis || s.Paper {
		whole = max(whole, evidenceScore)
	}
	front = math.NaN()
	if s.Front != nil && s.MayStop {
		front = m.Front.Academic.Probability(s.Front, LabelAcademic)
		if s.Opens || s.Closes && !Settled(front) {
			front = max(front, evidenceScore)
		}
	}
	if Settled(front) {
		_, said = classes(m.Front.Kinds, s.Front, front, false, front > surely)
		return front, whole, front, said
	}
	_, said = classes(m.Kinds, s.X, whole, s.Thesis, whole >= 0.5)
	return whole, whole, front, said
}
