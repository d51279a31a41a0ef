package learn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// errExamples is a set of examples that nothing can be learnt from.
var errExamples = errors.New("examples unfit for training")

// Example is one labelled vector. All vectors of a set have the same length.
type Example struct {
	X      []float64
	Label  string
	Weight float64 // 0 means 1
}

func (e Example) weight() float64 {
	if e.Weight == 0 {
		return 1
	}
	return e.Weight
}

// Logistic is a multinomial logistic regression with an L2 penalty over
// standardised features. With two classes it is the usual binary one. NaN marks
// a value that is unknown, in training as in use.
type Logistic struct {
	Features []string    `json:"features,omitempty"` // names, for explanations
	Classes  []string    `json:"classes"`
	Mean     []float64   `json:"mean"`
	Scale    []float64   `json:"scale"`   // standard deviations; 1 for constant features
	Weights  [][]float64 `json:"weights"` // [class][feature], on standardised values
	Bias     []float64   `json:"bias"`    // [class]
}

// LogisticOptions configure TrainLogistic.
type LogisticOptions struct {
	Features   []string // names, kept in the model
	L2         float64  // penalty per example on squared weights; 0 means 0.01
	Balanced   float64  // 0: as they come; 1: every class weighs the same; between: that power of it
	Iterations int      // 0 means 300
}

// clip bounds standardised values, so that one absurd document (a page of a
// million words) cannot outvote all other features.
const clip = 4

// TrainLogistic fits by L-BFGS from zero, so the result depends on the examples
// alone. It wants two classes at least; otherwise the error is errExamples.
func TrainLogistic(examples []Example, opt LogisticOptions) (*Logistic, error) {
	classes := labels(examples)
	if len(classes) < 2 || len(examples[0].X) == 0 {
		return nil, fmt.Errorf("%w: %d examples of %d classes", errExamples, len(examples), len(classes))
	}
	opt.L2 = cmp.Or(max(opt.L2, 0), 0.01)
	opt.Iterations = cmp.Or(max(opt.Iterations, 0), 300)
	m := &Logistic{Features: opt.Features, Classes: classes}
	m.standardise(examples)
	p := newLogisticProblem(m, examples, opt)
	res, err := optimize.Minimize(optimize.Problem{Func: p.loss, Grad: p.gradient}, make([]float64, len(classes)*p.width),
		&optimize.Settings{MajorIterations: opt.Iterations, GradientThreshold: 1e-6}, &optimize.LBFGS{})
	if res == nil || (err != nil && res.X == nil) {
		return nil, fmt.Errorf("train logistic: %w", err)
	}
	p.unpack(res.X)
	return m, nil
}

// standardise finds mean and deviation of each feature over the examples that
// know it.
func (m *Logistic) standardise(examples []Example) {
	n := len(examples[0].X)
	m.Mean, m.Scale = make([]float64, n), make([]float64, n)
	for j := range n {
		known, sum, squares := 0.0, 0.0, 0.0
		for _, e := range examples {
			if v := e.X[j]; !math.IsNaN(v) {
				known++
				sum += v
			}
		}
		m.Mean[j] = sum / max(known, 1)
		for _, e := range examples {
			if v := e.X[j]; !math.IsNaN(v) {
				squares += (v - m.Mean[j]) * (v - m.Mean[j])
			}
		}
		m.Scale[j] = math.Sqrt(squares / max(known, 1))
		if m.Scale[j] < 1e-9 {
			m.Scale[j] = 1
		}
	}
}

// standard makes a vector comparable; an unknown value (NaN) counts as the mean.
func (m *Logistic) standard(x []float64) []float64 {
	z := make([]float64, len(m.Mean))
	for j := range z {
		if j < len(x) && !math.IsNaN(x[j]) {
			z[j] = max(-clip, min(clip, (x[j]-m.Mean[j])/m.Scale[j]))
		}
	}
	return z
}

// logisticProblem is the penalised negative log likelihood. Parameters lie in
// one slice: for each class its weights, then its bias.
type logisticProblem struct {
	m      *Logistic
	x      [][]float64
	y      []int
	w      []float64
	total  float64
	l2     float64
	width  int
	scores []float64
}

