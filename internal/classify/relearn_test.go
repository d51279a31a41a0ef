package classify_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/classify"
	"gleaner/internal/devstack/devtest"
)

// read are pages like those of pages, of sites of their own.
func read(n int) []classify.Example {
	out := pages(n)
	for i := range out {
		out[i].Site, out[i].Topic = fmt.Sprint("new", i%10), false
	}
	return out
}

// What the classifier is certain of is learnt from where it does no harm to what a person
// labelled, of either class as much as a person labelled at most, and whatever else it knows
// hardly a word of is not; the accuracy is that of sites left out.
func TestRelearnFromWhatIsCertain(t *testing.T) {
	unheard := classify.Example{Words: []string{"unheard", "of", "words"}, Site: "x"}
	got, err := classify.Relearn(t.Context(), pages(60), append(read(200), unheard), classify.Options{Few: 1})
	require.NoError(t, err)
	assert.Equal(t, 60, got.Labelled)
	assert.Positive(t, got.SelfLabelled)
	assert.LessOrEqual(t, got.SelfLabelled, 60)
	require.NotNil(t, got.Accuracy)
	assert.Greater(t, *got.Accuracy, 0.9)
	assert.NotNil(t, got.Classifier.Bayes, "under the options of before")
	none, err := classify.Relearn(t.Context(), pages(60), []classify.Example{unheard}, classify.Options{Few: 1})
	require.NoError(t, err)
	assert.Zero(t, none.SelfLabelled)
}

// What is certain and wrong is left out where a person's labels tell: one labelled site is
// of rivers and not about the topic, and who does not know it takes the pages read since,
// which name rivers and protocols, for examples of the topic.
func TestRelearnLeavesOutWhatHarms(t *testing.T) {
	rivers, told, since := []string{"river", "delta", "bank", "flood"}, pages(60), []classify.Example{}
	for i := range 30 {
		if i < 12 {
			told = append(told, classify.Example{Words: append([]string{"theorem", "research"}, rivers...), Site: "rivers"})
		}
		words := append([]string{"compil", "databas", "network", "protocol"}, rivers...)
		since = append(since, classify.Example{Words: words, Site: fmt.Sprint("since", i)})
	}
	alone := devtest.Must(classify.Relearn(t.Context(), told, nil, classify.Options{Few: 1}))(t)
	require.Greater(t, *alone.Accuracy, 0.9)
	got := devtest.Must(classify.Relearn(t.Context(), told, since, classify.Options{Few: 1}))(t)
	assert.Equal(t, alone, got, "as if there were none")
}

// Of one site there is no accuracy, and nothing but what a person labelled is learnt from;
// of one class nothing is learnt; who stops waiting is heeded.
func TestRelearnFromLittle(t *testing.T) {
	told := pages(20)
	for i := range told {
		told[i].Site = "one"
	}
	one := devtest.Must(classify.Relearn(t.Context(), told, read(100), classify.Options{}))(t)
	assert.Nil(t, one.Accuracy)
	assert.Zero(t, one.SelfLabelled)

	_, err := classify.Relearn(t.Context(), slices.DeleteFunc(told, func(e classify.Example) bool { return e.Topic }), nil, classify.Options{})
	require.ErrorIs(t, err, classify.ErrExamples)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = classify.Relearn(ctx, pages(60), nil, classify.Options{})
	require.ErrorIs(t, err, context.Canceled)
}
