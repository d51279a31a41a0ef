package classify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/learn"
	"gleaner/internal/web/weburl"
)

// Labelled is a page labelled by a person, or a subject (ReadSubjects), stored in the file of a
// classifier for later training.
type Labelled struct {
	URL   string `json:"url"` // for a subject, "subject:" and its name
	Topic bool   `json:"topic"`
	Words string `json:"words"` // separated by spaces
}

// Example returns the page or subject as an example.
func (l Labelled) Example() Example {
	e := Example{Words: strings.Fields(l.Words), Topic: l.Topic, Site: l.URL, Subject: strings.HasPrefix(l.URL, subjectScheme)}
	if !e.Subject {
		e.Site = weburl.Host(l.URL)
	}
	return e
}

// certain is the least score at which a page becomes an example of its class; 1 − certain is the
// greatest for the other class.
const certain = 0.9

// certainOf returns the pages of which the classifier is certain, in their order, with its
// labels: per class at most as many as a person labelled.
func (c *Classifier) certainOf(pages, told []Example) []Example {
	var left [2]int
	for _, e := range told {
		if !e.Subject {
			left[class(e.Topic)]++
		}
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

// relearnFolds is the number of folds of the labelled pages for the accuracy.
const relearnFolds = 5

// Relearnt is the result of Relearn.
type Relearnt struct {
	Classifier   *Classifier
	Labelled     int      // number of pages labelled by a person
	SelfLabelled int      // number of pages labelled by the classifier, 0 if not used
	Accuracy     *float64 // on pages labelled by a person, with held-out sites; nil for too few sites
}

// Relearn learns from pages labelled by a person. It adds pages read since of which a classifier
// trained on the labelled ones is certain, some wrongly, unless they lower the measured accuracy
// or it cannot be measured. It ignores earlier training, so that errors do not accumulate. The
// error is ErrExamples if nothing can be learnt.
func Relearn(ctx context.Context, told, read []Example, opt Options) (*Relearnt, error) {
	alone, with, err := accuracies(ctx, told, read, opt)
	if err != nil {
		return nil, err
	}
	first, err := Train(told, opt)
	if err != nil {
		return nil, fmt.Errorf("of %d labelled pages: %w", len(told), err)
	}
	pages := pageIndices(told)
	out := &Relearnt{Classifier: first, Labelled: len(pages), Accuracy: alone}
	if alone == nil || *with < *alone {
		return out, nil
	}
	second, own, err := first.further(told, read, opt)
	return &Relearnt{Classifier: second, Labelled: len(pages), SelfLabelled: own, Accuracy: with}, err
}

// further returns a classifier trained on labelled pages and on those of which c is certain, and
// their number.
func (c *Classifier) further(told, read []Example, opt Options) (*Classifier, int, error) {
	own := c.certainOf(read, told)
	if len(own) == 0 {
		return c, 0, nil
	}
	second, err := Train(slices.Concat(told, own), opt)
	return second, len(own), err
}

// accuracies returns the accuracy on labelled pages of held-out sites, without and with pages of
// other sites of which the classifier is certain; nil if none could be trained.
func accuracies(ctx context.Context, told, read []Example, opt Options) (alone, with *float64, err error) {
	right, asked := [2]int{}, 0
	for _, f := range SiteFolds(told, relearnFolds) {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		train, test := learn.Pick(told, f.Train), learn.Pick(told, f.Test)
		first, err := Train(train, opt)
		if errors.Is(err, ErrExamples) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		second, _, err := first.further(train, elsewhere(read, test), opt)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range test {
			for i, c := range []*Classifier{first, second} {
				if (c.Score(e.Words) >= Sure) == e.Topic {
					right[i]++
				}
			}
			asked++
		}
	}
	if asked == 0 {
		return nil, nil, nil
	}
	a, w := float64(right[0])/float64(asked), float64(right[1])/float64(asked)
	return &a, &w, nil
}

// elsewhere returns the pages of other sites.
func elsewhere(pages, than []Example) []Example {
	sites := each.Set(than, func(e Example) string { return e.Site })
	return slices.DeleteFunc(slices.Clone(pages), func(e Example) bool { return sites[e.Site] })
}
