package classify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gleaner/internal/learn"
	"gleaner/internal/web/weburl"
)

// Labelled is a page that a person labelled, as the file of a classifier keeps it, so that
// it can be learnt from again.
type Labelled struct {
	URL   string `json:"url"`
	Topic bool   `json:"topic"`
	Words string `json:"words"` // parted by blanks
}

// Example is the page to be learnt from.
func (l Labelled) Example() Example {
	return Example{Words: strings.Fields(l.Words), Topic: l.Topic, Site: weburl.Host(l.URL)}
}

// certain is the score from which a page is an example of its own, and 1 − certain that
// up to which it is one of the rest.
const certain = 0.9

// Certain are those pages that the classifier is certain of, with the label that it gives
// them, in their order: of either class at most as many as a person labelled.
func (c *Classifier) Certain(pages, told []Example) []Example {
	var left [2]int
	for _, e := range told {
		left[class(e.Topic)]++
	}
	var out []Example
	for _, e := range pages {
		s := c.Score(e.Words)
		e.Topic = s >= certain
		if k := class(e.Topic); (e.Topic || s <= 1-certain) && left[k] > 0 && c.Known(e.Words) >= leastKnown {
			left[k]--
			out = append(out, e)
		}
	}
	return out
}

// relearnFolds is how many parts the labelled pages are cut into for the accuracy.
const relearnFolds = 5

// Relearnt is what was learnt anew.
type Relearnt struct {
	Classifier *Classifier
	Told       int      // pages that a person labelled
	Own        int      // that the classifier before was certain of, 0 where they were left out
	Accuracy   *float64 // on the pages that a person labelled, whole sites left out; nil where they are of too few sites
}

// Relearn learns from pages that a person labelled and, as far as that does no harm, from
// those that the classifier before was certain of, some of which it got wrong: they are
// left out where the accuracy on what a person labelled is the better without them, or
// cannot be measured. The error is ErrExamples where nothing can be learnt.
func Relearn(ctx context.Context, told, own []Example, opt Options) (*Relearnt, error) {
	alone, err := accuracy(ctx, told, nil, opt)
	if err != nil {
		return nil, err
	}
	out := &Relearnt{Told: len(told), Accuracy: alone}
	examples := told
	if alone != nil && len(own) > 0 {
		with, err := accuracy(ctx, told, own, opt)
		if err != nil {
			return nil, err
		}
		if with != nil && *with >= *alone {
			out.Own, out.Accuracy, examples = len(own), with, slices.Concat(told, own)
		}
	}
	if out.Classifier, err = Train(examples, opt); err != nil {
		return nil, fmt.Errorf("of %d labelled pages: %w", len(told), err)
	}
	return out, nil
}

// accuracy is on how many of the labelled pages a classifier is right that saw nothing of
// their sites; nil where none could be trained so.
func accuracy(ctx context.Context, told, own []Example, opt Options) (*float64, error) {
	said := learn.NewConfusion([]string{aboutTopic, aboutOther})
	asked := false
	for _, f := range SiteFolds(told, relearnFolds) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		test := learn.Pick(told, f.Test)
		c, err := Train(append(learn.Pick(told, f.Train), elsewhere(own, test)...), opt)
		if errors.Is(err, ErrExamples) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range test {
			said.Add(label(e.Topic), label(c.Score(e.Words) >= Sure))
			asked = true
		}
	}
	if !asked {
		return nil, nil
	}
	share := said.Accuracy()
	return &share, nil
}

// elsewhere are the pages of other sites.
func elsewhere(pages, than []Example) []Example {
	sites := map[string]bool{}
	for _, e := range than {
		sites[e.Site] = true
	}
	return slices.DeleteFunc(slices.Clone(pages), func(e Example) bool { return sites[e.Site] })
}
