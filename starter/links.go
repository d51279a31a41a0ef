package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"gleaner/internal/service/program"
	"gleaner/internal/web/rules"
)

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
