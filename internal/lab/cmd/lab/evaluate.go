package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/homepage"
	"gleaner/internal/lab/evaluate"
	"gleaner/internal/lab/homepages"
	"gleaner/internal/rank"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
)

func (c *cli) evaluateCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "evaluate", Short: "Measure how well homepages are found, sites are crawled and collections are made"}
	cmd.AddCommand(c.evaluateHomepages(), c.evaluateCrawl(), evaluate.TopicsCommand(c.Program))
	return cmd
}

func (c *cli) evaluateHomepages() *cobra.Command {
	var labels, of string
	var live bool
	cmd := &cobra.Command{Use: "homepages --labels FILE [--harvest HARVEST | --live]", Short: "Count homepages found, right, wrong and not found", Args: cobra.NoArgs,
		Long: `Compare homepages with labels: tab-separated author, pid, homepage with a header
line; an empty homepage says that there is none. Judged are the decisions of the
record (of one harvest, or all), or with --live those that are made now for the
authors of the file, with what the record and the directories know of them.`,
		Example: "  lab evaluate homepages --labels judged.tsv --harvest conf/webdb\n  lab evaluate homepages --labels judged.tsv --live --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ls, err := given(labels, homepages.ReadLabels)
			if err != nil {
				return err
			}
			ds, err := c.decisions(cmd.Context(), ls, of, live)
			if err != nil {
				return err
			}
			r := homepages.Evaluate(ds, knownAs(ls, ds))
			return c.Print(r, func(w io.Writer) error { return writeHomepageReport(w, r) })
		}}
	fl := cmd.Flags()
	fl.StringVar(&labels, "labels", "", "file of labelled authors (required)")
	fl.StringVar(&of, "harvest", "", "only authors of this harvest, labelled or not")
	fl.BoolVar(&live, "live", false, "look for the authors of the file now")
	_ = cmd.MarkFlagRequired("labels")
	return cmd
}

func (c *cli) decisions(ctx context.Context, labels []homepages.Label, of string, live bool) ([]evidence.Decision, error) {
	if live {
		if of != "" {
			return nil, fmt.Errorf("%w: want either --harvest or --live", program.ErrUsage)
		}
		a, err := c.Application(ctx)
		if err != nil {
			return nil, err
		}
		defer a.Close()
		return c.lookNow(ctx, a, labels)
	}
	a, err := c.Record(ctx)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	if of == "" {
		return a.DB.AllDecisions(ctx)
	}
	h, err := a.DB.FindHarvest(ctx, of)
	if err != nil {
		return nil, err
	}
	return a.DB.HarvestDecisions(ctx, h.ID)
}

// parallelAuthors are looked for at a time.
const parallelAuthors = 12

// lookNow looks for labelled authors as a harvest would; nothing of it is written
// but the pages and answers that were asked for.
func (c *cli) lookNow(ctx context.Context, a *app.App, labels []homepages.Label) ([]evidence.Decision, error) {
	var authors []gleaner.Author
	for _, l := range labels {
		if known, err := a.DB.AuthorsByName(ctx, l.Author.ID()); err != nil {
			return nil, err
		} else if len(known) == 0 && l.Author.PID == "" {
			if known, err = a.DB.AuthorsByName(ctx, l.Author.Name); err != nil {
				return nil, err
			}
			if len(known) == 1 {
				l.Author = known[0]
			}
		}
		authors = append(authors, l.Author)
	}
	progress := c.Progress("authors")
	defer progress.End()
	subjects, err := a.Stages.Subjects(ctx, authors, progress.Count)
	if err != nil {
		return nil, err
	}
	ds, err := homepages.FindAll(ctx, a.Stages.Finder, subjects, parallelAuthors)
	if errors.Is(err, homepage.ErrSearchUnavailable) {
		a.Log.WarnContext(ctx, "searches failed", "error", err)
		err = nil
	}
	return ds, err
}

