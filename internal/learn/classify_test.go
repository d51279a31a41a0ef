package learn

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clouds makes points around one centre for each class, groups in turn.
func clouds(n int, spread float64) []Example {
	rng := rand.New(rand.NewPCG(1, 2))
	centres := map[string][2]float64{"a": {0, 0}, "b": {4, 0}, "c": {0, 400}}
	var out []Example
	for i := range n {
		for _, l := range []string{"a", "b", "c"} {
			c := centres[l]
			out = append(out, Example{
				X:     []float64{c[0] + rng.NormFloat64()*spread, c[1] + rng.NormFloat64()*spread*100, 7},
				Label: l, Group: string(rune('p' + i%5)),
			})
		}
	}
	return out
}

func TestLogisticSeparates(t *testing.T) {
	t.Parallel()
	ex := clouds(40, 0.5)
	m, err := TrainLogistic(ex, LogisticOptions{Features: []string{"x", "y", "k"}, L2: 0.001})
	require.NoError(t, err)
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
	one, err := TrainLogistic(clouds(20, 1), LogisticOptions{})
	require.NoError(t, err)
	two, err := TrainLogistic(clouds(20, 1), LogisticOptions{})
	require.NoError(t, err)
	a, err := json.Marshal(one)
	require.NoError(t, err)
	b, err := json.Marshal(two)
	require.NoError(t, err)
	assert.Equal(t, string(a), string(b))
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
	m, err := TrainLogistic(ex, LogisticOptions{})
	require.NoError(t, err)
	assert.Equal(t, m.Probabilities([]float64{m.Mean[0], 300, 7}), m.Probabilities([]float64{math.NaN(), 300, 7}))
	got, _ := m.Classify([]float64{math.NaN(), 400, 7})
	assert.Equal(t, "c", got)
}

func TestTrainersRefuseOneClass(t *testing.T) {
	t.Parallel()
	ex := []Example{{X: []float64{1}, Label: "a"}, {X: []float64{2}, Label: "a"}}
	_, err := TrainLogistic(ex, LogisticOptions{})
	assert.True(t, errors.Is(err, ErrExamples))
	_, err = TrainLinearSVM(ex, "a", 0, 0)
	assert.True(t, errors.Is(err, ErrExamples))
	_, err = TrainNaiveBayes([][]string{{"x"}}, []string{"a"})
	assert.True(t, errors.Is(err, ErrExamples))
}

func TestBalancedRaisesTheRareClass(t *testing.T) {
	t.Parallel()
	var ex []Example
	for i, e := range clouds(60, 2.5) {
		if e.Label == "a" || e.Label == "b" && i%12 == 1 {
			ex = append(ex, e)
		}
	}
	plain, err := TrainLogistic(ex, LogisticOptions{})
	require.NoError(t, err)
	even, err := TrainLogistic(ex, LogisticOptions{Balanced: 1})
	require.NoError(t, err)
	mid := []float64{2, 0, 7}
	assert.Greater(t, even.Probability(mid, "b"), plain.Probability(mid, "b")+0.1)
}

func TestLinearSVM(t *testing.T) {
	t.Parallel()
	var ex []Example
	for _, e := range clouds(40, 0.7) {
		if e.Label != "c" {
			ex = append(ex, e)
		}
	}
	m, err := TrainLinearSVM(ex, "b", 0, 0)
	require.NoError(t, err)
	wrong := 0
	for _, e := range ex {
		if got, _ := m.Classify(e.X); got != e.Label {
			wrong++
		}
	}
	assert.LessOrEqual(t, wrong, 2, "of 80")
}

func TestNaiveBayes(t *testing.T) {
	t.Parallel()
	texts := []string{"abstract introduction theorem proof", "theorem lemma references proof", "syllabus homework grading exam", "homework due exam room"}
	var tokens [][]string
	for _, s := range texts {
		tokens = append(tokens, Tokens(s))
	}
	m, err := TrainNaiveBayes(tokens, []string{"paper", "paper", "course", "course"})
	require.NoError(t, err)
	got, p := m.Classify(Tokens("A lemma and its proof; unseenword"))
	assert.Equal(t, "paper", got)
	assert.Greater(t, p, 0.9)
	got, _ = m.Classify(Tokens("homework grading"))
	assert.Equal(t, "course", got)
}

func TestVectors(t *testing.T) {
	t.Parallel()
	var idf TFIDF
	idf.Add(Tokens("web crawling focused"))
	idf.Add(Tokens("web databases"))
	v, w := idf.Vector(Tokens("focused crawling of the web")), idf.Vector(Tokens("web web web databases"))
	assert.InDelta(t, 1, v.Norm(), 1e-9)
	assert.InDelta(t, 0, v.Cosine(w), 1e-9, "a word that stands everywhere weighs nothing")
	assert.InDelta(t, 1, v.Cosine(v), 1e-9)
	assert.Zero(t, v.Cosine(Vector{}))
	assert.Equal(t, Vector{"b": 3, "a": 2}, Vector{"a": 2, "b": 3, "c": 2}.Top(2), "ties go by the alphabet")
}

func TestFolds(t *testing.T) {
	t.Parallel()
	ex := clouds(10, 1)
	for _, f := range GroupFolds(ex) {
		for _, i := range f.Test {
			assert.Equal(t, f.Name, ex[i].Group)
		}
		for _, i := range f.Train {
			assert.NotEqual(t, f.Name, ex[i].Group)
		}
		assert.Len(t, ex, len(f.Train)+len(f.Test))
	}
	seen := map[int]int{}
	for _, f := range KFolds(ex, 3) {
		for _, i := range f.Test {
			seen[i]++
		}
	}
	assert.Len(t, seen, len(ex))
	p := CrossLogistic(ex, GroupFolds(ex), []string{"a", "b", "c"}, LogisticOptions{})
	for i := range p {
		require.Len(t, p[i], 3, "example %d", i)
	}
}

func TestConfusion(t *testing.T) {
	t.Parallel()
	c := NewConfusion([]string{"no", "yes"})
	for range 8 {
		c.Add("yes", "yes")
	}
	c.Add("yes", "no")
	c.Add("no", "yes")
	c.Add("no", "yes")
	c.Add("no", "maybe")
	p, r, f := c.Scores("yes")
	assert.InDelta(t, 0.8, p, 1e-9)
	assert.InDelta(t, 8.0/9, r, 1e-9)
	assert.InDelta(t, 2*0.8*(8.0/9)/(0.8+8.0/9), f, 1e-9)
	assert.InDelta(t, 8.0/11, c.Accuracy(), 1e-9)
	assert.Equal(t, 11, c.Total())
	assert.True(t, strings.Contains(c.String(), "0.800"))
}

func TestHashNGrams(t *testing.T) {
	t.Parallel()
	h := HashNGrams("pubs/paper.pdf", 3, 12)
	n := 0.0
	for k, v := range h {
		assert.Less(t, k, uint32(1<<12))
		n += v
	}
	assert.InDelta(t, 12, n, 1e-9)
	assert.Empty(t, HashNGrams("ab", 3, 12))
	assert.NotEqual(t, HashFeature("a", 16), HashFeature("b", 16))
}
