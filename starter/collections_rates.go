package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"gleaner/internal/record/collections"
)

// accepted is what came of what a collection fetched, with its shares.
type accepted struct {
	collections.Acceptance
	OfPages     float64 `json:"of_pages"`     // accepted documents for each page fetched
	OfDocuments float64 `json:"of_documents"` // and for each document
}

func sharesOf(a collections.Acceptance) accepted {
	share := func(of int) float64 { return float64(a.Accepted) / float64(max(of, 1)) }
	return accepted{a, share(a.Pages), share(a.Documents)}
}

// acceptance is that of each topic, and of all together.
type acceptance struct {
	All    accepted            `json:"all"`
	Topics map[string]accepted `json:"topics"` // by the topic that what was fetched is most like; "" where it is like none
}

func acceptanceOf(ctx context.Context, record *collections.Record, id int) (acceptance, error) {
	all, by, err := record.Acceptance(ctx, id)
	out := acceptance{sharesOf(all), map[string]accepted{}}
	for t, a := range by {
		out.Topics[t] = sharesOf(a)
	}
	return out, err
}

func (a acceptance) write(w io.Writer) error {
	return table(w, "\ntopic\tpages\tdocuments\taccepted\tfor each page\tof documents", func(line func(string, ...any)) {
		row := func(name string, x accepted) {
			line("%s\t%d\t%d\t%d\t%.2f %%\t%.2f %%", name, x.Pages, x.Documents, x.Accepted, 100*x.OfPages, 100*x.OfDocuments)
		}
		for _, t := range slices.Sorted(maps.Keys(a.Topics)) {
			if t != "" {
				row(t, a.Topics[t])
			}
		}
		if none, any := a.Topics[""]; any {
			row("(none)", none)
		}
		row("(all)", a.All)
	})
}

// writeLearnings shows what came of having classifiers learn anew.
func writeLearnings(w io.Writer, all []collections.Learning) error {
	if len(all) == 0 {
		return nil
	}
	return table(w, "\nlearnt anew\tversion\tat pages\tlabelled\tits own\taccuracy", rowsOf(all, func(l collections.Learning) string {
		accuracy := "–"
		if l.Accuracy != nil {
			accuracy = fmt.Sprintf("%.4f", *l.Accuracy)
		}
		if l.Note != "" {
			accuracy = "failed, version " + fmt.Sprint(l.Version) + " stays: " + l.Note
		}
		return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%s", l.Topic, l.Version, l.Pages, l.Told, l.Own, accuracy)
	}))
}
