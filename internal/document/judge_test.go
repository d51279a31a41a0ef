package document

import (
	"bytes"
	"encoding/json"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/sampleweb"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	r := NewReader(withPoppler(t))
	for name, tc := range map[string]struct {
		body     []byte
		file     string
		academic bool
		class    Class
	}{
		"paper":    {paperPDF(t, 8), "x.pdf", true, Paper},
		"slides":   {slidesPDF(t), "x.pdf", false, Slides},
		"homework": {pile.File(1, sampleweb.AsSheet), "hw3.pdf", false, Course},
	} {
		got := NewFilter(Balanced).Judge(read(t, r, tc.file, tc.body), Hints{Name: tc.file})
		assert.True(t, got.Judged, name)
		assert.Equal(t, tc.academic, got.Academic, "%s: %v", name, got.Reasons)
		assert.Equal(t, tc.class, got.Class, "%s: %v", name, got.Reasons)
		sum := 0.0
		for _, p := range got.Probabilities {
			sum += p
		}
		assert.InDelta(t, 1, sum, 1e-6, name)
		assert.NotEmpty(t, got.Reasons, name)
	}
}

func TestJudgeWithoutText(t *testing.T) {
	t.Parallel()
	got := NewFilter(Liberal).Judge(&Text{Outcome: ImageOnly}, Hints{})
	assert.False(t, got.Judged)
	assert.False(t, got.Academic)
	assert.Equal(t, Other, got.Class)
}

func TestThesis(t *testing.T) {
	t.Parallel()
	pages := []string{"On Patience\n\nAda Example\n\nA dissertation submitted in partial fulfilment of the requirements\nfor the degree of Doctor of Philosophy"}
	for i := range 40 {
		pages = append(pages, "This thesis goes on. "+paragraph(i, 30))
	}
	text := &Text{Outcome: OK, Kind: PDF, Pages: pages, Front: len(pages), PageCount: 140, Width: 595, Height: 842}
	got := NewFilter(Balanced).Judge(text, Hints{})
	assert.Equal(t, Thesis, got.Class, got.Reasons)
	assert.True(t, got.Academic)
	short := *text
	short.Pages, short.PageCount = pages[:12], 12
	assert.NotEqual(t, Thesis, NewFilter(Balanced).Judge(&short, Hints{}).Class)
	cv := *text
	cv.Pages = append([]string{"Curriculum Vitae\nEducation\nPh.D. thesis: On Patience"}, pages[1:]...)
	assert.Empty(t, counted(&cv).thesisEvidence(&cv), "a CV names its author's thesis")
}

// What has no abstract, or no references, is a paper by the rest, unless anything
// says what else it is.
func TestPaperEvidence(t *testing.T) {
	t.Parallel()
	list := "\nReferences\nKnuth, D. The art. 1968.\nDijkstra, E. Go to. 1968.\nHoare, C. Axioms. 1969.\n"
	short := "On Patience\nAda Example\n\nQuitting games are played by many who wait (Knuth, 1968).\n" + paragraph(2, 12) + list
	abstract := "On Patience\nAda Example, University of Somewhere\nAbstract\n" + paragraph(3, 30)
	page := func(s string) *Text {
		return &Text{Outcome: OK, Kind: PDF, Pages: []string{s}, Front: 1, PageCount: 1, Width: 595, Height: 842}
	}
	poster, web, slides := page(abstract), page(short), page(abstract)
	poster.Width, poster.Height = 2384, 3370
	web.Kind = HTML
	slides.Width, slides.Height = 842, 595
	for name, tc := range map[string]struct {
		text  *Text
		hints Hints
		want  bool
	}{
		"references alone":       {page(short), Hints{}, true},
		"an abstract, signed":    {page(abstract), Hints{}, true},
		"an abstract, unsigned":  {page(strings.Replace(abstract, ", University of Somewhere", "", 1)), Hints{}, false},
		"two references":         {page(strings.Replace(short, "Dijkstra, E. Go to. 1968.\n", "", 1)), Hints{}, false},
		"a bibliography":         {page("On Patience\n" + list + paragraph(2, 12)), Hints{}, false},
		"a chapter of a book":    {page("Chapter 4\n" + short), Hints{}, false},
		"a homework by its name": {page(short), Hints{Name: "hw3.pdf"}, false},
		"a homework by its head": {page("Homework 3\n" + short), Hints{}, false},
		"a CV":                   {page("Curriculum Vitae\n" + short), Hints{}, false},
		"a supplement":           {page("Supplementary material\n" + short), Hints{}, false},
		"a talk's announcement":  {page("Seminar\n" + abstract), Hints{}, false},
		"an essay":               {page(strings.Repeat("I tell you what I think of my life and your life. ", 30) + short), Hints{}, false},
		"slides":                 {slides, Hints{}, false},
		"a poster":               {poster, Hints{}, false},
		"a web page":             {web, Hints{}, false},
	} {
		c := counted(tc.text)
		why := c.paperEvidence(tc.text, c.features(tc.text, tc.hints))
		assert.Equal(t, tc.want, why != "", "%s: %q", name, why)
		got := NewFilter(Balanced).Judge(tc.text, tc.hints)
		if tc.want {
			assert.Equal(t, Paper, got.Class, "%s: %q", name, got.Reasons)
			assert.Contains(t, got.Reasons[0], "a paper: ", name)
		}
	}
}

