package rank

import "math"

// model is an online Bayesian logistic regression with a diagonal Gaussian over
// its weights: the mean says what is believed and the variance how little that
// rests on. It starts from the prior's weights and learns with each result; the
// step is that of an extended Kalman filter, so that features which always come
// together share what is learnt between them.
type model struct {
	mean     []float32
	variance []float32
}

func newModel(prior []float32, priorVariance, siteVariance float64) *model {
	n := len(prior) + siteSlots
	m := &model{mean: make([]float32, n), variance: make([]float32, n)}
	copy(m.mean, prior)
	for i := range m.variance {
		if i < len(prior) {
			m.variance[i] = float32(priorVariance)
		} else {
			m.variance[i] = float32(siteVariance)
		}
	}
	return m
}

// predict is the log-odds of success and their variance.
func (m *model) predict(fs []feature) (logit, variance float64) {
	for _, f := range fs {
		v := float64(f.value)
		logit += float64(m.mean[f.index]) * v
		variance += float64(m.variance[f.index]) * v * v
	}
	return logit, variance
}

// learn moves the weights towards an outcome in 0–1; a weight under 1 makes it
// less of an observation.
func (m *model) learn(fs []feature, outcome, weight float64) {
	logit, variance := m.predict(fs)
	p := sigmoid(logit)
	slope := weight * math.Max(p*(1-p), 0.02)
	gain := 1 / (1 + slope*variance)
	for _, f := range fs {
		v, s := float64(f.value), float64(m.variance[f.index])
		m.mean[f.index] += float32(s * v * gain * weight * (outcome - p))
		m.variance[f.index] = float32(s - s*s*v*v*slope*gain)
	}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
