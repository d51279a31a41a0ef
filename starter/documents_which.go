package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gleaner/internal/document"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// conditions are the flags that choose documents.
type conditions struct {
	store.DocumentQuery
	years, from, to string
}

func (q *conditions) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName { // its name of before
		if name == "year" {
			name = "years"
		}
		return pflag.NormalizedName(name)
	})
	fl.StringSliceVar(&q.States, "state", nil, "new, accepted, rejected or failed")
	fl.StringSliceVar(&q.Classes, "class", nil, strings.Join(document.Classes(), ", "))
	fl.StringSliceVar(&q.Kinds, "kind", nil, strings.Join(document.Kinds(), ", "))
	fl.StringSliceVar(&q.Outcomes, "outcome", nil, "of reading: "+strings.Join(document.Outcomes(), ", "))
	fl.StringVar(&q.Ingestion, "ingestion", "", "new, ingested or failed")
	fl.StringVar(&q.Host, "host", "", "found on this host")
	fl.StringVar(&q.Venue, "venue", "", "a paper of this venue, person or list: conf/webdb, author:65/2885, papers:NAME")
	fl.StringVar(&q.years, "years", "", "a paper of these "+yearsHelp)
	fl.StringVar(&q.from, "from", "", "discovered on this day or later, such as 2026-01-31")
	fl.StringVar(&q.to, "to", "", "discovered on this day or earlier")
	fl.StringVar(&q.Text, "text", "", "its first pages say so")
	fl.BoolVar(&q.Primary, "primary", false, "leave out copies of another one's text")
	fl.IntVar(&q.Sample, "sample", 0, "so many at random")
	fl.StringVar(&q.Seed, "seed", "1", "of the sample: the same seed gives the same one")
	fl.IntVar(&q.Limit, "limit", 0, "at most so many")
}

func (q *conditions) query() (store.DocumentQuery, error) {
	var err error
	if q.Years, err = yearsFlag(q.years); err != nil {
		return q.DocumentQuery, err
	}
	if q.From, err = dayFlag("from", q.from); err != nil {
		return q.DocumentQuery, err
	}
	if q.To, err = dayFlag("to", q.to); err != nil {
		return q.DocumentQuery, err
	}
	if !q.To.IsZero() {
		q.To = q.To.AddDate(0, 0, 1) // the day itself is meant, too
	}
	if err := q.words(); err != nil {
		return q.DocumentQuery, err
	}
	if q.Sample < 0 || q.Limit < 0 {
		return q.DocumentQuery, fmt.Errorf("%w: --sample and --limit are not negative", program.ErrUsage)
	}
	return q.DocumentQuery, nil
}

// words holds the conditions that are words to those that there are: an unknown one
// would find nothing, and say nothing.
func (q *conditions) words() error {
	ingestion := []string{}
	if q.Ingestion != "" {
		ingestion = append(ingestion, q.Ingestion)
	}
	return cmp.Or(
		oneOf("state", []string{"new", "accepted", "rejected", "failed"}, q.States...),
		oneOf("class", document.Classes(), q.Classes...),
		oneOf("kind", document.Kinds(), q.Kinds...),
		oneOf("outcome", document.Outcomes(), q.Outcomes...),
		oneOf("ingestion", []string{"new", "ingested", "failed"}, ingestion...),
	)
}

func dayFlag(flag, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	t, err := time.ParseInLocation(time.DateOnly, value, time.Local)
	if err != nil {
		return t, fmt.Errorf("%w: --%s: want a day such as 2026-01-31, not %q", program.ErrUsage, flag, value)
	}
	return t, nil
}
