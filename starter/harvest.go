package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/service/program"
)

// harvestFlags are the options of `starter harvest`.
type harvestFlags struct {
	years    string
	holdings string
	wait     bool
	dry      bool
	sites    []string
	authors  []string
	sources  sourceFlags
	links    linkFlags
	options  activities.HarvestOptions
	listing  func(string) // gets the progress of a preview
}

func (f *harvestFlags) validate() (err error) {
	if f.options.Links, err = f.links.lists(); err != nil {
		return err
	}
	if err := f.options.Check(); err != nil {
		return fmt.Errorf("%w: --%w", program.ErrUsage, err)
	}
	return nil
}

func harvestCommand(c *cli) *cobra.Command {
	f := &harvestFlags{listing: func(string) {}}
	cmd := &cobra.Command{
		Use: "harvest [VENUE …] [--years YEARS] [--site URL] [--author NAME|PID] [--papers FILE]", Short: "Complete the collection of venues, a person, a list or a site",
		Long: `Complete the collection of a venue: list what it published, subtract what the
library holds, find the authors' homepages, crawl them, and report. Several venues
are harvested side by side; what they have in common is asked for once. Without
--years it is all that the venue ever published, which --dry-run shows before.

VENUE is a DBLP key (conf/webdb, journals/jair) or a name (WebDB). In its place:
  --site URL         the academic documents of a site: of the URL's directory, or with
                     --scope host of the whole host
  --author NAME|PID  the papers of a person as DBLP lists them, from catalogues and
                     from the person's homepage
  --papers FILE      the papers of a list (BibTeX, RIS, CSV, JSON Lines, or a DOI a line,
                     whose titles Crossref is asked for)

Elsewhere such a harvest is named as a venue is: site:URL, author:PID, papers:NAME
(NAME is the file's, without its ending).

The same command on a harvest that runs joins it, and says which of its options that
harvest does not take; on one that was cut off it goes
on from what is known; on one that is complete it asks, conditionally, for
everything again (--again). It needs a worker: "starter dev" runs one.`,
		Example: `  starter harvest conf/webdb --years 1998-2004
  starter harvest conf/webdb --years 1998-2004 --dry-run
  starter harvest conf/webdb conf/vldb journals/jair --years 1998-2004
  starter harvest conf/webdb --years 1998-2000,2003
  starter harvest journals/jair --years 2003 --holdings library.csv --wait
  starter harvest --site https://www.example.edu/workshop/2003/ --wait
  starter harvest --author "Ada Lovelace"
  starter harvest --author 65/2885 --years 1998-2004
  starter harvest --papers reading-list.bib
  starter harvest conf/webdb --years 1998-2004 --warc
  starter harvest --papers wanted.doi --wait
  starter harvest conf/webdb --years 1998-2004 --delay 5s --max-pages 2000
  starter harvest conf/webdb --years 1998-2004 --ignore '*/courses.html,ads.example.com'
  starter harvest "Local Workshop" --years 2003 --papers workshop.bib
  starter harvest journals/jair --years 2003 --sources dblp,crossref --id issn=1076-9757`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("sites") && f.options.Window == 0 {
				return fmt.Errorf("%w: --sites: want one or more", program.ErrUsage)
			}
			names := f.goalNames(args)
			if err := errors.Join(f.validate(), f.checkGoals(names)); err != nil {
				return err
			}
			years, err := yearsFlag(f.years)
			if err != nil {
				return err
			}
			if f.dry {
				return c.estimate(cmd.Context(), names, years, f)
			}
			return c.harvest(cmd.Context(), names, years, f)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *harvestFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Var((*yearsGiven)(&f.years), "years", yearsHelp)
	fl.StringArrayVar(&f.sites, "site", nil, "the address of a site whose academic documents are wanted; may be given again")
	fl.StringArrayVar(&f.authors, "author", nil, "a person, by name or DBLP's id, whose papers are wanted; may be given again")
	fl.StringVar(&f.holdings, "holdings", "", "file of papers that the library holds (csv, jsonl, bibtex, ris, doi); imported first")
	fl.BoolVar(&f.dry, "dry-run", false, "only list papers and authors, and say about how many requests and hours it would take; nothing is kept, no site is asked")
	fl.BoolVar(&f.wait, "wait", false, "show progress, and end when the harvest does")
	durationVar(fl, &f.options.Delay, "delay", 0, "least time between two requests to one host (default: the worker's setting)")
	fl.IntVar(&f.options.MaxPages, "max-pages", 0, "requests of one crawl of one site (default: the worker's setting)")
	fl.StringVar(&f.options.Scope, "scope", "", scopeHelp)
	fl.StringVar(&f.options.Strategy, "strategy", "", "order of the crawl: gleaner, zhuang or bfs (default: the worker's setting)")
	fl.StringVar(&f.options.Leads, "leads", "", "documents linked on other hosts: wanted, all or none (default: the worker's setting)")
	fl.Float64Var(&f.options.Budget, "budget", 0, "leave a site when one more accepted document is expected to take more than so many requests (default: no limit)")
	fl.IntVar(&f.options.Window, "sites", 0, "sites crawled at a time (default 50)")
	fl.BoolVar(&f.options.Refresh, "refresh", false, "look for homepages again, though they were looked for lately")
	fl.BoolVar(&f.options.WARC, "warc", false, warcHelp)
	fl.StringVar(&f.options.Again, "again", "", "what to ask again of what was asked before: due, all or none (default: all where this harvest is complete, else due)")
	f.sources.register(cmd)
	f.links.register(fl)
}

// harvest starts what was named, all of it side by side, once every name is known.
func (c *cli) harvest(ctx context.Context, names []string, years gleaner.Years, f *harvestFlags) error {
	if f.holdings != "" {
		if _, err := importHoldings(ctx, c, f.holdings, false); err != nil {
			return err
		}
	}
	return c.onTemporal(ctx, func(t client.Client) error {
		all, err := c.begin(ctx, t, names, years, f)
		if err != nil {
			return err
		}
		hintNoWorker(ctx, c, t)
		if slices.ContainsFunc(all, func(h startedHarvest) bool { return h.Goal.Site == "" }) {
			hintSearch(c)
		}
		hintYears(c, all)
		c.hintDelay(f.options.Delay)
		if f.holdings != "" {
			hintLateHoldings(c, all)
		}
		var failed error
		for _, h := range all {
			if f.wait {
				hintNotTaken(c, h)
				err = c.follow(ctx, t, h.ID)
			} else {
				err = printStarted(c, h)
			}
			if failed = errors.Join(failed, err); ctx.Err() != nil {
				break
			}
		}
		return failed
	})
}

// hintSearch tells of settings without which a harvest finds little.
func hintSearch(c *cli) {
	if cfg, err := c.Settings(); err == nil && !cfg.Search.On() && !c.JSON {
		fmt.Fprintln(c.Err, "hint: no search provider is set here; if the workers have none either, only homepages that directories list are found (GLEANER_SEARCH)")
	}
}

// hintYears says that all years of a venue are many, perhaps.
func hintYears(c *cli, all []startedHarvest) {
	for _, h := range all {
		if gleaner.ParseGoal(h.Venue).Venue != "" && h.Years == (gleaner.Years{}) && !c.JSON {
			fmt.Fprintf(c.Err, "hint: without --years %[1]s is harvested in all the years that it published; --dry-run tells how much that is, `starter cancel %[1]s` ends it\n", h.Venue)
		}
	}
}

// hintDelay says that a delay asked for is below the floor, which holds.
func (c *cli) hintDelay(asked time.Duration) {
	if cfg, err := c.Settings(); err == nil && asked > 0 && asked < cfg.Web.MinDelay {
		fmt.Fprintf(c.Err, "hint: --delay %s is below the least delay that is set here: where the workers have the same, no host is asked more often than every %s (GLEANER_MIN_DELAY)\n", asked, cfg.Web.MinDelay)
	}
}

// hintLateHoldings says that what the library holds is subtracted when a harvest begins.
func hintLateHoldings(c *cli, all []startedHarvest) {
	for _, b := range all {
		if b.Joined {
			fmt.Fprintf(c.Err, "hint: %s subtracted what the library held when it began; what --holdings names is kept, and counts from the next harvest on\n", b.ID)
		}
	}
}
