package synthesis_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/classify"
	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/topic"
)

// TestAThresholdEach: from which correlation on a page belongs to a topic with a centroid,
// and from which score to one with a classifier, are said apart.
func TestAThresholdEach(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{
		"a.example/":     primes + " half>a.example/half",
		"a.example/half": "prime ring field group kettle saucepan oven recipe",
		"b.example/":     verses + " poor>b.example/poor",
		"b.example/poor": "sonnet sonnet sonnet rhyme metre stanza",
	}})
	k, _ := taught(t, primes, others)
	collected := func(name string, certainty, threshold float64) map[string][]string {
		return s.collected(t, name, func(a *Request) {
			a.Certainty, a.Threshold, a.Cutoff, a.Classifiers = certainty, threshold, 1, map[string]*classify.Classifier{"primes": k}
		}).entries
	}
	stops := devtest.Must(topic.DefaultStops())(t)
	score := k.Score(classify.Words(topic.NewFilter(stops), topic.Page{Title: "x", Text: "prime ring field group kettle saucepan oven recipe"}))
	require.True(t, score > 0.05 && score < 0.95, "%v: it is half of it", score)
	sure := map[bool][]string{true: {"a.example/", "a.example/half"}, false: {"a.example/"}}
	for name, c := range map[string]struct {
		certainty, threshold float64
		half, poor           bool
	}{
		"low":       {score - 0.02, 0.3, true, true},
		"certain":   {score + 0.02, 0.3, false, true},
		"threshold": {score - 0.02, 0.9, true, false},
		"both":      {score + 0.02, 0.9, false, false},
	} {
		got := collected(name, c.certainty, c.threshold)
		require.Equal(t, sure[c.half], got["primes"], name)
		require.Equal(t, map[bool][]string{true: {"b.example/", "b.example/poor"}, false: {"b.example/"}}[c.poor], got["verses"], name)
	}
}
