package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/harvest/stats"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
)

func (c *cli) statsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "stats", Short: "What sites, directories, domains and crawl policies gave",
		Long: `Rates by which sites and directories are judged: page yield (pages that lead to an
accepted document, of all pages), DDR (documents, for each page) and
ADR (accepted, of all documents). docs/statistics.md explains them.`}
	cmd.AddCommand(c.statsSites(), c.statsDirectories(), c.statsDomains(), c.statsTable2(), c.statsFailures())
	return cmd
}

// onRecord runs a command that looks at the record.
func (c *cli) onRecord(do func(ctx context.Context, a *app.App, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a, err := c.Record(cmd.Context())
		if err != nil {
			return err
		}
		defer a.Close()
		return do(cmd.Context(), a, args)
	}
}

// table prints columns below each other.
func table(w io.Writer, head string, rows func(line func(format string, args ...any))) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, head)
	rows(func(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) })
	return t.Flush()
}

// refreshed measures sites anew first: those of which something changed, or all
// where asked to.
func (c *cli) refreshed(ctx context.Context, a *app.App, refresh bool) error {
	if !refresh {
		_, err := stats.MeasureStale(ctx, a.DB, a.Stats)
		return err
	}
	progress := c.Progress("sites measured")
	defer progress.End()
	_, err := stats.MeasureAll(ctx, a.DB, a.Stats, func(done int) { progress.Count(done, 0) })
	return err
}

const refreshHelp = "compute all rates anew first, as with other thresholds"

func (c *cli) statsSites() *cobra.Command {
	var verdict string
	var refresh bool
	cmd := &cobra.Command{Use: "sites", Short: "Rates of sites, and which are traps or not worth recrawling", Args: cobra.NoArgs,
		Example: "  starter stats sites\n  starter stats sites --verdict trap",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			if err := oneOf("verdict", []string{"", stats.Trap, stats.Barren}, verdict); err != nil {
				return err
			}
			if err := c.refreshed(ctx, a, refresh); err != nil {
				return err
			}
			sites, err := a.DB.SiteRatesList(ctx, verdict, 0)
			if err != nil {
				return err
			}
			return c.Print(withShares(sites, func(s store.SiteRates) store.Rates { return s.Rates }), func(w io.Writer) error {
				return table(w, "SITE\tPAGES\tLEADING\tPAGE YIELD\tPRR\tDOCUMENTS\tDDR\tACCEPTED\tADR\tREFERENCES\tFOREIGN LINKS\tPACE\tVERDICT", func(line func(string, ...any)) {
					for _, s := range sites {
						line("%s\t%d\t%d\t%s\t%s\t%d\t%s\t%d\t%s\t%d\t%d\t%s\t%s", s.Host, s.Pages, s.Relevant, percent(stats.PageYield(s.Rates)), prr(s.Rates), s.Documents, percent(stats.DDR(s.Rates)),
							s.Accepted, percent(stats.ADR(s.Rates)), s.References, s.Foreign, s.Pace.Words(), s.Verdict)
					}
				})
			})
		})}
	cmd.Flags().StringVar(&verdict, "verdict", "", "only trap or barren sites")
	cmd.Flags().BoolVar(&refresh, "refresh", false, refreshHelp)
	return cmd
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// prr is the page relevancy rate, where pages were judged.
func prr(r store.Rates) string {
	if r.Judged == 0 {
		return "-"
	}
	return percent(stats.PRR(r))
}

// rated is a row with its shares, as scripts read it.
type rated[T any] struct {
	Row   T       `json:"row"`
	Yield float64 `json:"page_yield"`
	DDR   float64 `json:"ddr"`
	ADR   float64 `json:"adr"`
}

func withShares[T any](rows []T, of func(T) store.Rates) []rated[T] {
	out := make([]rated[T], len(rows))
	for i, r := range rows {
		n := of(r)
		out[i] = rated[T]{Row: r, Yield: stats.PageYield(n), DDR: stats.DDR(n), ADR: stats.ADR(n)}
	}
	return out
}

