package evaluate

import (
	"cmp"
	"math"

	"gleaner/internal/classify"
	"gleaner/internal/each"
	"gleaner/internal/lab/measure"
	"gleaner/internal/learn"
)

// The two labels of a page.
const (
	about = "topic"
	other = "other"
)

func label(topic bool) string {
	if topic {
		return about
	}
	return other
}

// pageFolds deals single pages to k folds, of each class in proportion, as the thesis does.
func pageFolds(examples []classify.Example, k int) []learn.Fold {
	var pages, subjects []int
	for i, e := range examples {
		if e.Subject {
			subjects = append(subjects, i)
		} else {
			pages = append(pages, i)
		}
	}
	labels := make([]learn.Example, len(pages))
	for i, e := range learn.Pick(examples, pages) {
		labels[i].Label = label(e.Topic)
	}
	folds := measure.KFolds(labels, k)
	for i, f := range folds {
		folds[i].Test = learn.Pick(pages, f.Test)
		folds[i].Train = append(learn.Pick(pages, f.Train), subjects...)
	}
	return folds
}

// cross trains on each fold and counts what the classifier, which had not seen a
// site, said of its pages, read in their order.
func cross(examples []classify.Example, folds []learn.Fold, opt classify.Options) (*measure.Confusion, error) {
	out := measure.NewConfusion([]string{about, other})
	for _, f := range folds {
		c, err := classify.Train(learn.Pick(examples, f.Train), opt)
		if err != nil {
			return nil, err
		}
		var sites classify.Sites
		for _, e := range learn.Pick(examples, f.Test) {
			out.Add(label(e.Topic), label(c.ScoreOn(&sites, e.Site, e.Words) >= classify.Sure))
		}
	}
	return out, nil
}

// Measured is what a learner said of pages that it did not see; precision and recall are
// of the pages about the topic.
type Measured struct {
	Accuracy  float64            `json:"accuracy"`
	Precision float64            `json:"precision"`
	Recall    float64            `json:"recall"`
	Confusion *measure.Confusion `json:"confusion"`
}

func scored(c *measure.Confusion) Measured {
	m := Measured{Accuracy: c.Accuracy(), Confusion: c}
	m.Precision, m.Recall, _ = c.Scores(about)
	return m
}

// LearnerFigures are those of one learner.
type LearnerFigures struct {
	Learner string   `json:"learner"` // a representation of the support vector machine, or classic or weighted naïve Bayes
	Share   float64  `json:"share"`   // of the pages that were not left out, which it learnt from
	Pages   int      `json:"pages"`   // which these are, in the mean, before classes are balanced
	BySite  Measured `json:"by_site"` // whole sites were left out
	ByPage  Measured `json:"by_page"` // pages were, as in the thesis
}

// LearnerTables are in the shape of the thesis's: 10, the machine on each representation, and 11,
// classic naïve Bayes and that weighted by tf·idf, by the size of the training set.
type LearnerTables struct {
	Folds    int              `json:"folds"`
	Machines []LearnerFigures `json:"machines"`
	Bayes    []LearnerFigures `json:"bayes"`
	Beside   LearnerFigures   `json:"beside"` // the machine that is used, which weighs the pages of the site before, too: as Options.Beside has it, or as much as the page
}

// bayesShares are the sizes of the training set for naïve Bayes.
var bayesShares = [...]float64{0.25, 0.5, 0.75, 1}

// CompareLearners cross-validates every learner over k parts of the examples, each page by itself.
// The machine, which takes time by the square of its examples, learns from opt.Few pages at
// most, spread evenly.
func CompareLearners(examples []classify.Example, k int, opt classify.Options) (*LearnerTables, error) {
	t := &LearnerTables{Folds: k}
	machine := opt.WithDefaults(examples)
	bayes := machine
	used := machine.Representation
	few := min(1, float64(machine.Few)/float64(len(examples)))
	machine.Few, machine.Beside = len(examples), 0
	bayes.Few, bayes.Beside = 1, 0
	for _, r := range classify.Representations() {
		machine.Representation = r
		f, err := crossBoth(string(r), examples, k, few, machine)
		if err != nil {
			return nil, err
		}
		t.Machines = append(t.Machines, f)
	}
	for i := range 2 * len(bayesShares) {
		learner := [...]string{"classic", "weighted"}[i%2]
		bayes.Classic = learner == "classic"
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

func crossBoth(learner string, examples []classify.Example, k int, share float64, opt classify.Options) (LearnerFigures, error) {
	f := LearnerFigures{Learner: learner, Share: share}
	folds := [...][]learn.Fold{classify.SiteFolds(examples, k), pageFolds(examples, k)}
	for i, of := range []*Measured{&f.BySite, &f.ByPage} {
		for j, fold := range folds[i] {
			folds[i][j].Train = thinned(examples, fold.Train, share)
		}
		c, err := cross(examples, folds[i], opt)
		if err != nil {
			return f, err
		}
		*of = scored(c)
	}
	for _, fold := range folds[0] {
		f.Pages += each.Count(learn.Pick(examples, fold.Train), func(e classify.Example) bool { return !e.Subject })
	}
	f.Pages /= k
	return f, nil
}

// thinned keeps a share of the pages of each class, spread evenly over their order.
func thinned(examples []classify.Example, at []int, share float64) []int {
	met := map[string]float64{}
	var out []int
	for _, i := range at {
		if examples[i].Subject {
			out = append(out, i)
			continue
		}
		k := label(examples[i].Topic)
		before := math.Ceil(met[k] * share)
		met[k]++
		if math.Ceil(met[k]*share) > before {
			out = append(out, i)
		}
	}
	return out
}
