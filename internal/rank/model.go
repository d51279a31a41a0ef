package rank

import "math"

// model is an online Bayesian logistic regression with a diagonal Gaussian over its weights. It
// starts from the prior's weights and learns from each result. The step is that of an extended
// Kalman filter, so that features which always occur together share what is learnt.
type model struct {
	weights []weight // shared ones, one for all unchanged ones of the site, and its changed ones
	place   []uint16 // index into weights by feature: most of a site's never change
	start   start
	version int     // number of updates plus one; sums of other versions are stale
	risen   float64 // sum of all increases of means; features are never negative
}

type weight struct{ mean, variance float32 }

// start holds the weights of a model before it learns.
type start struct {
	prior                       []float32
	priorVariance, siteVariance float32
}

func (s start) of(i int) weight {
	if i < len(s.prior) {
		return weight{s.prior[i], s.priorVariance}
	}
	return weight{0, s.siteVariance}
}

func newModel(prior []float32, priorVariance, siteVariance float64) *model {
	m := &model{weights: make([]weight, len(prior)+1), place: make([]uint16, len(prior)+siteSlots),
		start: start{prior, float32(priorVariance), float32(siteVariance)}, version: 1}
	for i := range m.weights {
		m.weights[i] = m.start.of(i)
	}
	for i := range m.place {
		m.place[i] = uint16(min(i, len(prior)))
	}
	return m
}

// at returns the weight of a feature.
func (m *model) at(i int32) weight { return m.weights[m.place[i]] }

// own returns the weight of a feature for an update.
func (m *model) own(i int32) *weight {
	p := m.place[i]
	if p == uint16(len(m.start.prior)) {
		p = uint16(len(m.weights))
		m.place[i], m.weights = p, append(m.weights, m.start.of(int(i)))
	}
	return &m.weights[p]
}

// predict returns the log-odds of success and their variance.
func (m *model) predict(fs []feature) (logit, variance float64) {
	mean, spread := m.sums(fs)
	return float64(mean), float64(spread)
}

// sums is predict for some of the features.
func (m *model) sums(fs []feature) (mean, spread float32) {
	// Two accumulators each, so that additions do not wait for one another: ranking spends its
	// time in this loop.
	var mean2, spread2 float32
	for len(fs) >= 2 {
		f, e := fs[0], fs[1]
		w, u := m.at(f.index), m.at(e.index)
		mean += w.mean * f.value
		spread += w.variance * f.value * f.value
		mean2 += u.mean * e.value
		spread2 += u.variance * e.value * e.value
		fs = fs[2:]
	}
	for _, f := range fs {
		w := m.at(f.index)
		mean += w.mean * f.value
		spread += w.variance * f.value * f.value
	}
	return mean + mean2, spread + spread2
}

// learn updates the weights for an outcome in 0–1. A share under 1 gives the observation less
// weight.
func (m *model) learn(fs []feature, outcome, share float64) {
	m.version++
	logit, variance := m.predict(fs)
	p := sigmoid(logit)
	slope := share * math.Max(p*(1-p), 0.02)
	gain := 1 / (1 + slope*variance)
	for _, f := range fs {
		w := m.own(f.index)
		v, s := float64(f.value), float64(w.variance)
		was := w.mean
		w.mean += float32(s * v * gain * share * (outcome - p))
		m.risen += math.Max(0, float64(w.mean-was))
		w.variance = float32(s - s*s*v*v*slope*gain)
	}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
