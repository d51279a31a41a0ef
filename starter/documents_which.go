package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gleaner/internal/document"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// conditions are the flags that choose documents, the options of a job that lists them.
type conditions struct {
	flags    *pflag.FlagSet
	accepted bool // those, where no state is named
}

func (q *conditions) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	q.flags = fl
	fl.StringSlice("state", nil, "new, accepted, rejected or failed")
	fl.StringSlice("class", nil, strings.Join(document.Classes(), ", "))
	fl.StringSlice("kind", nil, strings.Join(document.Kinds(), ", "))
	fl.StringSlice("outcome", nil, "of reading: "+strings.Join(document.Outcomes(), ", "))
	fl.String("ingestion", "", "new, ingested or failed")
	fl.String("host", "", "found on this host")
	fl.String("venue", "", "a paper of this venue, person or list: conf/webdb, author:65/2885, papers:NAME")
	fl.String("years", "", "a paper of these "+yearsHelp)
	fl.String("from", "", "discovered on this day or later, such as 2026-01-31")
	fl.String("to", "", "discovered on this day or earlier")
	fl.String("text", "", "its first pages say so")
	fl.Bool("primary", false, "leave out copies of another one's text")
	fl.Int("sample", 0, "so many at random")
	fl.String("seed", "1", "of the sample: the same seed gives the same one")
	fl.Int("limit", 0, "at most so many")
}

func (q *conditions) query() (store.DocumentQuery, error) {
	o := tables.Defaults(store.JobRetrieve)
	for _, name := range tables.Fields(store.JobRetrieve) {
		flag := cmp.Or(q.flags.Lookup(name), q.flags.Lookup(name+"s"))
		if !flag.Changed {
			continue
		}
		if err := o.Set(store.JobRetrieve, name, optionOf(flag)); err != nil {
			why := strings.TrimPrefix(err.Error(), tables.ErrInput.Error()+": "+name+": ")
			return o.Documents, fmt.Errorf("%w: --%s: %s", program.ErrUsage, flag.Name, why)
		}
	}
	if err := o.Check(); err != nil {
		why := strings.TrimPrefix(err.Error(), tables.ErrInput.Error()+": ")
		return o.Documents, fmt.Errorf("%w: --%s", program.ErrUsage, why)
	}
	if q.accepted {
		return tables.Retrieved(o.Documents), nil
	}
	return o.Documents, nil
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
