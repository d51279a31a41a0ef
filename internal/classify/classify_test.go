package classify_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/classify"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/each"
	"gleaner/internal/lab/evaluate"
	"gleaner/internal/topic"
)

// What a page comes to: letters alone, no stop words, stems as Porter published them.
func TestWordsAreStems(t *testing.T) {
	assert.Equal(t, []string{"relat", "databas", "queri", "optim", "caress", "poni"},
		words(t, "The RELATIONAL databases; queries of 2003 — optimization (x) caresses ponies"))
	assert.Empty(t, words(t, "click here to get back to the home page 12 34 a1b2"))
	assert.LessOrEqual(t, len(words(t, strings.Repeat("word ", 100_000))), 20_000)
	assert.Equal(t, []string{"neural", "network", "model", "neural network", "network model"},
		classify.Phrases([]string{"neural", "network", "model"}))
}

func words(t *testing.T, text string) []string {
	t.Helper()
	return classify.Words(filter(t), topic.Page{Text: text})
}

func filter(t *testing.T) *topic.Filter {
	return topic.NewFilter(devtest.Must(topic.DefaultStops())(t))
}

// pages makes pages of two topics that share most of their words.
func pages(n int) []classify.Example {
	topics := [2][]string{{"theorem", "manifold", "algebra", "homolog"}, {"compil", "databas", "network", "protocol"}}
	var out []classify.Example
	for i := range n {
		words := []string{"research", "student", "paper", "teach", "talk"}
		for j := range 4 {
			words = append(words, topics[i%2][(i/2+j*j)%4])
		}
		words = append(words, topics[1-i%2][i%4]) // a word of the other one
		out = append(out, classify.Example{Words: words, Topic: i%2 == 1, Site: fmt.Sprint("site", i%10)})
	}
	return out
}

// Both learners tell pages of sites that they did not see, few examples by the machine
// and many by naïve Bayes, and say the same after JSON.
func TestBothLearnersTellATopic(t *testing.T) {
	for _, few := range []int{1, 1000} {
		c := mustTrain(t, pages(120), classify.Options{Few: few})
		assert.Equal(t, few == 1, c.Bayes != nil)
		assert.Equal(t, few == 1000, c.SVM != nil)

		about := words(t, "a protocol for the network of a database")
		other := words(t, "the homology of a manifold, a theorem")
		assert.Greater(t, c.Score(about), classify.Sure)
		assert.Less(t, c.Score(other), classify.Sure)
		assert.Equal(t, 2, c.Known(words(t, "network unheardof protocol network")))

		text := devtest.Must(json.Marshal(c))(t)
		var back classify.Classifier
		require.NoError(t, json.Unmarshal(text, &back))
		require.NoError(t, back.Check())
		assert.InDelta(t, c.Score(about), back.Score(about), 1e-9)

		again := mustTrain(t, pages(120), classify.Options{Few: few})
		same := devtest.Must(json.Marshal(again))(t)
		assert.Equal(t, string(text), string(same), "the same examples give the same classifier")
	}
}

// A classifier that learnt pairs of words asks pages for them, also after JSON: here only
// the order of two words tells.
func TestPhrasesAreAskedFor(t *testing.T) {
	var examples []classify.Example
	for i := range 40 {
		pair := [2][]string{{"network", "neural"}, {"neural", "network"}}[i%2]
		filler := fmt.Sprint("filler", string(rune('a'+i/2%7)))
		examples = append(examples, classify.Example{Words: append([]string{"paper", filler}, pair...), Topic: i%2 == 1, Site: fmt.Sprint("site", i%10)})
	}
	c := mustTrain(t, examples, classify.Options{Phrases: true})
	text := devtest.Must(json.Marshal(c))(t)
	c = devtest.Must(classify.Parse(text))(t)
	assert.Greater(t, c.Score([]string{"paper", "neural", "network"}), 0.9)
	assert.Less(t, c.Score([]string{"paper", "network", "neural"}), 0.1)
	assert.Equal(t, 3, c.Known([]string{"paper", "neural", "network"}), "its words, not their pairs")
}

