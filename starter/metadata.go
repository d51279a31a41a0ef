package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/metadata"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
)

func metadataCommand(c *cli) *cobra.Command {
	var f sourceFlags
	var given string
	var locate bool
	show := &cobra.Command{Use: "show VENUE|author:PID|papers:NAME [--years YEARS]", Short: "Print what a venue published, and what is known of it before any crawl", Args: args(1, "a venue, person or list, such as conf/webdb or author:65/2885"),
		Long: `Print the papers of a venue, a person or a list with their identifiers, the sources that each field
comes from, the open copies that catalogues know, and whether the library holds
them and why. The catalogues are asked, at their pace, for what the record lacks;
a harvest then need not ask again. It needs a database and no worker.`,
		Example: `  starter metadata show conf/webdb --years 2003
  starter metadata show WebDB --years 1998-2004 --json
  starter metadata show journals/jair --years 2003 --sources dblp,crossref --id issn=1076-9757 --locate
  starter metadata show author:65/2885
  starter metadata show "Local Workshop" --years 2003 --papers workshop.bib`,
		RunE: func(cmd *cobra.Command, args []string) error {
			years, err := yearsFlag(given)
			if err != nil {
				return err
			}
			return showMetadata(cmd.Context(), c, args[0], years, &f, locate)
		}}
	f.register(show)
	show.Flags().Var((*yearsGiven)(&given), "years", yearsHelp)
	show.Flags().BoolVar(&locate, "locate", false, "ask the catalogues of the setting copies for open copies, too")
	cmd := &cobra.Command{Use: "metadata", Short: "See what catalogues know of a venue"}
	cmd.AddCommand(show)
	return cmd
}

// knownPaper is one paper of `starter metadata show`.
type knownPaper struct {
	metadata.Record
	Copies []store.Copy `json:"copies"`
	Held   bool         `json:"held"`
	Why    string       `json:"held_why,omitempty"`
}

func showMetadata(ctx context.Context, c *cli, name string, years gleaner.Years, f *sourceFlags, locate bool) error {
	a, err := c.Application(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	name, years = splitYears(name, years)
	key, err := catalogueKey(ctx, c, a, name, f)
	if err != nil {
		return err
	}
	if err := saveSources(ctx, c, a, key, years, f); err != nil {
		return err
	}
	progress := c.Progress("catalogues are asked for " + key)
	defer progress.End()
	records, missing, err := a.Stages.Papers.Known(ctx, key, years, progress.Show)
	for _, m := range missing {
		fmt.Fprintln(c.Err, "not listed:", m)
	}
	if err != nil {
		return err
	}
	if locate {
		if err := a.Stages.Locate(ctx, metadata.Papers(records), func(done, of int) { progress.Show("open copies of papers"); progress.Count(done, of) }); err != nil {
			return err
		}
	}
	known, err := knownPapers(ctx, a, records)
	return printOne(c, known, err, func(w io.Writer, _ []knownPaper) error { return writeKnown(w, key, years, known) })
}

// catalogueKey is the key of a venue, a person or a list that a command names.
func catalogueKey(ctx context.Context, c *cli, a *app.App, name string, f *sourceFlags) (string, error) {
	switch given := gleaner.ParseGoal(name); {
	case given.Site != "":
		return "", fmt.Errorf("%w: no catalogue lists a site; want a venue, a person or a list", program.ErrUsage)
	case given.Author != "":
		who, err := authorGoal(ctx, c, given)
		return who.String(), err
	}
	return venueKey(ctx, a, name, f)
}

func knownPapers(ctx context.Context, a *app.App, records []metadata.Record) ([]knownPaper, error) {
	papers := metadata.Papers(records)
	held, err := a.Stages.Held(ctx, papers)
	if err != nil {
		return nil, err
	}
	keys := each.Of(papers, func(p gleaner.Paper) string { return p.Key })
	copies, err := a.DB.OpenCopies(ctx, keys)
	return each.Of(records, func(r metadata.Record) knownPaper {
		why, is := held[r.Paper.Key]
		return knownPaper{Record: r, Copies: copies[r.Paper.Key], Held: is, Why: why}
	}), err
}

func writeKnown(w io.Writer, key string, years gleaner.Years, known []knownPaper) error {
	held := each.Count(known, func(p knownPaper) bool { return p.Held })
	copies := each.Count(known, func(p knownPaper) bool { return len(p.Copies) > 0 })
	dois := each.Count(known, func(p knownPaper) bool { return p.Paper.DOI != "" })
	sources := map[string]int{}
	for _, p := range known {
		for _, s := range p.Sources {
			sources[s]++
		}
		writePaper(w, p)
	}
	fmt.Fprintf(w, "%s %s: %s, %d held, %d wanted; %d with a DOI, %d with copies known;", key, years, text.Count(len(known), "paper"), held, len(known)-held, dois, copies)
	for _, s := range slices.Sorted(maps.Keys(sources)) {
		fmt.Fprintf(w, " %s %d", s, sources[s])
	}
	_, err := fmt.Fprintln(w)
	return err
}

func writePaper(w io.Writer, p knownPaper) {
	fmt.Fprintf(w, "%s  %d  %s\n", p.Paper.Key, p.Paper.Year, p.Paper.Title)
	line := func(label, value string, from ...string) {
		if value == "" {
			return
		}
		if len(from) > 0 {
			value += "  [" + strings.Join(from, ", ") + "]"
		}
		fmt.Fprintf(w, "    %-8s %s\n", label, value)
	}
	line("authors", strings.Join(gleaner.Names(p.Paper.Authors), ", "), p.From["authors"]...)
	line("doi", p.Paper.DOI, p.From["doi"]...)
	line("arxiv", p.Paper.ArXiv, p.From["arxiv"]...)
	line("pages", p.Paper.Pages, p.From["pages"]...)
	line("links", strings.Join(p.Paper.Links, " "), p.From["links"]...)
	for _, field := range slices.Sorted(maps.Keys(p.Differ)) {
		line("differs", field+": "+strings.Join(p.Differ[field], "; "))
	}
	for _, cp := range p.Copies {
		what := []string{cp.Version, cp.License, cp.Source}
		line("copy", cp.URL, slices.DeleteFunc(what, func(s string) bool { return s == "" })...)
	}
	if p.Held {
		line("held", p.Why)
	} else {
		line("held", "no")
	}
}
