package classify

import (
	"slices"

	"gleaner/internal/learn"
)

// SiteFolds deals whole sites to k folds: those that hold pages about the topic and
// those that do not in turn, in order of appearance, so that every fold has both.
func SiteFolds(examples []Example, k int) []learn.Fold {
	has := map[string]bool{}
	var sites []string
	for _, e := range examples {
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
			if at[e.Site] == f {
				out[f].Test = append(out[f].Test, i)
			} else {
				out[f].Train = append(out[f].Train, i)
			}
		}
	}
	return out
}

// Cross trains on each fold and counts what the classifier, which had not seen a
// site, said of its pages.
func Cross(examples []Example, folds []learn.Fold, opt Options) (*learn.Confusion, error) {
	out := learn.NewConfusion([]string{aboutTopic, aboutOther})
	for _, f := range folds {
		c, err := Train(learn.Pick(examples, f.Train), opt)
		if err != nil {
			return nil, err
		}
		for _, e := range learn.Pick(examples, f.Test) {
			out.Add(label(e.Topic), label(c.Score(e.Words) >= Sure))
		}
	}
	return out, nil
}

// Figures are those of one learner on examples that it did not see.
type Figures struct {
	Learner string           `json:"learner"` // a representation of the support vector machine, or bayes
	BySite  *learn.Confusion `json:"by_site"` // whole sites were left out
	ByPage  *learn.Confusion `json:"by_page"` // pages were, as in the thesis's tables 10 and 11
}

// Compare cross-validates every learner over k parts of the examples.
func Compare(examples []Example, k int, opt Options) ([]Figures, error) {
	learners := map[string]Options{"bayes": {Few: 1, Negatives: opt.Negatives, Phrases: opt.Phrases}}
	names := []string{"bayes"}
	for i, r := range Representations() {
		learners[string(r)] = Options{Representation: r, Negatives: opt.Negatives, Phrases: opt.Phrases, Few: len(examples)}
		names = slices.Insert(names, i, string(r))
	}
	var out []Figures
	for _, name := range names {
		f := Figures{Learner: name}
		var err error
		if f.BySite, err = Cross(examples, SiteFolds(examples, k), learners[name]); err != nil {
			return nil, err
		}
		if f.ByPage, err = Cross(examples, learn.KFolds(labelled(examples), k), learners[name]); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// labelled are the examples' labels, for folds that keep the classes in proportion.
func labelled(examples []Example) []learn.Example {
	out := make([]learn.Example, len(examples))
	for i, e := range examples {
		out[i].Label = label(e.Topic)
	}
	return out
}
