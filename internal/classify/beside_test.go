package classify_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/classify"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/lab/evaluate"
	"gleaner/internal/topic"
)

// The pages of a site that were read before weigh beside a page as the classifier's options
// have it, by hand; other sites and other pages without a site do not.
func TestPagesBeforeWeighBeside(t *testing.T) {
	c := mustTrain(t, pages(120), classify.Options{Beside: 2})
	about, doubtful := []string{"compil", "databas", "network", "protocol"}, []string{"theorem", "network", "research", "manifold"}
	odds := func(p float64) float64 { return math.Log(p / (1 - p)) }
	a, d := odds(c.Score(about)), odds(c.Score(doubtful))
	require.Positive(t, a)
	require.Negative(t, d)

	var sites classify.Sites
	assert.InDelta(t, a, odds(c.ScoreOn(&sites, "s.example", about)), 1e-6, "the first page of a site is judged alone")
	assert.InDelta(t, d+2*a/2, odds(c.ScoreOn(&sites, "s.example", doubtful)), 1e-6)
	assert.InDelta(t, a+2*(a+d)/3, odds(c.ScoreOn(&sites, "s.example", about)), 1e-6)
	assert.InDelta(t, d, odds(c.ScoreOn(&sites, "other.example", doubtful)), 1e-6)
	assert.InDelta(t, c.Score(doubtful), c.ScoreOn(&sites, "", doubtful), 1e-12)

	c.Options.Beside = 0
	assert.InDelta(t, c.Score(doubtful), c.ScoreOn(&sites, "s.example", doubtful), 1e-12)
	c.Options.Beside = 11
	assert.Error(t, c.Check())
	c.Options.Beside = math.NaN()
	assert.Error(t, c.Check())
}

// In a crawl a page counts the more, the more the pages of its host did.
func TestCrawlsWeighThePagesOfAHost(t *testing.T) {
	c := mustTrain(t, pages(120), classify.Options{Beside: 1})
	model, _ := topic.Build(topic.Defaults(), nil, nil)
	by := classify.Over(model.Vectors(filter(t)), filter(t), map[string]*classify.Classifier{"systems": c}, topic.Options{})
	score := func(url, text string) float64 {
		scores := by.Classify(topic.Page{URL: url, Text: text})
		require.Len(t, scores, 1)
		return scores[0].Correlation
	}
	text := "a theorem of networks, research on a manifold"
	alone := score("http://new.example/", text)
	for range 3 {
		score("http://systems.example/a", "a protocol for the network of a database, by a compiler")
	}
	assert.Greater(t, score("http://systems.example/b", text), alone)
	assert.InDelta(t, alone, score("http://else.example/", text), 1e-12)
}

// Subjects are read a line each, known again by what stands in place of their URL, and
// refused where a line is none.
func TestSubjectsAreRead(t *testing.T) {
	text := "# a remark\ntopic\tcompilers\tregister allocation\n\nother\ttopology\tmanifolds\n"
	got := devtest.Must(classify.ReadSubjects(strings.NewReader(text), filter(t)))(t)
	assert.Equal(t, []classify.Labelled{
		{URL: "subject:compilers", Topic: true, Words: "compil regist alloc"},
		{URL: "subject:topology", Words: "topolog manifold"}}, got)
	assert.Equal(t, classify.Example{Words: []string{"topolog", "manifold"}, Site: "subject:topology", Subject: true}, got[1].Example())
	for _, bad := range []string{"topic\tone", "none\tone\ttwo", "topic\t\ttwo", "topic\ta\tb\nother\ta\tc"} {
		_, err := classify.ReadSubjects(strings.NewReader(bad), filter(t))
		require.Error(t, err, bad)
	}
}

// Subjects are learnt from in every part and asked about in none, be sites left out or pages.
func TestSubjectsAreNeverAskedAbout(t *testing.T) {
	all := append(pages(60), classify.Example{Words: []string{"unheard"}, Topic: true, Site: "subject:x", Subject: true})
	for _, f := range classify.SiteFolds(all, 3) {
		assert.Contains(t, f.Train, 60)
		assert.NotContains(t, f.Test, 60)
	}
	f := devtest.Must(evaluate.CrossValidate(all, 3, classify.Options{}))(t)
	for _, m := range []evaluate.Measured{f.BySite, f.ByPage} {
		c := m.Confusion.Counts
		assert.Equal(t, 60, c[0][0]+c[0][1]+c[1][0]+c[1][1])
	}
	assert.Equal(t, 60, devtest.Must(classify.Relearn(t.Context(), all, read(40), classify.Options{}))(t).Labelled)
}

// The machine's own vocabulary has, beside what the thesis's measure keeps, the words of two
// sites, and weighs them by sites: a site's menu makes no word frequent.
func TestWordsAreWeighedBySites(t *testing.T) {
	var examples []classify.Example
	for i := range 200 {
		e := classify.Example{Words: []string{"page"}, Topic: i%2 == 0, Site: "large"}
		switch i {
		case 0, 1:
			e.Site = []string{"a", "b"}[i]
			e.Words = append(e.Words, "rare")
		case 2:
			e.Words = append(e.Words, "single")
		}
		if e.Site == "large" {
			e.Words = append(e.Words, "menu")
		}
		examples = append(examples, e)
	}
	v := devtest.Must(classify.NewVocabulary(examples, classify.SiteIDF))(t)
	assert.Equal(t, []string{"menu", "page", "rare"}, v.Words)
	assert.InDeltaSlice(t, []float64{math.Log(4), math.Log(4. / 3), math.Log(4. / 2)}, v.Weights, 1e-12)
	v = devtest.Must(classify.NewVocabulary(examples, classify.RDFGammaRKF))(t)
	assert.Equal(t, []string{"menu", "page"}, v.Words)
}

// Where the sites that are left out one by one say the contrary of what all together do, the
// scale is not turned by them: a page like those about the topic is the surer one.
func TestFewUnlikeSitesTurnNothing(t *testing.T) {
	var examples []classify.Example
	for i := range 40 {
		for _, s := range []struct {
			site, words string
			topic       bool
		}{{"a", "sun north", true}, {"c", "moon east", false}, {"b", "moon south", true}, {"d", "sun west", false}} {
			examples = append(examples, classify.Example{Site: s.site, Topic: s.topic, Words: append(strings.Fields(s.words), fmt.Sprint("page", i))})
		}
	}
	c := mustTrain(t, examples, classify.Options{})
	for _, e := range examples[:4] {
		assert.Equal(t, e.Topic, c.Score(e.Words) > classify.Sure, e.Site)
	}
}

// Words are weighed by sites where there are subjects, or sites enough to weigh them by.
func TestRepresentationBySites(t *testing.T) {
	few := pages(60)
	shape := func(examples []classify.Example) classify.Representation {
		c := mustTrain(t, examples, classify.Options{})
		return c.Options.Representation
	}
	assert.Equal(t, classify.RDFGammaRKF, shape(few))
	assert.Equal(t, classify.SiteIDF, shape(append(pages(60), classify.Example{Words: few[0].Words, Topic: true, Site: "subject:x", Subject: true})))
	for i := range few {
		few[i].Site = fmt.Sprint(i)
	}
	assert.Equal(t, classify.SiteIDF, shape(few))
}
