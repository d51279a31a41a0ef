package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/web/rules"
	"gleaner/internal/web/weburl"
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

// keptOut says, for each harvest that wants a URL's host, by which list it leaves
// the URL out.
func keptOut(ctx context.Context, a *app.App, url string) (lines []string, err error) {
	all, err := a.DB.LinkLists(ctx, weburl.Host(url))
	if err != nil {
		return nil, err
	}
	worker := app.Links(a.Config)
	if len(all) == 0 {
		all = []store.LinkLists{{Harvest: "the policy"}}
	}
	learnt, err := a.DB.StopNames(ctx, a.Stats.StopSites, a.Stats.StopShare)
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		if rule, entry := rules.New(h.Lists.Over(worker), learnt).KeepsOut(url, weburl.IsDocumentName(url)); rule != "" {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s", rule, entry))+" ("+h.Harvest+")")
		}
	}
	return lines, nil
}

// neverMet says of a URL that is not on record which lists would keep it out.
func neverMet(err error, lists []string) error {
	if errors.Is(err, store.ErrNoURL) && len(lists) > 0 {
		return fmt.Errorf("%w; the lists leave it out: %s", err, strings.Join(lists, ", "))
	}
	return err
}
