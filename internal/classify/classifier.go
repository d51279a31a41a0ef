package classify

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gleaner/internal/each"
	"gleaner/internal/learn"
	"gleaner/internal/topic"
)

// ErrExamples is a set of examples that nothing can be learnt from.
var ErrExamples = errors.New("examples unfit for training")

// version is that of the marshalled form.
const version = 1

// Options say how a classifier is trained; zero fields mean the default.
type Options struct {
	Representation Representation `json:"representation,omitempty"` // of the support vector machine: SiteIDF, or RDF+γ·RKF where sites are few (shapeFor)
	Few            int            `json:"few,omitempty"`            // examples up to which the machine learns, 1,500; beyond, naïve Bayes
	Negatives      int            `json:"negatives,omitempty"`      // pages of the rest for one about the topic: 2
	Phrases        bool           `json:"phrases,omitempty"`        // pairs of neighbouring words are words, too
	Beside         float64        `json:"beside,omitempty"`         // what the pages of the site that were read before weigh against the page, 0 to 10 (ScoreOn)
}

// WithDefaults fills the fields that are zero, for examples.
func (o Options) WithDefaults(examples []Example) Options {
	if o.Representation == "" {
		o.Representation = shapeFor(examples)
	}
	o.Few = cmp.Or(o.Few, 1500)
	o.Negatives = cmp.Or(o.Negatives, 2)
	return o
}

// manySites are as many as SiteIDF needs: of fewer most words stand on one alone.
const manySites = 40

// shapeFor is the representation that tells most on sites left out: SiteIDF where there are
// subjects or many sites, the thesis's on fewer.
func shapeFor(examples []Example) Representation {
	sites := map[string]bool{}
	for _, e := range examples {
		sites[e.Site] = true
		if e.Subject || len(sites) >= manySites {
			return SiteIDF
		}
	}
	return RDFGammaRKF
}

// MostFew is what Few may be at most: the machine takes memory by the square of its examples.
const MostFew = 5000

// Classifier says how surely a page is about a topic. One of SVM and Bayes is set.
type Classifier struct {
	Version    int             `json:"version"`
	Examples   int             `json:"examples"` // it was trained on
	Options    Options         `json:"options,omitzero"`
	Vocabulary *Vocabulary     `json:"vocabulary"`
	SVM        *SVM            `json:"svm,omitempty"`
	Bayes      *Bayes          `json:"bayes,omitempty"`
	Scale      *learn.Logistic `json:"scale"` // from a margin to a probability

	Pages []Labelled `json:"pages,omitempty"` // that a person labelled, to learn from again
}

// The labels by which margins are scaled.
const (
	aboutTopic = "topic"
	aboutOther = "other"
)

// scaleFolds is how many parts the examples are cut into to learn the scale from
// margins of pages that were not trained on.
const scaleFolds = 3

// Train learns from examples: from all those about the topic, and from Negatives
// times as many others, taken in turn from their sites. The error is ErrExamples
// where one class is missing.
func Train(examples []Example, opt Options) (*Classifier, error) {
	opt = opt.WithDefaults(examples)
	examples = balance(examples, opt.Negatives)
	if opt.Phrases {
		examples = slices.Clone(examples)
		for i, e := range examples {
			examples[i].Words = Phrases(e.Words)
		}
	}
	c, err := train(examples, opt)
	if err != nil {
		return nil, err
	}
	margins, err := outsideMargins(examples, opt)
	if err != nil {
		return nil, err
	}
	if c.Scale, err = scale(margins); err != nil || rises(c.Scale) {
		return c, err
	}
	c.Scale, err = scale(c.margins(examples))
	return c, err
}

func scale(margins []learn.Example) (*learn.Logistic, error) {
	return learn.TrainLogistic(margins, learn.LogisticOptions{L2: 1e-3, Balanced: 1})
}

// rises tells whether a page with the greater margin is the surer one. Among sites that are
// few and unlike, margins of those left out may say the contrary by chance.
func rises(scale *learn.Logistic) bool {
	return scale.Probability([]float64{1}, aboutTopic) > scale.Probability([]float64{-1}, aboutTopic)
}

func train(examples []Example, opt Options) (*Classifier, error) {
	v, err := NewVocabulary(examples, opt.Representation)
	if err != nil {
		return nil, err
	}
	c := &Classifier{Version: version, Examples: len(examples), Options: opt, Vocabulary: v}
	if len(examples) > opt.Few {
		c.Bayes = trainBayes(v, examples)
		return c, nil
	}
	vectors, topic := make([]vector, len(examples)), make([]bool, len(examples))
	for i, e := range examples {
		vectors[i], topic[i] = v.vector(e.Words), e.Topic
	}
	c.SVM = trainSVM(vectors, topic)
	return c, nil
}

// outsideMargins are the margins of examples by classifiers that did not learn from
// their sites; where there are too few for that, by one that learnt from all.
func outsideMargins(examples []Example, opt Options) ([]learn.Example, error) {
	var out []learn.Example
	for _, f := range SiteFolds(examples, scaleFolds) {
		c, err := train(learn.Pick(examples, f.Train), opt)
		if errors.Is(err, ErrExamples) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, c.margins(learn.Pick(examples, f.Test))...)
	}
	if both(out) {
		return out, nil
	}
	c, err := train(examples, opt)
	if err != nil {
		return nil, err
	}
	return c.margins(examples), nil
}