// The measures of a word, counted by hand: of four pages about the topic three hold
// "net", of two others one does.
func TestVocabularyMeasuresWords(t *testing.T) {
	examples := []classify.Example{
		{Words: []string{"net", "net"}, Topic: true}, {Words: []string{"net"}, Topic: true},
		{Words: []string{"net", "code"}, Topic: true}, {Words: []string{"code"}, Topic: true},
		{Words: []string{"net", "set"}}, {Words: []string{"set"}},
	}
	examples = slices.Repeat(examples, 4)
	// 6 words about the topic: code 2, net 4; 3 others: net 1, set 2.
	v := devtest.Must(classify.NewVocabulary(examples, classify.RDFGammaRKF))(t)
	assert.Equal(t, []string{"code", "net", "set"}, v.Words)
	gamma := 175. / (400. / 3)
	assert.InDeltaSlice(t, []float64{50 + gamma*100/3, 25 + gamma*100/3, 100 + gamma*200/3}, v.Weights, 1e-9)
	got := v.Vector([]string{"net", "code", "net"})
	assert.InDelta(t, v.Weights[0]/(v.Weights[1]*(1+math.Ln2)), got["code"]/got["net"], 1e-6)
}

// One class alone, or no words: a named error.
func TestNothingToLearnFrom(t *testing.T) {
	one := []classify.Example{{Words: []string{"net"}, Topic: true}}
	_, err := classify.Train(one, classify.Options{})
	require.ErrorIs(t, err, classify.ErrExamples)
	mustTrain(t, append(one, classify.Example{}), classify.Options{}) // a page without words is a page
	_, err = classify.Train(nil, classify.Options{})
	require.ErrorIs(t, err, classify.ErrExamples)
}

// A file that was damaged is refused before it is used.
func TestDamagedClassifiersAreRefused(t *testing.T) {
	whole := mustTrain(t, pages(40), classify.Options{})
	for name, damage := range map[string]func(*classify.Classifier){
		"version":    func(c *classify.Classifier) { c.Version = 7 },
		"vocabulary": func(c *classify.Classifier) { c.Vocabulary.IDF = c.Vocabulary.IDF[1:] },
		"no learner": func(c *classify.Classifier) { c.SVM = nil },
		"beyond":     func(c *classify.Classifier) { c.SVM.Support[0].At[0] = 1000 },
		"no scale":   func(c *classify.Classifier) { c.Scale = nil },
		"scale":      func(c *classify.Classifier) { c.Scale.Weights = nil },
		"few":        func(c *classify.Classifier) { c.Options.Few = 1_000_000 },
	} {
		text := devtest.Must(json.Marshal(whole))(t)
		var c classify.Classifier
		require.NoError(t, json.Unmarshal(text, &c))
		damage(&c)
		assert.Error(t, c.Check(), name)
	}
}

// A site's pages are never in training and test at once, and every fold of enough
// sites has both classes.
func TestFoldsKeepSitesWhole(t *testing.T) {
	all := pages(60)
	for _, f := range classify.SiteFolds(all, 3) {
		train := each.Set(f.Train, func(i int) string { return all[i].Site })
		seen := map[bool]bool{}
		for _, i := range f.Test {
			assert.False(t, train[all[i].Site])
			seen[all[i].Topic] = true
		}
		assert.Len(t, seen, 2)
	}
}

// While tunnelling the second layer accepts at three quarters.
func TestTunnellingLowersTheThreshold(t *testing.T) {
	c := mustTrain(t, pages(120), classify.Options{})
	words := pages(120)[1].Words
	logit := func(p float64) float64 { return math.Log(p / (1 - p)) }
	at := slices.Index(c.Scale.Classes, "topic")
	for _, x := range []struct {
		score          float64
		leads, tunnels bool
	}{{0.3, false, false}, {0.4, false, true}, {0.49, false, true}, {0.51, true, true}} {
		c.Scale.Bias[at] += logit(x.score) - logit(c.Score(words))
		require.InDelta(t, x.score, c.Score(words), 1e-6)
		assert.Equal(t, x.leads, (&classify.Graph{Second: c}).Leads(words), x.score)
		assert.Equal(t, x.tunnels, (&classify.Graph{Second: c, Tunnelling: true}).Leads(words), x.score)
	}
}