// TestOperatingPoints: a liberal filter takes documents of a lesser score than a balanced
// one does, and that of a lesser one than a conservative one.
func TestOperatingPoints(t *testing.T) {
	t.Parallel()
	text := &Text{Outcome: OK, Kind: PDF, Pages: []string{paragraph(1, 200)}, Front: 1, PageCount: 1, Width: 595, Height: 842}
	least := map[Point]float64{} // score of what is taken
	for _, p := range []Point{Conservative, Balanced, Liberal} {
		f := NewFilter(p)
		least[p] = 1
		for range 200 {
			f.model.Academic.Bias[slices.Index(f.model.Academic.Classes, LabelAcademic)] += 0.1
			if j := f.Judge(text, Hints{}); j.Academic {
				least[p] = min(least[p], j.Score)
			}
		}
	}
	assert.InDelta(t, 0.5, least[Balanced], 0.05)
	assert.Greater(t, least[Conservative], 0.7)
	assert.Less(t, least[Liberal], 0.3)
	assert.Greater(t, least[Liberal], surelyNot, "what its first pages reject is read no further")
}

// TestFirstPagesHaveAModelOfTheirOwn: of a document of which no more was read the model
// for first pages judges.
func TestFirstPagesHaveAModelOfTheirOwn(t *testing.T) {
	t.Parallel()
	text := &Text{Outcome: OK, Kind: PDF, Front: VerdictPages, PageCount: 9, Width: 595, Height: 842}
	for i := range VerdictPages {
		text.Pages = append(text.Pages, paragraph(i, 200))
	}
	f := NewFilter(Balanced)
	model, front, academic := *f.model, *f.model.Front, *f.model.Front.Academic
	academic.Bias = slices.Clone(academic.Bias)
	for i, class := range academic.Classes { // it takes everything for academic
		if class == LabelAcademic {
			academic.Bias[i] += 1000
		}
	}
	front.Academic, model.Front = &academic, &front
	f.model = &model
	assert.Less(t, f.Judge(text, Hints{}).Score, 0.99)
	text.Stopped = true
	assert.Greater(t, f.Judge(text, Hints{}).Score, 0.99)
}

func TestLoadFilterRefusesOtherFeatures(t *testing.T) {
	t.Parallel()
	m := *NewFilter(Balanced).model
	a := *m.Academic
	a.Features = a.Features[1:]
	m.Academic = &a
	b, err := json.Marshal(m)
	require.NoError(t, err)
	_, err = LoadFilter(bytes.NewReader(b), Balanced)
	assert.ErrorIs(t, err, errModel)
	_, err = LoadFilter(strings.NewReader("{"), Balanced)
	assert.ErrorIs(t, err, errModel)
}

