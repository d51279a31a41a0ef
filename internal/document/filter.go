package document

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gleaner/internal/learn"
)

// Point is an operating point of the filter.
type Point string

// The operating points: thresholds on the probability of "academic", set from
// the cross-validated scores (FilterModel.Points has precision and recall).
const (
	Conservative Point = "conservative" // precision 0.995 at least: little noise, some papers lost
	Balanced     Point = "balanced"     // 0.5
	Liberal      Point = "liberal"      // precision 0.95 at least: hardly a paper lost, some noise
)

//go:embed filter.json
var shippedFilter []byte

// FilterModel is the filter's stored form: weights, and where they come from.
type FilterModel struct {
	Origin   string            `json:"origin"`  // what it was trained on
	Command  string            `json:"command"` // how to train it again
	Academic *learn.Logistic   `json:"academic"`
	Kinds    *learn.Logistic   `json:"kinds"` // what the others are: slides, course, cv, other
	Front    *FrontModel       `json:"front,omitempty"`
	Points   map[Point]Setting `json:"points"`
	Figures  Figures           `json:"figures"`
}

// Figures are kept with the weights.
type Figures struct {
	Documents    int     `json:"documents"`
	Sites        int     `json:"sites"`
	Accuracy     float64 `json:"accuracy"`       // academic or not, leaving one site out
	Precision    float64 `json:"precision"`      // of academic
	Recall       float64 `json:"recall"`         // of academic
	ClassMacroF1 float64 `json:"class_macro_f1"` // over the six classes
	RuleAccuracy float64 `json:"rule_accuracy"`  // of the rule of thumb, same documents
}

