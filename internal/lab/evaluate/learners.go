package evaluate

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"gleaner/internal/classify"
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

// pageFolds deals single pages to k folds, of each class in proportion, as Chen (2008) does.
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

// Measured is what a classifier said of pages that it did not see; precision and recall are
// of the pages about the topic.
type Measured struct {
	Accuracy  float64            `json:"accuracy"`
	Precision float64            `json:"precision"`
	Recall    float64            `json:"recall"`
	Confusion *measure.Confusion `json:"confusion"`
}

// cross trains on each fold and counts what the classifier said of the fold's pages, read in
// their order.
func cross(examples []classify.Example, folds []learn.Fold, opt classify.Options) (m Measured, err error) {
	m.Confusion = measure.NewConfusion([]string{about, other})
	for _, f := range folds {
		c, err := classify.Train(learn.Pick(examples, f.Train), opt)
		if err != nil {
			return m, err
		}
		var sites classify.Sites
		for _, e := range learn.Pick(examples, f.Test) {
			m.Confusion.Add(label(e.Topic), label(c.ScoreOn(&sites, e.Site, e.Words) >= classify.Sure))
		}
	}
	m.Accuracy = m.Confusion.Accuracy()
	m.Precision, m.Recall, _ = m.Confusion.Scores(about)
	return m, nil
}

// ClassifierFigures are those of cross-validation.
type ClassifierFigures struct {
	Folds  int      `json:"folds"`
	BySite Measured `json:"by_site"` // whole sites were left out, each page was judged by itself
	Beside Measured `json:"beside"`  // with the pages of its site before: as Options.Beside has it, or as much as the page
	ByPage Measured `json:"by_page"` // pages were left out
}

// CrossValidate trains classifiers on k parts of the examples.
func CrossValidate(examples []classify.Example, k int, opt classify.Options) (*ClassifierFigures, error) {
	f := &ClassifierFigures{Folds: k}
	alone, beside := opt, opt
	alone.Beside, beside.Beside = 0, cmp.Or(opt.Beside, 1)
	sites := classify.SiteFolds(examples, k)
	var err error
	for _, one := range []struct {
		into  *Measured
		folds []learn.Fold
		opt   classify.Options
	}{{&f.BySite, sites, alone}, {&f.Beside, sites, beside}, {&f.ByPage, pageFolds(examples, k), alone}} {
		if *one.into, err = cross(examples, one.folds, one.opt); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// WriteText prints the figures as a table.
func (f *ClassifierFigures) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "left out\taccuracy\tprecision\trecall")
	for _, row := range []struct {
		name string
		Measured
	}{{"sites", f.BySite}, {"sites, pages beside", f.Beside}, {"pages", f.ByPage}} {
		fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%.3f\n", row.name, row.Accuracy, row.Precision, row.Recall)
	}
	return t.Flush()
}
