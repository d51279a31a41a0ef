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

// ErrExamples reports examples from which nothing can be learnt.
var ErrExamples = errors.New("examples unfit for training")

// version is that of the marshalled form.
const version = 1

// Options configures training; zero fields mean the default.
type Options struct {
	Representation Representation `json:"representation,omitempty"` // of the support vector machine: SiteIDF, or RDF+γ·RKF for few sites (shapeFor)
	Few            int            `json:"few,omitempty"`            // greatest number of examples for the machine, 1,500; beyond, naïve Bayes
	Negatives      int            `json:"negatives,omitempty"`      // other pages per page about the topic: 2
	Phrases        bool           `json:"phrases,omitempty"`        // also use pairs of neighbouring words
	Beside         float64        `json:"beside,omitempty"`         // weight of the site's earlier pages against the page, 0 to 10 (ScoreOn)
}

// WithDefaults sets zero fields to the defaults for examples.
func (o Options) WithDefaults(examples []Example) Options {
	if o.Representation == "" {
		o.Representation = shapeFor(examples)
	}
	o.Few = cmp.Or(o.Few, 1500)
	o.Negatives = cmp.Or(o.Negatives, 2)
	return o
}

// manySites is the number of sites from which on SiteIDF works: with fewer, most words are on one
// site only.
const manySites = 40

// shapeFor returns the best representation by tests on held-out sites: SiteIDF for subjects or
// many sites, that of the thesis for few sites.
func shapeFor(examples []Example) Representation {
	sites := each.Set(examples, func(e Example) string { return e.Site })
	if len(sites) >= manySites || slices.ContainsFunc(examples, func(e Example) bool { return e.Subject }) {
		return SiteIDF
	}
	return RDFGammaRKF
}

// MaxFew is the greatest Few: the machine needs memory by the square of its examples.
const MaxFew = 5000

// Classifier returns the probability that a page is about a topic. One of SVM and Bayes is set.
type Classifier struct {
	Version    int             `json:"version"`
	Examples   int             `json:"examples"` // in training
	Options    Options         `json:"options,omitzero"`
	Vocabulary *Vocabulary     `json:"vocabulary"`
	SVM        *SVM            `json:"svm,omitempty"`
	Bayes      *Bayes          `json:"bayes,omitempty"`
	Scale      *learn.Logistic `json:"scale"` // from a margin to a probability

	Pages []Labelled `json:"pages,omitempty"` // labelled by a person, for later training
}

// Labels for scaling margins.
const (
	aboutTopic = "topic"
	aboutOther = "other"
)

// scaleFolds is the number of folds of the examples. The scale is learnt from margins of held-out
// pages.
const scaleFolds = 3

// Train learns from all examples about the topic, and from Negatives times as many others, taken
// from their sites in turn. The error is ErrExamples if one class is missing.
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

// rises reports whether a greater margin means a greater probability. For few dissimilar sites,
// held-out margins may show the opposite by chance.
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

// outsideMargins returns margins of examples by classifiers trained without their sites, or with
// too few sites by one trained on all.
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
	if len(each.Set(out, func(e learn.Example) string { return e.Label })) == 2 {
		return out, nil
	}
	c, err := train(examples, opt)
	if err != nil {
		return nil, err
	}
	return c.margins(examples), nil
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

// terms returns the terms of a page for the classifier: its words, or Phrases of them.
func (c *Classifier) terms(words []string) []string {
	if c.Options.Phrases {
		return Phrases(words)
	}
	return words
}

// margin returns the margin of a page with these terms.
func (c *Classifier) margin(words []string) float64 {
	if c.Bayes != nil {
		return c.Bayes.margin(c.Vocabulary, words)
	}
	return c.SVM.margin(c.Vocabulary.vector(words))
}

// Score returns the probability from 0 to 1 that a page with these words is about the topic.
func (c *Classifier) Score(words []string) float64 {
	return c.Scale.Probability([]float64{c.margin(c.terms(words))}, aboutTopic)
}

// Known returns the number of words in the vocabulary. A page with hardly any gives no evidence.
func (c *Classifier) Known(words []string) int {
	n := 0
	for w := range topic.Count(words) {
		if _, ok := c.Vocabulary.at[w]; ok {
			n++
		}
	}
	return n
}

// sure returns the score of a page with enough known words, by ScoreOn, and 0 for others. It is
// also 0 if extreme weights give NaN.
func (c *Classifier) sure(sites *Sites, site string, words []string) float64 {
	if c.Known(words) < leastKnown {
		return 0
	}
	if s := c.ScoreOn(sites, site, words); s > 0 {
		return s
	}
	return 0
}

// Parse reads a classifier written by 'lab train topic' and prepares it.
func Parse(data []byte) (*Classifier, error) {
	c := &Classifier{}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, err
	}
	return c, c.Check()
}

// Check returns an error for an invalid classifier, and prepares a valid one.
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
	case c.Options.Few > MaxFew:
		return fmt.Errorf("classifier whose machine learns from up to %d examples: %d is the most",
			c.Options.Few, MaxFew)
	case !(c.Options.Beside >= 0 && c.Options.Beside <= MaxBeside): // nor NaN
		return fmt.Errorf("classifier in which the pages of a site weigh %v: want 0 to %d", c.Options.Beside, MaxBeside)
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

// balance returns all examples about the topic and negatives times as many others, taken from
// their sites in turn in order of appearance.
func balance(examples []Example, negatives int) []Example {
	type place struct{ turn, site, at int } // of an example, by the order of its site
	var others []place
	site, turns := map[string]int{}, map[string]int{}
	for i, e := range examples {
		if e.Topic {
			continue
		}
		if turns[e.Site]++; turns[e.Site] == 1 {
			site[e.Site] = i
		}
		others = append(others, place{turns[e.Site], site[e.Site], i})
	}
	slices.SortFunc(others, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.site, b.site))
	})
	most := negatives * (len(examples) - len(others))
	keep := each.Set(others[:min(len(others), most)], func(p place) int { return p.at })
	var out []Example
	for i, e := range examples {
		if e.Topic || keep[i] {
			out = append(out, e)
		}
	}
	return out
}