func newLogisticProblem(m *Logistic, examples []Example, opt LogisticOptions) *logisticProblem {
	p := &logisticProblem{m: m, l2: opt.L2, width: len(m.Mean) + 1, scores: make([]float64, len(m.Classes))}
	count := make([]float64, len(m.Classes))
	for _, e := range examples {
		k := slices.Index(m.Classes, e.Label)
		p.x, p.y, p.w = append(p.x, m.standard(e.X)), append(p.y, k), append(p.w, e.weight())
		count[k] += e.weight()
		p.total += e.weight()
	}
	even := p.total / float64(len(m.Classes))
	sum := 0.0
	for i, k := range p.y {
		p.w[i] *= math.Pow(even/count[k], opt.Balanced)
		sum += p.w[i]
	}
	p.total = sum
	return p
}

func (p *logisticProblem) probabilities(theta, x []float64) []float64 {
	for k := range p.scores {
		t := theta[k*p.width : (k+1)*p.width]
		s := t[p.width-1]
		for j, v := range x {
			s += t[j] * v
		}
		p.scores[k] = s
	}
	softmax(p.scores)
	return p.scores
}

func (p *logisticProblem) loss(theta []float64) float64 {
	sum := 0.0
	for i, x := range p.x {
		sum -= p.w[i] * math.Log(max(p.probabilities(theta, x)[p.y[i]], 1e-300))
	}
	sum /= p.total
	for i, t := range theta {
		if i%p.width != p.width-1 {
			sum += p.l2 / 2 * t * t
		}
	}
	return sum
}

func (p *logisticProblem) gradient(grad, theta []float64) {
	clear(grad)
	for i, x := range p.x {
		pr := p.probabilities(theta, x)
		for k := range pr {
			d := pr[k]
			if k == p.y[i] {
				d--
			}
			d *= p.w[i] / p.total
			g := grad[k*p.width : (k+1)*p.width]
			for j, v := range x {
				g[j] += d * v
			}
			g[p.width-1] += d
		}
	}
	for i, t := range theta {
		if i%p.width != p.width-1 {
			grad[i] += p.l2 * t
		}
	}
}

func (p *logisticProblem) unpack(theta []float64) {
	for k := range p.m.Classes {
		t := theta[k*p.width : (k+1)*p.width]
		p.m.Weights = append(p.m.Weights, append([]float64(nil), t[:p.width-1]...))
		p.m.Bias = append(p.m.Bias, t[p.width-1])
	}
}

// softmax turns scores into probabilities in place.
func softmax(s []float64) {
	top := math.Inf(-1)
	for _, v := range s {
		top = max(top, v)
	}
	sum := 0.0
	for i, v := range s {
		s[i] = math.Exp(v - top)
		sum += s[i]
	}
	for i := range s {
		s[i] /= sum
	}
}

// Probabilities returns one probability for each of Classes.
func (m *Logistic) Probabilities(x []float64) []float64 {
	z := m.standard(x)
	out := make([]float64, len(m.Classes))
	for k := range out {
		s := m.Bias[k]
		for j, v := range z {
			s += m.Weights[k][j] * v
		}
		out[k] = s
	}
	softmax(out)
	return out
}

// Probability of one class; 0 for an unknown one.
func (m *Logistic) Probability(x []float64, class string) float64 {
	k := slices.Index(m.Classes, class)
	if k < 0 {
		return 0
	}
	return m.Probabilities(x)[k]
}

// Classify returns the likeliest class and its probability.
func (m *Logistic) Classify(x []float64) (string, float64) {
	p := m.Probabilities(x)
	best := 0
	for k := range p {
		if p[k] > p[best] {
			best = k
		}
	}
	return m.Classes[best], p[best]
}

// Contributions returns, for each feature, by how much it raised the score of a
// class over the mean of the other classes: the explanation of a decision.
func (m *Logistic) Contributions(x []float64, class string) []float64 {
	k := slices.Index(m.Classes, class)
	z := m.standard(x)
	out := make([]float64, len(z))
	if k < 0 || len(m.Classes) < 2 {
		return out
	}
	for j, v := range z {
		others := 0.0
		for o := range m.Classes {
			if o != k {
				others += m.Weights[o][j]
			}
		}
		out[j] = v * (m.Weights[k][j] - others/float64(len(m.Classes)-1))
	}
	return out
}

// Takes reports whether a model that was read is whole and takes vectors of a length.
func (m *Logistic) Takes(length int) bool {
	if m == nil || len(m.Classes) < 2 || len(m.Mean) != length || len(m.Scale) != length ||
		len(m.Weights) != len(m.Classes) || len(m.Bias) != len(m.Classes) {
		return false
	}
	return !slices.ContainsFunc(m.Weights, func(w []float64) bool { return len(w) != length })
}
