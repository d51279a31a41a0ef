package classify

import (
	"cmp"
	"math"

	"gleaner/internal/learn"
)

// SiteFolds deals whole sites to k folds: those that hold pages about the topic and
// those that do not in turn, in order of appearance, so that every fold has both.
func SiteFolds(examples []Example, k int) []learn.Fold {
	has := map[string]bool{}
	var sites []string
	pages, _ := asked(examples)
	for _, e := range learn.Pick(examples, pages) {
		if _, met := has[e.Site]; !met {
			sites = append(sites, e.Site)
		}
		has[e.Site] = has[e.Site] || e.Topic
	}
	at := map[string]int{}
	var dealt [2]int
	for _, s := range sites {
		c := class(has[s])
		at[s] = dealt[c] % k
		dealt[c]++
	}
	out := make([]learn.Fold, k)
	for f := range out {
		for i, e := range examples {
			if !e.Subject && at[e.Site] == f {
				out[f].Test = append(out[f].Test, i)
			} else {
				out[f].Train = append(out[f].Train, i)
			}
		}
	}
	return out
}

// pageFolds deals single pages to k folds, of each class in proportion, as the thesis does.
func pageFolds(examples []Example, k int) []learn.Fold {
	pages, subjects := asked(examples)
	labels := make([]learn.Example, len(pages))
	for i, e := range learn.Pick(examples, pages) {
		labels[i].Label = label(e.Topic)
	}
	folds := learn.KFolds(labels, k)
	for i, f := range folds {
		folds[i].Test = learn.Pick(pages, f.Test)
		folds[i].Train = append(learn.Pick(pages, f.Train), subjects...)
	}
	return folds
}

// cross trains on each fold and counts what the classifier, which had not seen a
// site, said of its pages, read in their order.
func cross(examples []Example, folds []learn.Fold, opt Options) (*learn.Confusion, error) {
	out := learn.NewConfusion([]string{aboutTopic, aboutOther})
	for _, f := range folds {
		c, err := Train(learn.Pick(examples, f.Train), opt)
		if err != nil {
			return nil, err
		}
		var sites Sites
		for _, e := range learn.Pick(examples, f.Test) {
			out.Add(label(e.Topic), label(c.ScoreOn(&sites, e.Site, e.Words) >= Sure))
		}
	}
	return out, nil
}

// Measured is what a learner said of pages that it did not see; precision and recall are
// of the pages about the topic.
type Measured struct {
	Accuracy  float64          `json:"accuracy"`
	Precision float64          `json:"precision"`
	Recall    float64          `json:"recall"`
	Confusion *learn.Confusion `json:"confusion"`
}

func measure(c *learn.Confusion) Measured {
	m := Measured{Accuracy: c.Accuracy(), Confusion: c}
	m.Precision, m.Recall, _ = c.Scores(aboutTopic)
	return m
}

// Figures are those of one learner.
type Figures struct {
	Learner string   `json:"learner"` // a representation of the support vector machine, or classic or weighted naïve Bayes
	Share   float64  `json:"share"`   // of the pages that were not left out, which it learnt from
	Pages   int      `json:"pages"`   // which these are, in the mean, before classes are balanced
	BySite  Measured `json:"by_site"` // whole sites were left out
	ByPage  Measured `json:"by_page"` // pages were, as in the thesis
}

// Tables are in the shape of the thesis's: 10, the machine on each representation, and 11,
// classic naïve Bayes and that weighted by tf·idf, by the size of the training set.
type Tables struct {
	Folds    int       `json:"folds"`
	Machines []Figures `json:"machines"`
	Bayes    []Figures `json:"bayes"`
	Beside   Figures   `json:"beside"` // the machine that is used, which weighs the pages of the site before, too: as Options.Beside has it, or as much as the page
}

// bayesShares are the sizes of the training set for naïve Bayes.
var bayesShares = [...]float64{0.25, 0.5, 0.75, 1}

// Compare cross-validates every learner over k parts of the examples, each page by itself.
// The machine, which takes time by the square of its examples, learns from opt.Few pages at
// most, spread evenly.
func Compare(examples []Example, k int, opt Options) (*Tables, error) {
	t := &Tables{Folds: k}
	machine := opt.withDefaults(examples)
	bayes := machine
	used := machine.Representation
	few := min(1, float64(machine.Few)/float64(len(examples)))
	machine.Few, machine.Beside = len(examples), 0
	bayes.Few, bayes.Beside = 1, 0
	for _, r := range Representations() {
		machine.Representation = r
		f, err := crossBoth(string(r), examples, k, few, machine)
		if err != nil {
			return nil, err
		}
		t.Machines = append(t.Machines, f)
	}
	for i := range 2 * len(bayesShares) {
		learner := [...]string{"classic", "weighted"}[i%2]
		bayes.classic = learner == "classic"
		f, err := crossBoth(learner, examples, k, bayesShares[i/2], bayes)
		if err != nil {
			return nil, err
		}
		t.Bayes = append(t.Bayes, f)
	}
	machine.Representation, machine.Beside = used, cmp.Or(opt.Beside, 1)
	var err error
	t.Beside, err = crossBoth(string(used), examples, k, few, machine)
	return t, err
}

func crossBoth(learner string, examples []Example, k int, share float64, opt Options) (Figures, error) {
	f := Figures{Learner: learner, Share: share}
	folds := [...][]learn.Fold{SiteFolds(examples, k), pageFolds(examples, k)}
	for i, of := range []*Measured{&f.BySite, &f.ByPage} {
		for j, fold := range folds[i] {
			folds[i][j].Train = thin(examples, fold.Train, share)
		}
		c, err := cross(examples, folds[i], opt)
		if err != nil {
			return f, err
		}
		*of = measure(c)
	}
	for _, fold := range folds[0] {
		pages, _ := asked(learn.Pick(examples, fold.Train))
		f.Pages += len(pages)
	}
	f.Pages /= k
	return f, nil
}

// thin keeps a share of the pages of each class, spread evenly over their order.
func thin(examples []Example, at []int, share float64) []int {
	var met [2]float64
	var out []int
	for _, i := range at {
		if examples[i].Subject {
			out = append(out, i)
			continue
		}
		k := class(examples[i].Topic)
		before := math.Ceil(met[k] * share)
		met[k]++
		if math.Ceil(met[k]*share) > before {
			out = append(out, i)
		}
	}
	return out
}
