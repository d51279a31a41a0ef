package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gleaner/internal/gleaner"
	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
	"gleaner/internal/web/rules"
)

// duration is a flag that reads durations as settings do, days included.
type duration struct{ to *time.Duration }

func (d duration) Set(s string) (err error) {
	*d.to, err = config.ParseDuration(s)
	return err
}

// String implements pflag.Value; what is not given has no text, so that no help
// shows it as a default.
func (d duration) String() string {
	if d.to == nil || *d.to == 0 {
		return ""
	}
	return config.DurationText(*d.to)
}

func (duration) Type() string { return "duration" }

// scopeHelp explains every --scope.
const scopeHelp = "what of a host may be crawled: prefix (the path of a homepage, the directory of a site) or host (all) (default: prefix)"

// oneOf holds what was given for a flag to the words that it takes.
func oneOf(flag string, choices []string, given ...string) error {
	for _, w := range given {
		if err := config.OneOf(w, choices); err != nil {
			return fmt.Errorf("%w: --%s: %w", program.ErrUsage, flag, err)
		}
	}
	return nil
}

// optionOf is a flag's value as the options of jobs take it.
func optionOf(f *pflag.Flag) string {
	if list, is := f.Value.(pflag.SliceValue); is {
		return strings.Join(list.GetSlice(), ",")
	}
	if f.Value.Type() == "bool" {
		return map[string]string{"true": "yes"}[f.Value.String()]
	}
	return f.Value.String()
}

// yearsHelp explains every --years.
const yearsHelp = "years of publication: 2003, 1998-2004 or a list such as 2001-2003,2007 (default: all)"

// yearsGiven is the value of --years, which is never empty: a variable of a shell that is not
// set would stand for all years.
type yearsGiven string

func (y *yearsGiven) String() string { return string(*y) }

func (y *yearsGiven) Type() string { return "string" }

func (y *yearsGiven) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("no years are given: without --years all are meant")
	}
	*y = yearsGiven(s)
	return nil
}

// yearsFlag reads --years, which may be left out.
func yearsFlag(given string) (years gleaner.Years, err error) {
	if given == "" {
		return years, nil
	}
	if years, err = gleaner.ParseYears(given); err != nil {
		err = fmt.Errorf("%w: --%w", program.ErrUsage, err)
	}
	return years, err
}

func durationVar(fl *pflag.FlagSet, to *time.Duration, name string, usual time.Duration, help string) {
	*to = usual
	fl.Var(duration{to}, name, help)
}

// linkFlags are what of the web a harvest leaves out.
type linkFlags struct {
	file          string
	ignore, allow []string
}

func (f *linkFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.file, "links", "", "YAML file of what is left out: ignore, allow, ignore-types, stop-directories, levels (default: the workers' policy)")
	fl.StringSliceVar(&f.ignore, "ignore", nil, "hosts (ads.example.com) and addresses (*/courses.html) that are not asked for, in place of the file's")
	fl.StringSliceVar(&f.allow, "allow", nil, "hosts and addresses where alone pages are followed, on whatever host; documents are not held to it")
}

// lists reads them; nil where nothing was asked.
func (f *linkFlags) lists() (*rules.Lists, error) {
	var l rules.Lists
	if f.file != "" {
		file, err := os.Open(f.file)
		if err != nil {
			return nil, fmt.Errorf("%w: --links: %w", program.ErrUsage, err)
		}
		defer file.Close()
		if l, err = rules.Parse(file); err != nil {
			return nil, fmt.Errorf("%w: --links %s: %w", program.ErrUsage, f.file, err)
		}
	}
	l = rules.Lists{Ignore: f.ignore, Allow: f.allow}.Over(l)
	if l.Empty() {
		return nil, nil
	}
	return &l, nil
}

// args checks the number of arguments, and says what is missing.
func args(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, got []string) error {
		if len(got) != n {
			return fmt.Errorf("%w: want %s", program.ErrUsage, what)
		}
		return nil
	}
}

// warcHelp is of the flag of that name.
const warcHelp = "keep what is exchanged with sites in WARC files, below warc in the blob store (default: the worker's setting)"

// smallVar is the flag for domains that are asked less often than the list is.
func smallVar(fl *pflag.FlagSet, small *int) {
	fl.IntVar(small, "small", 0, "ask pages of domains with fewer accepted documents only when their own intervals are over; 0 asks all")
}
