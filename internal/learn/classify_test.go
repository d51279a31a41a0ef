package learn

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
)

// clouds makes points around one centre for each class.
func clouds(n int, spread float64) []Example {
	rng := rand.New(rand.NewPCG(1, 2))
	centres := map[string][2]float64{"a": {0, 0}, "b": {4, 0}, "c": {0, 400}}
	var out []Example
	for range n {
		for _, l := range []string{"a", "b", "c"} {
			c := centres[l]
			out = append(out, Example{
				X:     []float64{c[0] + rng.NormFloat64()*spread, c[1] + rng.NormFloat64()*spread*100, 7},
				Label: l,
			})
		}
	}
	return out
}

func TestLogisticSeparates(t *testing.T) {
	t.Parallel()
	ex := clouds(40, 0.5)
	m := devtest.Must(TrainLogistic(ex, LogisticOptions{Features: []string{"x", "y", "k"}, L2: 0.001}))(t)
	right := 0
	for _, e := range ex {
		if got, p := m.Classify(e.X); got == e.Label {
			right++
			assert.InDelta(t, p, m.Probability(e.X, e.Label), 1e-12)
		}
	}
	assert.GreaterOrEqual(t, right, 118, "of 120")
	sum := 0.0
	for _, p := range m.Probabilities([]float64{1, 2, 7}) {
		sum += p
	}
	assert.InDelta(t, 1, sum, 1e-9)
	c := m.Contributions([]float64{4, 0, 7}, "b")
	assert.Greater(t, c[0], math.Abs(c[2]), "the first feature tells b, the constant one tells nothing")
}

func TestLogisticIsReproducibleAndPortable(t *testing.T) {
	t.Parallel()
	one := devtest.Must(TrainLogistic(clouds(20, 1), LogisticOptions{}))(t)
	two := devtest.Must(TrainLogistic(clouds(20, 1), LogisticOptions{}))(t)
	a := devtest.Must(json.Marshal(one))(t)
	assert.Equal(t, string(a), string(devtest.Must(json.Marshal(two))(t)))
	var back Logistic
	require.NoError(t, json.Unmarshal(a, &back))
	assert.Equal(t, one.Probabilities([]float64{1, 1, 7}), back.Probabilities([]float64{1, 1, 7}))
}

func TestUnknownValuesCountAsTheMean(t *testing.T) {
	t.Parallel()
	ex := clouds(30, 0.5)
	for i := range ex {
		if i%4 == 0 {
			ex[i].X[0] = math.NaN()
		}
	}
	m := devtest.Must(TrainLogistic(ex, LogisticOptions{}))(t)
	assert.Equal(t, m.Probabilities([]float64{m.Mean[0], 300, 7}), m.Probabilities([]float64{math.NaN(), 300, 7}))
	got, _ := m.Classify([]float64{math.NaN(), 400, 7})
	assert.Equal(t, "c", got)
}

func TestTrainingRefusesOneClass(t *testing.T) {
	t.Parallel()
	ex := []Example{{X: []float64{1}, Label: "a"}, {X: []float64{2}, Label: "a"}}
	_, err := TrainLogistic(ex, LogisticOptions{})
	assert.True(t, errors.Is(err, errExamples))
}

func TestBalancedRaisesTheRareClass(t *testing.T) {
	t.Parallel()
	var ex []Example
	for i, e := range clouds(60, 2.5) {
		if e.Label == "a" || e.Label == "b" && i%12 == 1 {
			ex = append(ex, e)
		}
	}
	plain := devtest.Must(TrainLogistic(ex, LogisticOptions{}))(t)
	even := devtest.Must(TrainLogistic(ex, LogisticOptions{Balanced: 1}))(t)
	mid := []float64{2, 0, 7}
	assert.Greater(t, even.Probability(mid, "b"), plain.Probability(mid, "b")+0.1)
}
