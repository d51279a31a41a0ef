package classify_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/classify"
)

// elsewhere are pages of other sites, with labels that are right or wrong.
func elsewhere(n int, right bool) []classify.Example {
	out := pages(n)
	for i := range out {
		out[i].Site = fmt.Sprint("new", i%10)
		out[i].Topic = out[i].Topic == right
	}
	return out
}

// What a classifier was certain of is learnt from where it does no harm to what a person
// labelled, and left out where it does; the accuracy is that of sites left out.
func TestRelearnLeavesOutWhatHarms(t *testing.T) {
	told := pages(60)
	good, err := classify.Relearn(t.Context(), told, elsewhere(40, true), classify.Options{Few: 1})
	require.NoError(t, err)
	assert.Equal(t, 60, good.Told)
	assert.Equal(t, 40, good.Own)
	require.NotNil(t, good.Accuracy)
	assert.Greater(t, *good.Accuracy, 0.9)
	assert.NotNil(t, good.Classifier.Bayes, "under the options of before")

	bad, err := classify.Relearn(t.Context(), told, elsewhere(600, false), classify.Options{Few: 1})
	require.NoError(t, err)
	assert.Zero(t, bad.Own)
	alone, err := classify.Relearn(t.Context(), told, nil, classify.Options{Few: 1})
	require.NoError(t, err)
	assert.Equal(t, alone, bad, "as if there were none")
}

// Of one site there is no accuracy, and nothing but what a person labelled is learnt from;
// of one class nothing is learnt; who stops waiting is heeded.
func TestRelearnFromLittle(t *testing.T) {
	told := pages(20)
	for i := range told {
		told[i].Site = "one"
	}
	one, err := classify.Relearn(t.Context(), told, elsewhere(10, true), classify.Options{})
	require.NoError(t, err)
	assert.Nil(t, one.Accuracy)
	assert.Zero(t, one.Own)

	_, err = classify.Relearn(t.Context(), slices.DeleteFunc(told, func(e classify.Example) bool { return e.Topic }), nil, classify.Options{})
	require.ErrorIs(t, err, classify.ErrExamples)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = classify.Relearn(ctx, pages(60), nil, classify.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// A classifier is certain of pages that are much like what it learnt, and not of those of
// which it knows hardly a word; of each class it takes no more than a person labelled.
func TestCertain(t *testing.T) {
	c, err := classify.Train(pages(120), classify.Options{})
	require.NoError(t, err)
	asked := append(pages(40), classify.Example{Words: []string{"unheard", "of"}, Site: "x"})
	certain := c.Certain(asked, pages(120))
	require.NotEmpty(t, certain)
	for _, e := range certain {
		assert.NotEqual(t, "x", e.Site)
		assert.Equal(t, e.Topic, c.Score(e.Words) >= classify.Sure)
	}
	few := c.Certain(asked, pages(6))
	assert.LessOrEqual(t, len(few), 6)
	assert.Equal(t, certain[0], few[0], "in their order")
}