func TestFeatures(t *testing.T) {
	t.Parallel()
	text := func(lines ...string) *Text {
		return &Text{Outcome: OK, Pages: []string{strings.Join(lines, "\n")}, Front: 1, PageCount: 1}
	}
	for name, tc := range map[string]struct {
		text    *Text
		hints   Hints
		feature string
		want    float64
	}{
		"numbered heading":     {text("some", "1. Introduction", "words"), Hints{}, "introduction", 1},
		"roman heading":        {text("I. INTRODUCTION"), Hints{}, "introduction", 1},
		"spaced capitals":      {text("I NTRODUCTION"), Hints{}, "introduction", 1},
		"no heading":           {text("an introduction to words that goes on for much longer than any heading would"), Hints{}, "introduction", 0},
		"abstract on its line": {text("Abstract—We show"), Hints{}, "abstract", 1},
		"abstract as a word":   {text("Abstract nonsense is fun"), Hints{}, "abstract", 0},
		"this paper":           {text("In this paper, we"), Hints{}, "this-paper", 1},
		"another tongue":       {text("6. Referências"), Hints{}, "references", 1},
		"unknown layout":       {text("x"), Hints{}, "landscape", math.NaN()},
		"name of homework":     {text("x"), Hints{Name: "http://u.edu/~x/teaching/hw2.pdf"}, "name-course", 1},
		"name of a host":       {text("x"), Hints{Name: "http://homework.edu/a/b/paper.pdf"}, "name-course", 0},
		"press is no talk":     {text("x"), Hints{Name: "http://x.org/press/v1.pdf"}, "name-talk", 0},
		"cv":                   {text("x"), Hints{Name: "/cv.pdf"}, "name-cv", 1},
	} {
		got := counted(tc.text).features(tc.text, tc.hints)
		require.Len(t, got, len(featureNames))
		assert.InDelta(t, tc.want, got.of(tc.feature), 1e-9, name) // also of two that are no number
	}
}

func TestReferencesAreCounted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want int
	}{
		"labels":       {"text [1]\nReferences\n[1] A. B. 1999.\nmore\n[2] C. D. 2000.\n[3] E. F. 2001.\n", 3},
		"numbers":      {"Bibliography\n1. Able, A. 1999\n2. Baker, B. 2000\n3. Charlie, C. 2001", 3},
		"authors":      {"REFERENCES\nKnuth, D. The art. 1968.\nDijkstra, E. Go to. 1968.\nHoare, C. Axioms. 1969.\nWirth, N. Pascal. 1971.", 4},
		"full names":   {"References\nMikhail Simkin (2013). Of Dickens.\nAda B. King (2001). Of Hardy.\nMartin Reynaert (2008). Of errors.", 3},
		"appendix cut": {"References\n[1] A 1999\n[2] B 2000\n[3] C 2001\nAppendix A\n[4] not one", 3},
		"none":         {"no list here [1] [2]", 0},
	} {
		assert.Equal(t, tc.want, countReferences(&Text{Pages: []string{tc.text}, Front: 1}), name)
	}
}

func TestFingerprints(t *testing.T) {
	t.Parallel()
	text := func(s string) *Text { return &Text{Pages: []string{s}, Front: 1} }
	var one strings.Builder
	for i := range 40 {
		one.WriteString(paragraph(i*3, 4))
	}
	a := text(one.String())
	stamped := text("arXiv:1234.5678v1 [cs.DL] 1 Jan 2020 " + strings.ReplaceAll(strings.ToUpper(one.String()), ". ", ".\n"))
	other := text(strings.Repeat("Entirely different words about gardens, roses and rain fill these lines. ", 3) + "They go on with soil, seeds, spades and a shed where nobody ever reads papers at all.")
	assert.Greater(t, NewSketch(a).Similarity(NewSketch(stamped)), 0.9)
	assert.Less(t, NewSketch(a).Similarity(NewSketch(other)), 0.1)
	assert.Less(t, bits.OnesCount64(Fingerprint(a)^Fingerprint(stamped)), 5)
	assert.Greater(t, bits.OnesCount64(Fingerprint(a)^Fingerprint(other)), 12)
	assert.Nil(t, NewSketch(text("too short")))
	assert.Zero(t, Fingerprint(text("too short")))
	shared := false
	for i, b := range NewSketch(a).Bands() {
		shared = shared || b == NewSketch(stamped).Bands()[i]
	}
	assert.True(t, shared)
	assert.Len(t, NewSketch(a).Bands(), 32)
}

func TestUnwelcomeName(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file string
		size int
		want bool
	}{
		"homework": {"hw3.pdf", 50000, true}, "cv": {"files/cv.pdf", 50000, true}, "tiny": {"a.pdf", 3000, true},
		"paper": {"http://lecture.org/papers/focused-crawling.pdf", 300000, false}, "unknown size": {"paper.ps", 0, false},
	} {
		_, got := UnwelcomeName(tc.file, tc.size)
		assert.Equal(t, tc.want, got, name)
	}
}

func countReferences(t *Text) int { return counted(t).entries }