// Pages that lead to relevant ones within five links are the second layer's examples.
func TestLeadersAreWithinFiveLinks(t *testing.T) {
	var links []classify.Link
	for i := range 8 {
		links = append(links, classify.Link{From: i + 1, To: i})
	}
	links = append(links, classify.Link{From: 0, To: 2}, classify.Link{From: 9, To: 1}, classify.Link{From: 10, To: 11})
	assert.Equal(t, [][]int{{1}, {2, 9}, {3}, {4}, {5}}, classify.Leaders(links, map[int]bool{0: true}))
}

// A topic with a learnt classifier is told by that, any other by its centroid; a page of
// which hardly a word is known is about nothing.
func TestPagesAreClassifiedForACrawl(t *testing.T) {
	c := mustTrain(t, pages(120), classify.Options{})
	samples := []topic.Sample{}
	for i := range 4 {
		counts := map[string]int{"whale": 3, "plankton": 2, "reef": 1, "ocean": 2, fmt.Sprint("sea", string(rune('a'+i))): 1}
		samples = append(samples, topic.Sample{Topic: "sea", URL: fmt.Sprint("http://sea.example/", i), Counts: counts},
			topic.Sample{Topic: "systems", URL: fmt.Sprint("http://sys.example/", i), Counts: map[string]int{"lathe": 1, "mill": 1, "drill": 1, "saw": 1}})
	}
	model, without := topic.Build(topic.Defaults(), []topic.Topic{{ID: "sea"}, {ID: "systems"}}, samples)
	require.Empty(t, without)
	by := classify.Over(model.Vectors(filter(t)), filter(t), map[string]*classify.Classifier{"systems": c}, topic.Options{})
	scores := by.Classify(topic.Page{Title: "A protocol", Text: "for the network of a database, by a compiler: research"})
	require.Len(t, scores, 1)
	assert.Equal(t, "systems", scores[0].Topic)
	assert.Greater(t, scores[0].Correlation, classify.Sure)
	assert.Empty(t, by.Classify(topic.Page{Text: "an unheard protocol"}))
	assert.Empty(t, by.Classify(topic.Page{Text: "a lathe, a mill, a drill and a saw"}), "its centroid does not count")
	scores = by.Classify(topic.Page{Text: "whale plankton reef ocean"})
	require.Len(t, scores, 1)
	assert.Equal(t, "sea", scores[0].Topic)
	known := topic.NewSample("systems", "http://sys.example/", filter(t), topic.Page{Title: "A protocol", Text: "for the network of a database, by a compiler: research"})
	assert.Equal(t, by.Classify(topic.Page{URL: known.URL, Title: "A protocol", Text: "for the network of a database, by a compiler: research"}), by.Scores(known))
	assert.Zero(t, model.SelfCheck(by, samples)[1].Own, "its centroid does not count there, either")
	var _ topic.Classifier = by
	by = classify.Over(model.Vectors(filter(t)), filter(t), map[string]*classify.Classifier{"systems": c, "no centroid": c}, topic.Options{})
	assert.ElementsMatch(t, []string{"sea", "systems", "no centroid"}, by.Topics())
}

// Each way of leaving out asks about every page once.
func TestCrossValidationAsksAboutEveryPageOnce(t *testing.T) {
	all := pages(80)
	f := devtest.Must(evaluate.CrossValidate(all, 4, classify.Options{}))(t)
	for _, m := range []evaluate.Measured{f.BySite, f.Beside, f.ByPage} {
		c := m.Confusion.Counts
		assert.Equal(t, len(all), c[0][0]+c[0][1]+c[1][0]+c[1][1])
		assert.InDelta(t, float64(c[0][0]+c[1][1])/float64(len(all)), m.Accuracy, 1e-9)
		assert.InDelta(t, float64(c[0][0])/float64(c[0][0]+c[1][0]), m.Precision, 1e-9)
		assert.InDelta(t, float64(c[0][0])/float64(c[0][0]+c[0][1]), m.Recall, 1e-9)
	}
}

func mustTrain(t *testing.T, examples []classify.Example, o classify.Options) *classify.Classifier {
	return devtest.Must(classify.Train(examples, o))(t)
}
