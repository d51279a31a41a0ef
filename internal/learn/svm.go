package learn

import "fmt"

// LinearSVM is a two-class linear support vector machine (hinge loss, L2) over
// standardised features, trained by Pegasos' steps in a fixed order.
type LinearSVM struct {
	Positive string    `json:"positive"`
	Negative string    `json:"negative"`
	Mean     []float64 `json:"mean"`
	Scale    []float64 `json:"scale"`
	Weights  []float64 `json:"weights"`
	Bias     float64   `json:"bias"`
}

// TrainLinearSVM learns to tell positive from all other labels. lambda is the
// penalty (0 means 0.01), epochs the passes over the examples (0 means 60).
func TrainLinearSVM(examples []Example, positive string, lambda float64, epochs int) (*LinearSVM, error) {
	classes := labels(examples)
	if len(classes) != 2 || indexOf(classes, positive) < 0 {
		return nil, fmt.Errorf("%w: classes %v, positive %q", ErrExamples, classes, positive)
	}
	if lambda <= 0 {
		lambda = 0.01
	}
	if epochs <= 0 {
		epochs = 60
	}
	std := &Logistic{}
	std.standardise(examples)
	m := &LinearSVM{Positive: positive, Negative: classes[1-indexOf(classes, positive)], Mean: std.Mean, Scale: std.Scale}
	m.fit(std, examples, lambda, epochs)
	return m, nil
}

// fit averages the weights of the second half of the steps, which makes the
// result smooth where single steps still swing.
func (m *LinearSVM) fit(std *Logistic, examples []Example, lambda float64, epochs int) {
	n := len(m.Mean)
	w, mean := make([]float64, n+1), make([]float64, n+1)
	steps, half := 0, epochs*len(examples)/2
	stride := coprime(len(examples))
	for range epochs {
		for i := range examples {
			e := examples[i*stride%len(examples)]
			steps++
			rate := 1 / (lambda * (float64(steps) + 1/lambda))
			y := -1.0
			if e.Label == m.Positive {
				y = 1
			}
			z := append(std.standard(e.X), 1)
			s := 0.0
			for j := range z {
				s += w[j] * z[j]
			}
			for j := range w {
				w[j] *= 1 - rate*lambda
				if y*s < 1 {
					w[j] += rate * y * z[j] * e.weight()
				}
				if steps > half {
					mean[j] += w[j] / float64(epochs*len(examples)-half)
				}
			}
		}
	}
	m.Weights, m.Bias = mean[:n], mean[n]
}

// coprime returns a stride that visits n places in a scattered order.
func coprime(n int) int {
	for s := int(float64(n)*0.618) + 1; s < n; s++ {
		a, b := s, n
		for b != 0 {
			a, b = b, a%b
		}
		if a == 1 {
			return s
		}
	}
	return 1
}

// Score is the signed distance to the plane, in margins: above 0 is positive.
func (m *LinearSVM) Score(x []float64) float64 {
	s := m.Bias
	for j, z := range (&Logistic{Mean: m.Mean, Scale: m.Scale}).standard(x) {
		s += m.Weights[j] * z
	}
	return s
}

// Classify returns the class and the distance.
func (m *LinearSVM) Classify(x []float64) (string, float64) {
	s := m.Score(x)
	if s > 0 {
		return m.Positive, s
	}
	return m.Negative, s
}