// knownAs gives labels without a pid that of the one author of the name who was
// decided on.
func knownAs(labels []homepages.Label, decisions []evidence.Decision) []homepages.Label {
	byName := each.By(decisions, func(d evidence.Decision) string { return d.Author.Name })
	out := slices.Clone(labels)
	for i, l := range out {
		if ds := byName[l.Author.Name]; l.Author.PID == "" && len(ds) == 1 {
			out[i].Author = ds[0].Author
		}
	}
	return out
}

func writeHomepageReport(w io.Writer, r homepages.Report) error {
	if _, err := io.WriteString(w, r.String()); err != nil {
		return err
	}
	for _, m := range r.Mistakes {
		got := cmp.Or(m.Got, "nothing")
		fmt.Fprintf(w, "%s: got %s, want %v (%s)\n", m.Author.Name, got, m.Want, m.Rule)
	}
	return nil
}

const crawlHelp = `Crawl a recorded site with each strategy and count the requests to each share of
its papers, beside breadth-first and an oracle that knows the site. --record reads a
mirror (DIR is named like the host), --warc files of any origin, such as 'starter harvest
--site URL --strategy bfs --warc' leaves. What is a paper the academic filter says, or a
file of labels (URL, tab, kind).

With --wanted they are crawled for the papers of a list alone, as a harvest crawls.

With several sites, --left-out trains gleaner's prior for each on all the others: the
figures are then those of sites that it has not seen.`

func (c *cli) evaluateCrawl() *cobra.Command {
	var s snapshotFlags
	var strategies []string
	var papers string
	var leftOut bool
	cmd := &cobra.Command{Use: "crawl --record DIR | --warc FILE…", Short: "Compare strategies on a recorded site: papers against requests", Args: cobra.NoArgs,
		Long: crawlHelp,
		Example: `  lab evaluate crawl --warc roe.warc.gz --strategies bfs,zhuang,gleaner
  lab evaluate crawl --record mirror/www.example.edu --labels labels.tsv --json
  lab evaluate crawl --warc roe.warc.gz --warc doe.warc.gz --left-out
  lab evaluate crawl --record mirror/www.example.edu --wanted papers.tsv`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.Settings()
			if err != nil {
				return err
			}
			options, err := app.RankOptions(cfg)
			if err != nil {
				return err
			}
			sites, err := s.open(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			if err := crawlFor(sites, papers); err != nil {
				return err
			}
			priors := map[string]*rank.Prior{}
			if leftOut && len(sites) < 2 {
				return fmt.Errorf("%w: --left-out wants two sites at least", program.ErrUsage)
			}
			if leftOut {
				priors, err = evaluate.LeaveOneOut(*options.Lists, sites)
			}
			if err != nil {
				return err
			}
			return c.compare(sites, strategies, options, priors)
		}}
	s.register(cmd)
	fl := cmd.Flags()
	fl.StringSliceVar(&strategies, "strategies", []string{rank.BreadthFirst, rank.Zhuang, rank.Gleaner}, "strategies to compare")
	fl.StringVar(&papers, "wanted", "", "papers that are crawled for: a line each with title, tab, addresses of its documents")
	fl.BoolVar(&leftOut, "left-out", false, "train gleaner's prior for each site on all the others")
	return cmd
}

// crawlFor makes the crawls of sites ones for the papers of a list, if there is one.
func crawlFor(sites []evaluate.Named, list string) error {
	if list == "" {
		return nil
	}
	papers, err := given(list, evaluate.ReadWanted)
	if err != nil {
		return err
	}
	for i := range sites {
		sites[i].Setup = sites[i].Setup.For(papers)
	}
	return nil
}

// compare runs the strategies; a prior of a site's own goes before that of the
// options.
func (c *cli) compare(sites []evaluate.Named, strategies []string, options rank.Options, priors map[string]*rank.Prior) error {
	var all []evaluate.Comparison
	for _, s := range sites {
		if p := priors[s.Name]; p != nil {
			options.Prior = p
		}
		cmp, _, err := evaluate.Compare(s.Name, s.Setup, strategies, options)
		if errors.Is(err, rank.ErrUnknownStrategy) {
			return fmt.Errorf("%w: %w", program.ErrUsage, err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		all = append(all, cmp)
	}
	return c.Print(all, func(w io.Writer) error { return evaluate.WriteText(w, all) })
}
