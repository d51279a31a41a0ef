package classify_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/classify"
	"gleaner/internal/devstack/devtest"
)

// A word is in the thesis's vocabulary where more than three pages hold it, however many
// there are (§4.3.3.1); of few pages, where its shares of each class come to three in a hundred.
func TestWordsOfTheVocabularyComeToMoreThanThree(t *testing.T) {
	words := func(examples []classify.Example) []string {
		return devtest.Must(classify.NewVocabulary(examples, classify.RDFGammaRKF))(t).Words
	}
	var examples []classify.Example
	for i := range 3000 {
		e := classify.Example{Topic: i < 1000, Words: []string{"all"}}
		for word, in := range map[string][2]int{"both": {2, 2}, "rest": {0, 4}, "three": {1, 2}} {
			if i < in[0] || i >= 1000 && i < 1000+in[1] {
				e.Words = append(e.Words, word, word) // how often a page holds it is no matter
			}
		}
		examples = append(examples, e)
	}
	assert.Equal(t, []string{"all", "both", "rest"}, words(examples))
	few := append(slices.Repeat([]classify.Example{{Words: []string{"all"}, Topic: true}}, 24),
		classify.Example{Words: []string{"rare"}, Topic: true}, classify.Example{Words: []string{"all", "seldom"}})
	assert.Equal(t, []string{"all", "rare", "seldom"}, words(few))
}

// Two pages of the rest are learnt from for each about the topic, in turn from their sites
// so that no large one fills them; all, where there are fewer.
func TestTwoOthersAreLearntFromForEachAboutTheTopic(t *testing.T) {
	var examples []classify.Example
	other := func(site string, n int) {
		for i := range n {
			examples = append(examples, classify.Example{Words: []string{"page", fmt.Sprint(site, i)}, Site: site})
		}
	}
	other("large", 50)
	for i := range 3 {
		examples = append(examples, classify.Example{Words: []string{"page", "topic"}, Topic: true, Site: fmt.Sprint("about", i)})
	}
	other("small", 1)
	other("middle", 9)
	learn := func(negatives int) *classify.Classifier {
		c := mustTrain(t, examples, classify.Options{Negatives: negatives})
		return c
	}
	c := learn(0)
	assert.Equal(t, 3+6, c.Examples)
	assert.Equal(t, []string{"large0", "large1", "large2", "middle0", "middle1", "page", "small0", "topic"}, c.Vocabulary.Words)
	assert.Equal(t, 3+3, learn(1).Examples)
	assert.Equal(t, len(examples), learn(100).Examples)
}

// Naïve Bayes learns raw counts with a half added to each, and is asked with words weighted
// by tf·idf (§4.3.3.2): all of it reckoned by hand.
func TestNaiveBayesByHand(t *testing.T) {
	examples := []classify.Example{
		{Words: []string{"net", "net", "net", "page"}, Topic: true, Site: "a"},
		{Words: []string{"net", "set", "page"}, Topic: true, Site: "b"},
		{Words: []string{"set", "set", "page"}, Site: "c"},
		{Words: []string{"set", "page"}, Site: "d"},
		{Words: []string{"set", "page"}, Site: "e"},
	}
	c := mustTrain(t, examples, classify.Options{Few: 1})
	require.Equal(t, []string{"net", "page", "set"}, c.Vocabulary.Words)
	require.NotNil(t, c.Bayes)
	// About the topic 7 words (net 4, page 2, set 1), of the rest 7 (page 3, set 4); each
	// class has half a count more of each of three words.
	assert.InDelta(t, math.Log(2./3), c.Bayes.Prior, 1e-12)
	assert.InDeltaSlice(t, []float64{
		math.Log((4.5 / 8.5) / (0.5 / 8.5)), // net: ln 9
		math.Log((2.5 / 8.5) / (3.5 / 8.5)),
		math.Log((1.5 / 8.5) / (4.5 / 8.5)), // set: −ln 3
	}, c.Bayes.Odds, 1e-12)
	// "net" is on 2 of 5 pages, "set" on 4, "page" on all and so worth nothing.
	assert.InDeltaSlice(t, []float64{math.Log(5. / 2), 0, math.Log(5. / 4)}, c.Vocabulary.IDF, 1e-12)

	net, set := 2*math.Log(5./2), 3*math.Log(5./4)
	want := (math.Log(2./3) + net*math.Log(9) - set*math.Log(3)) / (1 + net + set)
	assert.InDelta(t, want, c.Margin(strings.Fields("net set net page page set unheard set")), 1e-12)
	assert.InDelta(t, math.Log(2./3), c.Margin([]string{"unheard"}), 1e-12, "the prior alone")
}

// Pages at right angles are all as far from each other, so that the machine can be solved
// by hand: with k = exp(−2), the kernel of two of them, one page about the topic and n
// others at the margin ±1 want b = 2/((n+1)(1−k)) of each other and n times that of the one.
func TestMachineAgainstKnownSolutions(t *testing.T) {
	k := math.Exp(-2)
	for n := 1; n <= 2; n++ {
		examples := []classify.Example{{Words: []string{"own"}, Topic: true, Site: "own"}}
		for i := range n {
			examples = append(examples, classify.Example{Words: []string{fmt.Sprint("other", i)}, Site: fmt.Sprint(i)})
		}
		c := mustTrain(t, examples, classify.Options{Representation: classify.RDFGammaRKF})
		assert.InDelta(t, 1, c.SVM.Gamma, 0)
		b := 2 / (float64(n+1) * (1 - k))
		want := append([]float64{float64(n) * b}, slices.Repeat([]float64{-b}, n)...)
		assert.InDeltaSlice(t, want, c.SVM.Alphas, 1e-3)
		assert.InDelta(t, 1-float64(n)*b*(1-k), c.SVM.Bias, 1e-3)
		assert.InDelta(t, 1, c.Margin([]string{"own"}), 2e-3)
		assert.InDelta(t, 1, c.Margin([]string{"own", "own", "own"}), 2e-3, "a vector has length one, however long the page")
		assert.InDelta(t, -1, c.Margin([]string{"other0"}), 2e-3)
	}

	// Two pages of the same words and contrary labels: no margin parts them, so that both
	// multipliers come to the cost, and the machine has nothing to say of them.
	same := []classify.Example{{Words: []string{"net"}, Topic: true}, {Words: []string{"net"}}}
	c := mustTrain(t, same, classify.Options{Representation: classify.SiteIDF})
	assert.Equal(t, []float64{classify.SVMCost, -classify.SVMCost}, c.SVM.Alphas)
	assert.InDelta(t, 0, c.Margin([]string{"net"}), 1e-9)
}