// Setting is one operating point with its cross-validated figures.
type Setting struct {
	Threshold float64 `json:"threshold"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
}

// Filter judges documents. It is safe for concurrent use.
type Filter struct {
	model     *FilterModel
	point     Point
	threshold float64
}

// Judgement is the filter's word on one document.
type Judgement struct {
	Judged        bool              `json:"judged"` // false: there was no text to judge
	Class         Class             `json:"class"`
	Academic      bool              `json:"academic"`
	Score         float64           `json:"score"` // probability of being academic
	Probabilities map[Class]float64 `json:"probabilities,omitempty"`
	Reasons       []string          `json:"reasons"`    // what weighed most, for a person
	References    int               `json:"references"` // entries of its reference list
	ReferenceList []string          `json:"reference_list,omitempty"`
	Elsewhere     bool              `json:"-"` // academic, but of no discipline that is collected
	Features      Features          `json:"-"` // in the order of featureNames; may hold NaN
}

// errModel is a stored filter that does not fit this program's features.
var errModel = errors.New("filter weights do not fit")

// NewFilter returns the shipped filter at an operating point; an unknown point
// is Balanced.
func NewFilter(point Point) *Filter {
	f, err := LoadFilter(bytes.NewReader(shippedFilter), point)
	if err != nil { // the weights are part of the program, and tested
		panic(fmt.Sprintf("document: shipped filter: %v", err))
	}
	return f
}

// LoadFilter reads weights that `lab train filter` made. The error is errModel when
// they were made for other features.
func LoadFilter(r io.Reader, point Point) (*Filter, error) {
	m := &FilterModel{}
	if err := json.NewDecoder(r).Decode(m); err != nil {
		return nil, fmt.Errorf("%w: %w", errModel, err)
	}
	if !fit(m.Academic, m.Kinds) || m.Front != nil && !fit(m.Front.Academic, m.Front.Kinds) {
		return nil, errModel
	}
	f := &Filter{model: m, point: point, threshold: 0.5}
	if s, ok := m.Points[point]; ok {
		f.threshold = s.Threshold
	}
	return f, nil
}

// fit reports whether all models are there, and made for this program's features.
func fit(models ...*learn.Logistic) bool {
	return !slices.ContainsFunc(models, func(m *learn.Logistic) bool {
		return m == nil || !slices.Equal(m.Features, featureNames)
	})
}

// Threshold is the least score of an academic document.
func (f *Filter) Threshold() float64 { return f.threshold }

// Judge says whether a document is academic and of which class.
func (f *Filter) Judge(t *Text, h Hints) Judgement {
	if !t.HasText() {
		return Judgement{Class: Other, Reasons: []string{"no text to judge: " + string(t.Outcome)}}
	}
	academic, kinds, by := f.model.Academic, f.model.Kinds, byAll
	if t.Stopped && f.model.Front != nil {
		academic, kinds, by = f.model.Front.Academic, f.model.Front.Kinds, byFront
	}
	c, x := by(t, h)
	j := Judgement{Judged: true, Features: x, References: c.entries, ReferenceList: c.entriesOf()}
	j.Score = academic.Probability(x, LabelAcademic)
	thesis := c.thesisEvidence(t)
	if thesis != "" {
		j.Score = max(j.Score, evidenceScore)
		j.Reasons = append(j.Reasons, "a thesis: "+thesis)
	} else if paper := c.paperEvidence(t, x); paper != "" {
		j.Score = max(j.Score, evidenceScore)
		j.Reasons = append(j.Reasons, "a paper: "+paper)
	}
	j.Academic = j.Score >= f.threshold
	j.Probabilities, j.Class = classes(kinds, x, j.Score, thesis != "", j.Academic)
	j.Reasons = append(j.Reasons, f.explain(academic, x, j)...)
	return j
}

// classes spreads the score over the classes and picks one that agrees with the
// decision.
func classes(kinds *learn.Logistic, x Features, score float64, thesis, academic bool) (map[Class]float64, Class) {
	p := map[Class]float64{}
	best := Other
	for k, v := range kinds.Probabilities(x) {
		c := Class(kinds.Classes[k])
		p[c] = (1 - score) * v
		if p[c] > p[best] {
			best = c
		}
	}
	top := Paper
	if thesis {
		top = Thesis
	}
	p[top] = score
	if academic {
		best = top
	}
	return p, best
}

// evidenceScore is the score that evidence of a thesis or a paper is worth. These
// are rules and not learnt: theses are too rare in any training set at hand, and a
// line cannot see what signs say together.
const evidenceScore = 0.95

// thesisPages is the length under which nothing is called a thesis.
const thesisPages = 20

var (
	fulfilment  = newCue(`(?i)partial\s+ful?fill?ments?|\b(?:thesis|dissertation)\s+(?:submitted|presented|for\s+the\s+degree)|\binaugural-?dissertation\b`, "ful", "thesis", "dissertation")
	thesisTitle = newCue(`(?i)\b(?:bachelor|master|doctoral|doctor|ph\.?\s?d\.?|diploma|licentiate|m\.?sc\.?|b\.?sc\.?)['’]?s?\s+(?:thesis|dissertation)\b|th[èe]se de doctorat|tesis doctoral|(?:doktor|diplom|master|bachelor)arbeit|tese de doutorado|disserta[çc][ãa]o de mestrado`, "thesis", "dissertation", "doctorat", "doctoral", "arbeit", "doutorado", "disserta")
)

// titlePage is how much of the first page may name a thesis's degree: further
// down, a footnote may say of a paper that it grew out of one.
const titlePage = 1200

// thesisEvidence names what makes a long document a thesis: its title pages say
// so, or its text calls itself one more often than a paper; "" if nothing does.
// A CV, which names its author's theses, is none.
func (c *counts) thesisEvidence(t *Text) string {
	if t.PageCount < thesisPages || t.landscape() || len(t.Pages) == 0 || cvFront.in(strings.ToLower(c.front)) {
		return ""
	}
	m := fulfilment.find(strings.Join(t.Pages[:min(3, len(t.Pages))], "\n"))
	if m == "" {
		m = thesisTitle.find(string(head([]byte(t.Pages[0]), titlePage)))
	}
	if m != "" {
		return "“" + strings.Join(strings.Fields(m), " ") + "” on its first pages"
	}
	if n := c.tally[markThisThesis]; n >= 2 && n > c.tally[markThisPaper] {
		return "it calls itself one"
	}
	return ""
}

// explain names the features that weighed most for the decision, and the most
// that stood against it.
func (f *Filter) explain(m *learn.Logistic, x Features, j Judgement) []string {
	label := LabelAcademic
	if !j.Academic {
		label = LabelOther
	}
	c := m.Contributions(x, label)
	order := make([]int, len(c))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c[b], c[a]) })
	out := []string{fmt.Sprintf("score %.2f, threshold %.2f (%s)", j.Score, f.threshold, f.point)}
	for _, i := range order[:min(4, len(order))] {
		if c[i] > 0.05 {
			out = append(out, fmt.Sprintf("%s is %s (%+.2f)", featureNames[i], shown(x[i]), c[i]))
		}
	}
	if i := order[len(order)-1]; c[i] < -0.05 {
		out = append(out, fmt.Sprintf("but %s is %s (%+.2f)", featureNames[i], shown(x[i]), c[i]))
	}
	return out
}

func shown(v float64) string {
	if math.IsNaN(v) {
		return "unknown"
	}
	return fmt.Sprintf("%.2f", v)
}
