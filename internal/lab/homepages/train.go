package homepages

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"

	"gleaner/internal/each"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/homepage"
	"gleaner/internal/lab/measure"
)

// Example is a candidate with its features and whether it is a homepage of the
// author. Group keeps candidates that must not be split between training and
// testing together (one author, one generated web).
type Example struct {
	Features map[string]float64
	Right    bool
	Group    int
}

// What the embedded model was trained with.
const (
	TrainIterations = 3000
	trainL2         = 0.0005 // pull towards the prior (prior.json)
	trainFolds      = 5      // of the cross-validation over groups
	// wrongCost is how many homepages that are missed weigh as much as one wrong page that
	// is kept, when the threshold is chosen.
	wrongCost = 1.0
)

// errNoExamples says that there is nothing to learn from.
var errNoExamples = errors.New("homepages: training wants right and wrong candidates")

// Train fits a logistic regression by full-batch gradient descent with
// momentum, right and wrong candidates weighing the same, and chooses the
// threshold on scores of the held-out folds. It is deterministic. Figures holds
// accuracy, precision and recall of the held-out candidates.
func Train(examples []Example, iterations int) (*homepage.Model, error) {
	if !both(examples) {
		return nil, errNoExamples
	}
	names := featureNames(examples)
	held := make([]float64, len(examples))
	for fold := range trainFolds {
		train := each.Where(examples, func(e Example) bool { return e.Group%trainFolds != fold })
		if !both(train) {
			return nil, errNoExamples
		}
		m := fit(train, names, iterations)
		for i, e := range examples {
			if e.Group%trainFolds == fold {
				held[i] = m.Score(e.Features)
			}
		}
	}
	m := fit(examples, names, iterations)
	m.Threshold = threshold(examples, held)
	m.Figures = figures(examples, held, m.Threshold)
	return m, nil
}

func both(examples []Example) bool {
	n := rights(examples)
	return n > 0 && n < len(examples)
}

func rights(examples []Example) int {
	return each.Count(examples, func(e Example) bool { return e.Right })
}

func featureNames(examples []Example) []string {
	set := map[string]bool{}
	for k := range readPrior().Weights { // what no example shows keeps the prior's weight
		set[k] = true
	}
	for _, e := range examples {
		for k := range e.Features {
			set[k] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// priorWeights are what a person would say before any training: the direction
// of each feature and roughly its weight. Training is pulled towards them and
// never turns a direction round, so that what generated webs happen to lack or
// overdo does not decide on real ones.
type priorWeights struct {
	Origin  string             `json:"origin"`
	Bias    float64            `json:"bias"`
	Weights map[string]float64 `json:"weights"`
}

//go:embed prior.json
var priorJSON []byte

func readPrior() priorWeights {
	var p priorWeights
	if err := json.Unmarshal(priorJSON, &p); err != nil {
		panic("homepages: embedded prior.json: " + err.Error())
	}
	return p
}

// fit minimises the weighted log loss with an L2 penalty on the distance to
// the prior, within the prior's signs.
func fit(examples []Example, names []string, iterations int) *homepage.Model {
	weightRight, weightWrong := 0.5/float64(rights(examples)), 0.5/float64(len(examples)-rights(examples))
	x := rows(examples, names)
	w, v := make([]float64, len(names)+1), make([]float64, len(names)+1)
	grad := make([]float64, len(w))
	bias := len(names)
	prior := readPrior()
	centre := make([]float64, len(w))
	for j, n := range names {
		centre[j] = prior.Weights[n]
	}
	centre[bias] = prior.Bias
	copy(w, centre)
	const rate, momentum = 0.5, 0.9
	for range iterations {
		for j := range grad {
			grad[j] = trainL2 * (w[j] - centre[j])
		}
		grad[bias] = 0
		for i, e := range examples {
			z := w[bias]
			for j, xj := range x[i] {
				z += w[j] * xj
			}
			d := 1 / (1 + math.Exp(-z))
			if e.Right {
				d = (d - 1) * weightRight
			} else {
				d *= weightWrong
			}
			for j, xj := range x[i] {
				grad[j] += d * xj
			}
			grad[bias] += d
		}
		for j := range w {
			v[j] = momentum*v[j] - rate*grad[j]
			w[j] += v[j]
			if w[j]*centre[j] < 0 && j != bias {
				w[j], v[j] = 0, 0
			}
		}
	}
	m := &homepage.Model{Bias: round4(w[bias]), Weights: map[string]float64{}, Threshold: 0.5}
	for j, n := range names {
		m.Weights[n] = round4(w[j])
	}
	return m
}

// rows are the examples' features in the order of names.
func rows(examples []Example, names []string) [][]float64 {
	x := make([][]float64, len(examples))
	for i, e := range examples {
		x[i] = make([]float64, len(names))
		for j, n := range names {
			x[i][j] = e.Features[n]
		}
	}
	return x
}

func round4(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// threshold chooses where held-out mistakes cost least, in the middle of the
// gap between two scores.
func threshold(examples []Example, held []float64) float64 {
	order := make([]int, len(examples))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(held[b], held[a]) })
	cost := float64(rights(examples)) // of keeping nothing
	best, at := cost, 0.99
	for k, i := range order {
		if examples[i].Right {
			cost--
		} else {
			cost += wrongCost
		}
		below := 0.0
		if k+1 < len(order) {
			below = held[order[k+1]]
		}
		if cost < best {
			best, at = cost, (held[i]+below)/2
		}
	}
	return math.Min(0.95, math.Max(0.3, round4(at)))
}

func figures(examples []Example, held []float64, t float64) map[string]float64 {
	said := func(kept bool) string { return map[bool]string{true: "right", false: "wrong"}[kept] }
	c := measure.NewConfusion([]string{"right", "wrong"})
	for i, e := range examples {
		c.Add(said(e.Right), said(held[i] >= t))
	}
	precision, recall, _ := c.Scores("right")
	return map[string]float64{
		"candidates": float64(len(examples)), "right": float64(rights(examples)),
		"accuracy": round4(c.Accuracy()), "precision": round4(precision), "recall": round4(recall),
	}
}

// Examples turns decisions into examples by labels: every candidate whose score
// decided, not those that a rule had dropped before. The group is the author's place in the list.
func Examples(decisions []evidence.Decision, labels []Label) []Example {
	byID := map[string]Label{}
	for _, l := range labels {
		byID[l.Author.ID()] = l
	}
	var out []Example
	for i, d := range decisions {
		l, ok := byID[d.Author.ID()]
		if !ok {
			continue
		}
		for _, c := range d.Candidates {
			if homepage.Weighed(c) {
				out = append(out, Example{Features: c.Features, Right: right(c.URL, l), Group: i})
			}
		}
	}
	return out
}