func both(margins []learn.Example) bool {
	has := func(label string) bool {
		return slices.ContainsFunc(margins, func(e learn.Example) bool { return e.Label == label })
	}
	return has(aboutTopic) && has(aboutOther)
}

func (c *Classifier) margins(examples []Example) []learn.Example {
	return each.Of(examples, func(e Example) learn.Example {
		return learn.Example{X: []float64{c.margin(e.Words)}, Label: label(e.Topic)}
	})
}

func label(topic bool) string {
	if topic {
		return aboutTopic
	}
	return aboutOther
}

// terms are what of a page the classifier asks for: its words, or Phrases of them.
func (c *Classifier) terms(words []string) []string {
	if c.Options.Phrases {
		return Phrases(words)
	}
	return words
}

// margin is that of a page with such terms.
func (c *Classifier) margin(words []string) float64 {
	if c.Bayes != nil {
		return c.Bayes.margin(c.Vocabulary, words)
	}
	return c.SVM.margin(c.Vocabulary.vector(words))
}

// Score is how surely a page with these words is about the topic, from 0 to 1.
func (c *Classifier) Score(words []string) float64 {
	return c.Scale.Probability([]float64{c.margin(c.terms(words))}, aboutTopic)
}

// Known is how many of the words the vocabulary has: a page of which hardly any is
// known says nothing.
func (c *Classifier) Known(words []string) int {
	n := 0
	for w := range topic.Count(words) {
		if _, ok := c.Vocabulary.at[w]; ok {
			n++
		}
	}
	return n
}

// sure is the score of a page of which enough words are known, and 0 of any other; 0, too,
// where weights beyond all measure give no number. The pages of its site count as ScoreOn has it.
func (c *Classifier) sure(sites *Sites, site string, words []string) float64 {
	if c.Known(words) < leastKnown {
		return 0
	}
	if s := c.ScoreOn(sites, site, words); s > 0 {
		return s
	}
	return 0
}

// Parse reads a classifier, as 'lab train topic' writes it, and makes it ready.
func Parse(data []byte) (*Classifier, error) {
	c := &Classifier{}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, err
	}
	return c, c.Check()
}

// Check reports what is wrong with a classifier that was read, and makes it ready.
func (c *Classifier) Check() error {
	v := c.Vocabulary
	switch {
	case c.Version != version:
		return fmt.Errorf("classifier of version %d: this program reads version %d", c.Version, version)
	case v == nil || len(v.Words) == 0 || len(v.Weights) != len(v.Words) || len(v.IDF) != len(v.Words):
		return errors.New("classifier without a whole vocabulary")
	case !c.Scale.Takes(1):
		return errors.New("classifier without the scale of its margins")
	case (c.SVM == nil) == (c.Bayes == nil):
		return errors.New("classifier with neither or both of svm and bayes")
	case c.Options.Few > MostFew:
		return fmt.Errorf("classifier whose machine learns from up to %d examples: %d is the most", c.Options.Few, MostFew)
	case !(c.Options.Beside >= 0 && c.Options.Beside <= MostBeside): // nor NaN
		return fmt.Errorf("classifier in which the pages of a site weigh %v: want 0 to %d", c.Options.Beside, MostBeside)
	case c.Bayes != nil && len(c.Bayes.Odds) != len(v.Words):
		return errors.New("classifier whose odds do not fit its vocabulary")
	}
	if err := c.SVM.check(len(v.Words)); err != nil {
		return err
	}
	v.index()
	return nil
}

func (m *SVM) check(words int) error {
	if m == nil {
		return nil
	}
	if len(m.Alphas) != len(m.Support) {
		return errors.New("classifier whose multipliers do not fit its support vectors")
	}
	for _, s := range m.Support {
		if len(s.At) != len(s.X) || slices.ContainsFunc(s.At, func(i int32) bool { return i < 0 || int(i) >= words }) {
			return errors.New("classifier with a support vector beyond its vocabulary")
		}
	}
	return nil
}

// balance keeps all examples about the topic and, of the others, so many times as
// many, taken in turn from their sites in order of appearance.
func balance(examples []Example, negatives int) []Example {
	topics := 0
	sites := map[string][]int{}
	var order []string
	for i, e := range examples {
		if e.Topic {
			topics++
			continue
		}
		if sites[e.Site] == nil {
			order = append(order, e.Site)
		}
		sites[e.Site] = append(sites[e.Site], i)
	}
	keep := map[int]bool{}
	for round := 0; len(keep) < topics*negatives; round++ {
		took := false
		for _, s := range order {
			if round < len(sites[s]) && len(keep) < topics*negatives {
				keep[sites[s][round]] = true
				took = true
			}
		}
		if !took {
			break
		}
	}
	var out []Example
	for i, e := range examples {
		if e.Topic || keep[i] {
			out = append(out, e)
		}
	}
	return out
}
