package classify

import "math"

// SVM is a support vector machine with an RBF kernel, exp(−g‖x−y‖²), over vectors
// of length one (§4.3.3.1).
type SVM struct {
	Gamma   float64   `json:"gamma"` // g of the kernel
	Alphas  []float64 `json:"alphas"`
	Support []vector  `json:"support"`
	Bias    float64   `json:"bias"`
}

// Constants of the machine: the cost of a wrong example, the width of the kernel, the tolerance
// of the solution, and the maximum number of steps.
const (
	svmCost      = 10
	svmGamma     = 1
	svmTolerance = 1e-3
	svmSteps     = 200_000
)

// solver computes the multipliers by sequential minimal optimisation, with second-order selection
// of the working set (Fan, Chen, Lin 2005).
type solver struct {
	y, alpha, grad []float64
	kernel         [][]float32
}

// trainSVM needs examples of both classes, and memory and time by the square of their number.
func trainSVM(vectors []vector, topic []bool) *SVM {
	s := newSolver(vectors, topic)
	for range svmSteps {
		i, j := s.pair()
		if j < 0 {
			break
		}
		s.step(i, j)
	}
	m := &SVM{Gamma: svmGamma, Bias: s.bias()}
	for i, a := range s.alpha {
		if a > 0 {
			m.Alphas = append(m.Alphas, a*s.y[i])
			m.Support = append(m.Support, vectors[i])
		}
	}
	return m
}

func newSolver(vectors []vector, topic []bool) *solver {
	n := len(vectors)
	s := &solver{y: make([]float64, n), alpha: make([]float64, n), grad: make([]float64, n), kernel: make([][]float32, n)}
	var wide []float64 // one vector in dense form, for fast products with others
	for i, v := range vectors {
		s.y[i], s.grad[i] = -1, -1
		if topic[i] {
			s.y[i] = 1
		}
		s.kernel[i] = make([]float32, n)
		wide = v.spread(wide)
		for j := 0; j <= i; j++ {
			k := float32(rbf(svmGamma, v, vectors[j], vectors[j].product(wide)))
			s.kernel[i][j], s.kernel[j][i] = k, k
		}
	}
	return s
}

// rbf returns the kernel of two vectors of length one, or of none, from their product.
func rbf(gamma float64, a, b vector, product float64) float64 {
	norms := min(1, len(a.At)) + min(1, len(b.At))
	return math.Exp(-gamma * (float64(norms) - 2*product))
}

// up and low report whether a multiplier can grow or shrink with its sign.
func (s *solver) up(i int) bool {
	return s.y[i] > 0 && s.alpha[i] < svmCost || s.y[i] < 0 && s.alpha[i] > 0
}
func (s *solver) low(i int) bool {
	return s.y[i] < 0 && s.alpha[i] < svmCost || s.y[i] > 0 && s.alpha[i] > 0
}

// pair selects the next two multipliers; j is −1 at the solution.
func (s *solver) pair() (i, j int) {
	i, j = -1, -1
	most, least := math.Inf(-1), math.Inf(1)
	for t := range s.y {
		if v := -s.y[t] * s.grad[t]; s.up(t) && v > most {
			most, i = v, t
		}
	}
	if i < 0 {
		return i, j
	}
	best := math.Inf(1)
	for t := range s.y {
		if !s.low(t) {
			continue
		}
		v := -s.y[t] * s.grad[t]
		least = math.Min(least, v)
		if b := most - v; b > 0 {
			if gain := -b * b / s.curvature(i, t); gain < best {
				best, j = gain, t
			}
		}
	}
	if most-least < svmTolerance {
		return i, -1
	}
	return i, j
}

func (s *solver) curvature(i, j int) float64 {
	return math.Max(2-2*float64(s.kernel[i][j]), 1e-12)
}

// step sets two multipliers to the best values within their bounds.
func (s *solver) step(i, j int) {
	oldI, oldJ := s.alpha[i], s.alpha[j]
	delta := (-s.y[i]*s.grad[i] + s.y[j]*s.grad[j]) / s.curvature(i, j)
	sum := s.y[i]*oldI + s.y[j]*oldJ
	s.alpha[i] = clamp(oldI + s.y[i]*delta)
	s.alpha[j] = clamp(s.y[j] * (sum - s.y[i]*s.alpha[i]))
	s.alpha[i] = clamp(s.y[i] * (sum - s.y[j]*s.alpha[j]))
	dI, dJ := (s.alpha[i]-oldI)*s.y[i], (s.alpha[j]-oldJ)*s.y[j]
	for t := range s.grad {
		s.grad[t] += s.y[t] * (dI*float64(s.kernel[i][t]) + dJ*float64(s.kernel[j][t]))
	}
}

func clamp(a float64) float64 { return math.Max(0, math.Min(svmCost, a)) }

// bias returns the mean over the free support vectors, or the middle of the interval allowed by
// the bound ones.
func (s *solver) bias() float64 {
	free, sum := 0, 0.0
	high, low := math.Inf(1), math.Inf(-1)
	for t := range s.y {
		v := -s.y[t] * s.grad[t]
		switch {
		case s.alpha[t] > 0 && s.alpha[t] < svmCost:
			free++
			sum += v
		case s.up(t):
			low = math.Max(low, v)
		default:
			high = math.Min(high, v)
		}
	}
	if free > 0 {
		return sum / float64(free)
	}
	return (high + low) / 2
}

// margin returns the margin of a page, which is above 0 if it is about the topic.
func (m *SVM) margin(x vector) float64 {
	sum, wide := m.Bias, x.spread(nil)
	for i, s := range m.Support {
		sum += m.Alphas[i] * rbf(m.Gamma, s, x, s.product(wide))
	}
	return sum
}
