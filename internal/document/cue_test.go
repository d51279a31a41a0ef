package document

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Every branch of a cue's pattern has one of its words: what the pattern finds is
// found.
func TestCues(t *testing.T) {
	t.Parallel()
	texts := []string{
		"Universität", "an institute", "Department", "School of X", "Faculty of Y", "Acme Inc. ", "corporation", "CNRS", "INRIA", "research center", "a laboratory", "college",
		"a@b.org", "E-mail: x", "email", "Homework 3", "due: Monday", "Due Monday", "due on the 3rd", "due 3 May", "is due to a lemma", "lecture 4", "Lecture notes", "course notes", "Fall 2012", "final exam", "office hours", "practice problems", "project description",
		"Curriculum Vitae", "\nCV\n", "\nC.V.\n", "\nRésumé\n", "\nResume:\n", "\nEducation\n", "\nAcademic positions\n", "\nResearch interest\n", "\nTeaching Statement\n", "\nresearch statement\n", "\nProfessional preparation\n", "\nExperience\n", "\nBiographical Sketch\n", "\nEmployment\n",
		"a thesis", "dissertation", "partial fulfillment", "degree of", "submitted to the great university", "supervisor", "supervised",
		"Supplementary material", "supplement", "supplemental", "errata", "erratum", "corrigendum", "online appendix", "web appendix",
		"Proceedings", "Journal of X", "Transactions on", "conference on", "workshop on", "Vol. 3", "volume 3", "arXiv:1", "doi:1", "ISSN", "ISBN", "permission to make", "copyright", "preprint", "technical report", "to appear", "published in", "Lecture notes in",
		"\nKeywords", "\nKey words", "\nIndex Terms", "\nGeneral terms", "\nCategories and subject", "\nCCS concepts", "\nACM reference format",
		"slides", "talk", "seminar", "joint work with", "presented by", "presented at", "presentation", "colloquium", "tutorial",
		"in partial  fulfilment", "thesis submitted", "dissertation presented", "thesis for the degree", "Inaugural-Dissertation", "Master's thesis", "Ph. D. dissertation", "thèse de doctorat", "tesis doctoral", "Doktorarbeit", "Diplomarbeit", "tese de doutorado", "dissertação de mestrado", "dissertacao de mestrado", "Chapter 3", "\nchapter iv\n", "nothing of the sort",
	}
	found := 0
	for _, q := range []cue{affiliation, emailMark, courseFront, cvFront, thesisFront, supplFront, procFront, keywordFront, talkFront, fulfilment, thesisTitle, chapter} {
		for _, s := range texts {
			want := q.pattern.MatchString(s)
			assert.Equal(t, want, q.in(strings.ToLower(s)), "%s in %q", q.pattern, s)
			long := "Of something else.\n\nAnd more\n" + s + "\n\nand so\non"
			assert.Equal(t, q.pattern.MatchString(long), q.in(strings.ToLower(long)), "%s in %q", q.pattern, long)
			found += boolInt(want)
		}
	}
	assert.False(t, courseFront.in("which is due to a lemma of ours"), "most that is due to something is no homework")
	assert.GreaterOrEqual(t, found, len(texts)-2, "each of the texts is one that some pattern finds")
}