func (c *cli) statsDirectories() *cobra.Command {
	var avoid, stop, refresh bool
	cmd := &cobra.Command{Use: "directories [HOST]", Short: "Rates of directories, and which are to be avoided or stopped at", Args: cobra.MaximumNArgs(1),
		Example: "  starter stats directories www.example.edu\n  starter stats directories --avoid\n  starter stats directories --stop",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			if err := c.refreshed(ctx, a, refresh); err != nil {
				return err
			}
			if stop {
				return c.stopDirectories(ctx, a)
			}
			host := ""
			if len(args) == 1 {
				host = args[0]
			}
			dirs, err := a.DB.DirectoryRatesList(ctx, host, avoid)
			if err != nil {
				return err
			}
			return c.Print(withShares(dirs, func(d store.DirectoryRates) store.Rates { return d.Rates }), func(w io.Writer) error {
				return table(w, "SITE\tDIRECTORY\tPAGES\tLEADING\tPAGE YIELD\tPRR\tDOCUMENTS\tDDR\tACCEPTED\tADR\t", func(line func(string, ...any)) {
					for _, d := range dirs {
						word := ""
						if d.Avoid {
							word = "to be avoided"
						}
						line("%s\t%s\t%d\t%d\t%s\t%s\t%d\t%s\t%d\t%s\t%s", d.Host, d.Path, d.Pages, d.Relevant, percent(stats.PageYield(d.Rates)), prr(d.Rates), d.Documents, percent(stats.DDR(d.Rates)),
							d.Accepted, percent(stats.ADR(d.Rates)), word)
					}
				})
			})
		})}
	cmd.Flags().BoolVar(&avoid, "avoid", false, "only those that recrawls pass over")
	cmd.Flags().BoolVar(&stop, "stop", false, "names under which many sites have nothing")
	cmd.Flags().BoolVar(&refresh, "refresh", false, refreshHelp)
	return cmd
}

func (c *cli) stopDirectories(ctx context.Context, a *app.App) error {
	names, err := a.DB.StopDirectories(ctx, a.Stats.StopSites, a.Stats.StopShare)
	if err != nil {
		return err
	}
	return c.Print(names, func(w io.Writer) error {
		return table(w, "NAME\tSITES\tBARREN\tFRUITFUL\tPAGES\tSUCH AS", func(line func(string, ...any)) {
			for _, n := range names {
				line("%s\t%d\t%d\t%d\t%d\t%v", n.Name, n.Sites, n.Barren, n.Fruitful, n.Pages, n.Examples)
			}
		})
	})
}

func (c *cli) statsDomains() *cobra.Command {
	var top int
	cmd := &cobra.Command{Use: "domains", Short: "Domains by what they gave and how it is cited (starter whitelist generate)", Args: cobra.NoArgs,
		Example: "  starter stats domains --top 20",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			ranks, err := a.DB.DomainRanks(ctx, top)
			if err != nil {
				return err
			}
			return c.Print(ranks, func(w io.Writer) error {
				return table(w, "RANK\tDOMAIN\tDOCUMENTS\tCITATIONS\tP_D\tP_C\tF1\tLIST", func(line func(string, ...any)) {
					for _, r := range ranks {
						line("%d\t%s\t%d\t%d\t%.4f\t%.4f\t%.4f\t%s", r.Rank, r.Domain, r.Documents, r.Citations, r.PDocuments, r.PCitations, r.F1, r.List)
					}
				})
			})
		})}
	cmd.Flags().IntVar(&top, "top", 0, "only so many")
	return cmd
}

func (c *cli) statsFailures() *cobra.Command {
	var host string
	cmd := &cobra.Command{Use: "failures [HARVEST]", Short: "What failed, by reason, and which reasons are for good", Args: cobra.MaximumNArgs(1),
		Example: "  starter stats failures conf/webdb\n  starter retry conf/webdb --reason timeout",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			f := store.RetryFilter{Host: host}
			if len(args) == 1 {
				h, err := findHarvest(ctx, a.DB, args[0])
				if err != nil {
					return err
				}
				f.Harvest = h.ID
			}
			failures, err := a.DB.Failures(ctx, f)
			if err != nil {
				return err
			}
			return c.Print(failures, func(w io.Writer) error {
				return table(w, "REASON\tURLS\tDOCUMENTS\tAUTHORS\tSOURCES\tSITES\tOLDEST\tNEXT TRY\tFOR GOOD", func(line func(string, ...any)) {
					for _, x := range failures {
						next, word := "-", ""
						if x.Next != nil {
							next = x.Next.Local().Format(time.DateTime)
						}
						if x.ForGood {
							word = "yes"
						}
						line("%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s", x.Reason, x.URLs, x.Stalled, x.Authors, x.Sources, x.Sites, x.Oldest.Local().Format(time.DateTime), next, word)
					}
				})
			})
		})}
	cmd.Flags().StringVar(&host, "site", "", "one host")
	return cmd
}
