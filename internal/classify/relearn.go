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

// Labelled is a page that a person labelled, as the file of a classifier keeps it, so that
// it can be learnt from again, or a subject (ReadSubjects).
type Labelled struct {
	URL   string `json:"url"` // of a subject "subject:" and its name
	Topic bool   `json:"topic"`
	Words string `json:"words"` // parted by blanks
}

// Example is the page, or the subject, to be learnt from.
func (l Labelled) Example() Example {
	e := Example{Words: strings.Fields(l.Words), Topic: l.Topic, Site: l.URL, Subject: strings.HasPrefix(l.URL, subjectScheme)}
	if !e.Subject {
		e.Site = weburl.Host(l.URL)
	}
	return e
}

// certain is the score from which a page is an example of its own, and 1 − certain that
// up to which it is one of the rest.
const certain = 0.9

// certainOf are those pages that the classifier is certain of, with the label that it gives
// them, in their order: of either class at most as many as a person labelled.
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

// relearnFolds is how many parts the labelled pages are cut into for the accuracy.
const relearnFolds = 5

// Relearnt is what was learnt anew.
type Relearnt struct {
	Classifier *Classifier
	Told       int      // pages that a person labelled
	Own        int      // pages of its own labelling, 0 where they were left out
	Accuracy   *float64 // on the pages that a person labelled, whole sites left out; nil where they are of too few sites
}

// Relearn learns from pages that a person labelled and, as far as that does no harm, from
// those read since of which a classifier that learnt from them alone is certain, some of
// which it gets wrong: they are left out where the accuracy on what a person labelled is
// the better without them, or cannot be measured. What was learnt before plays no part, so
// that mistakes do not add up. The error is ErrExamples where nothing can be learnt.
func Relearn(ctx context.Context, told, read []Example, opt Options) (*Relearnt, error) {
	alone, with, err := accuracies(ctx, told, read, opt)
	if err != nil {
		return nil, err
	}
	first, err := Train(told, opt)
	if err != nil {
		return nil, fmt.Errorf("of %d labelled pages: %w", len(told), err)
	}
	pages := asked(told)
	out := &Relearnt{Classifier: first, Told: len(pages), Accuracy: alone}
	if alone == nil || *with < *alone {
		return out, nil
	}
	second, own, err := first.further(told, read, opt)
	return &Relearnt{Classifier: second, Told: len(pages), Own: own, Accuracy: with}, err
}

// further is what learns from labelled pages and from so many that the classifier, which
// learnt from them, is certain of.
func (c *Classifier) further(told, read []Example, opt Options) (*Classifier, int, error) {
	own := c.certainOf(read, told)
	if len(own) == 0 {
		return c, 0, nil
	}
	second, err := Train(slices.Concat(told, own), opt)
	return second, len(own), err
}

// accuracies are on how many of the labelled pages a classifier is right that saw nothing
// of their sites, alone and with what it was certain of elsewhere; nil where none could be
// trained so.
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

// elsewhere are the pages of other sites.
func elsewhere(pages, than []Example) []Example {
	sites := each.Set(than, func(e Example) string { return e.Site })
	return slices.DeleteFunc(slices.Clone(pages), func(e Example) bool { return sites[e.Site] })
}
