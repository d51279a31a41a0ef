package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gleaner/internal/each"
	"gleaner/internal/harvest/stats"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
)

// statsFlags are the options of `starter stats`; each is of some of its tables.
type statsFlags struct {
	verdict, site, from, to             string
	refresh, avoid, stop, perDay, paper bool
	top                                 int
	beside                              []string
}

// statsTable is a table of `starter stats`.
type statsTable struct {
	of    string   // what its argument names; "" for none
	flags []string // that it takes
	print func(f *statsFlags, ctx context.Context, c *cli, a *app.App, of string) error
}

func statsTables() map[string]statsTable {
	return map[string]statsTable{
		"sites":       {"", []string{"verdict", "refresh"}, (*statsFlags).sites},
		"directories": {"HOST", []string{"avoid", "stop", "refresh"}, (*statsFlags).directories},
		"domains":     {"", []string{"top"}, (*statsFlags).domains},
		"failures":    {"HARVEST", []string{"site"}, (*statsFlags).failures},
		"counters":    {"HARVEST", nil, (*statsFlags).counters},
		"searches":    {"", nil, (*statsFlags).searches},
		"table2":      {"", []string{"from", "to", "per-day", "paper", "beside"}, (*statsFlags).table2},
	}
}

const statsHelp = `Print a table of statistics:

  sites        rates of sites, and which are traps or not worth a recrawl
  directories  rates of directories, of one host or of all; with --stop names of
               directories under which many sites have nothing
  domains      domains by what they gave and how it is cited (made by "starter
               whitelist generate")
  failures     what failed, of one harvest or of all, by reason, and when it is tried again
  counters     what became of every file, of one harvest or of all, by the names of CDI
               (Wu et al., WIDM 2012, Table 1)
  searches     what was asked of web searches, and what is left
  table2       what crawl policies gave, in the shape of Wu et al. (WebSci 2012), Table 2:
               Q requests, F fetched, N new documents, G good (accepted) ones, P the pages
               by which the new ones were found, P_G those of the good ones

Sites and directories are judged by page yield (pages that lead to an accepted
document, of all pages), DDR (documents, for each page) and ADR (accepted, of all
documents). docs/statistics.md explains them.`

func statsCommand(c *cli) *cobra.Command {
	f, tables := &statsFlags{}, statsTables()
	names := slices.Sorted(maps.Keys(tables))
	cmd := &cobra.Command{Use: "stats TABLE [HARVEST|HOST]", Short: "Print statistics of sites, directories, domains, failures, files, searches and policies",
		Long: statsHelp, ValidArgs: names,
		Example: "  starter stats sites --verdict trap\n  starter stats directories www.example.edu\n  starter stats failures conf/webdb\n  starter stats table2 --per-day --paper\n" +
			"  starter stats table2 --json > blacklist.json\n  starter stats table2 --data-dir /data/whitelist --beside blacklist.json",
		Args: func(cmd *cobra.Command, got []string) error {
			if len(got) == 0 || tables[got[0]].print == nil {
				return fmt.Errorf("%w: want a table, one of %s", program.ErrUsage, strings.Join(names, ", "))
			}
			return tables[got[0]].check(cmd, got)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			open := c.Record
			if args[0] == "searches" {
				open = c.Application
			}
			a, err := open(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			return tables[args[0]].print(f, cmd.Context(), c, a, strings.Join(args[1:], ""))
		}}
	f.register(cmd.Flags())
	return cmd
}

func (f *statsFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.verdict, "verdict", "", "sites: only trap or barren ones")
	fl.BoolVar(&f.refresh, "refresh", false, "sites, directories: compute all rates anew first, as with other thresholds")
	fl.BoolVar(&f.avoid, "avoid", false, "directories: only those that recrawls pass over")
	fl.BoolVar(&f.stop, "stop", false, "directories: names under which many sites have nothing")
	fl.IntVar(&f.top, "top", 0, "domains: only so many")
	fl.StringVar(&f.site, "site", "", "failures: of one host")
	fl.StringVar(&f.from, "from", "", "table2: first day, as 2026-01-31 (default: the beginning)")
	fl.StringVar(&f.to, "to", "", "table2: the day after the last (default: now)")
	fl.BoolVar(&f.perDay, "per-day", false, "table2: counts per day from the first crawl to the last; the ratios stay")
	fl.BoolVar(&f.paper, "paper", false, "table2: show the ratios of the paper's policies below")
	fl.StringArrayVar(&f.beside, "beside", nil, "table2: file of a table that --json printed, to be shown above; may be given more than once")
}

// check refuses what a table does not take.
func (t statsTable) check(cmd *cobra.Command, got []string) (err error) {
	if len(got) > 2 || len(got) == 2 && t.of == "" {
		return fmt.Errorf("%w: starter stats %s %s takes no more", program.ErrUsage, got[0], t.of)
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(fl *pflag.Flag) {
		if fl.Changed && !slices.Contains(t.flags, fl.Name) {
			err = fmt.Errorf("%w: starter stats %s takes no --%s", program.ErrUsage, got[0], fl.Name)
		}
	})
	return err
}

// refreshed measures sites anew first: those of which something changed, or all
// where asked to.
func refreshed(ctx context.Context, c *cli, a *app.App, refresh bool) error {
	if !refresh {
		_, err := stats.MeasureStale(ctx, a.DB, a.Stats)
		return err
	}
	progress := c.Progress("sites measured")
	defer progress.End()
	_, err := stats.MeasureAll(ctx, a.DB, a.Stats, func(done int) { progress.Count(done, 0) })
	return err
}

// sites prints the rates of sites.
func (f *statsFlags) sites(ctx context.Context, c *cli, a *app.App, _ string) error {
	if err := oneOf("verdict", []string{"", stats.Trap, stats.Barren}, f.verdict); err != nil {
		return err
	}
	if err := refreshed(ctx, c, a, f.refresh); err != nil {
		return err
	}
	sites, err := a.DB.SiteRatesList(ctx, f.verdict, 0)
	rows := withShares(sites, func(s store.SiteRates) store.Rates { return s.Rates })
	head := "SITE\t" + countedHead + "\tREFERENCES\tFOREIGN LINKS\tPACE\tVERDICT"
	return printRows(c, rows, err, head, func(r rated[store.SiteRates]) string {
		s := r.Row
		return fmt.Sprintf("%s\t%s\t%d\t%d\t%s\t%s", s.Host, r.words(s.Rates), s.References, s.Foreign,
			s.Pace.Words(time.DateTime), s.Verdict)
	}, map[bool]string{true: "no site was crawled yet: starter harvest", false: "no site is a trap or barren as asked"}[f.verdict == ""])
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

// countedHead is over what was counted with the shares, and words are its columns.
const countedHead = "PAGES\tLEADING\tPAGE YIELD\tPRR\tDOCUMENTS\tDDR\tACCEPTED\tADR"

func (r rated[T]) words(n store.Rates) string {
	return fmt.Sprintf("%d\t%d\t%s\t%s\t%d\t%s\t%d\t%s", n.Pages, n.Relevant, percent(r.Yield), prr(n), n.Documents,
		percent(r.DDR), n.Accepted, percent(r.ADR))
}

func withShares[T any](rows []T, of func(T) store.Rates) []rated[T] {
	return each.Of(rows, func(row T) rated[T] {
		n := of(row)
		return rated[T]{row, stats.PageYield(n), stats.DDR(n), stats.ADR(n)}
	})
}

// directories prints the rates of directories, or the names that lead nowhere.
func (f *statsFlags) directories(ctx context.Context, c *cli, a *app.App, host string) error {
	if err := refreshed(ctx, c, a, f.refresh); err != nil {
		return err
	}
	if f.stop {
		return stopDirectories(ctx, c, a)
	}
	if err := hasSite(ctx, a.DB, host); err != nil {
		return err
	}
	dirs, err := a.DB.DirectoryRatesList(ctx, host, f.avoid)
	rows := withShares(dirs, func(d store.DirectoryRates) store.Rates { return d.Rates })
	head := "SITE\tDIRECTORY\t" + countedHead + "\tVERDICT"
	return printRows(c, rows, err, head, func(r rated[store.DirectoryRates]) string {
		d, word := r.Row, map[bool]string{true: "to be avoided"}[r.Row.Avoid]
		return fmt.Sprintf("%s\t%s\t%s\t%s", d.Host, d.Path, r.words(d.Rates), word)
	}, "no directory meets that")
}

func stopDirectories(ctx context.Context, c *cli, a *app.App) error {
	names, err := a.DB.StopDirectories(ctx, a.Stats.StopSites, a.Stats.StopShare)
	return printRows(c, names, err, "NAME\tSITES\tBARREN\tFRUITFUL\tPAGES\tSUCH AS", func(n store.StopDirectory) string {
		return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%v", n.Name, n.Sites, n.Barren, n.Fruitful, n.Pages, n.Examples)
	}, "no name of directories is barren on that many sites")
}

// domains prints the domains that the whitelist ranks.
func (f *statsFlags) domains(ctx context.Context, c *cli, a *app.App, _ string) error {
	ranks, err := a.DB.DomainRanks(ctx, f.top)
	return printRows(c, ranks, err, "RANK\tDOMAIN\tDOCUMENTS\tCITATIONS\tP_D\tP_C\tF1\tLIST", func(r store.DomainRank) string {
		return fmt.Sprintf("%d\t%s\t%d\t%d\t%.4f\t%.4f\t%.4f\t%s", r.Rank, r.Domain, r.Documents, r.Citations, r.PDocuments, r.PCitations, r.F1, r.List)
	}, "no domain is ranked yet: starter whitelist generate")
}

// failures prints what failed, by reason.
func (f *statsFlags) failures(ctx context.Context, c *cli, a *app.App, name string) error {
	id, err := harvestID(ctx, a.DB, name)
	if err != nil {
		return err
	}
	if err := hasSite(ctx, a.DB, f.site); err != nil {
		return err
	}
	filter := store.RetryFilter{Host: f.site, Harvest: id}
	failures, err := a.DB.Failures(ctx, filter)
	if err != nil {
		return err
	}
	open, err := a.DB.Meant(ctx, filter)
	if err != nil {
		return err
	}
	barred, err := a.DB.Sites(ctx, store.SiteQuery{Host: f.site, Harvest: id, Barred: true, Failing: true, Limit: linesAtOnce})
	if err != nil {
		return err
	}
	return c.Print(failures, func(w io.Writer) error {
		err := table(w, "REASON\tURLS\tDOCUMENTS\tAUTHORS\tSOURCES\tSITES\tOLDEST\tNEXT TRY", each.Of(failures, func(x store.Failure) string {
			return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s", x.Reason, x.URLs, x.Stalled, x.Authors, x.Sources, x.Sites,
				x.Oldest.Local().Format(time.DateTime), x.NextWords(time.DateTime))
		}), "nothing failed")
		if open.Authors > 0 {
			fmt.Fprintf(w, "%s in all; who has several reasons is in several rows\n", text.Count(open.Authors, "author"))
		}
		for _, s := range barred {
			if s.Paused != "" {
				fmt.Fprintln(w, s.PauseWords(time.DateTime))
			}
		}
		if slices.ContainsFunc(failures, func(x store.Failure) bool { return x.Next != nil }) {
			fmt.Fprintln(w, "what is due is asked again by a recrawl: starter recrawl --due, or starter schedule create due")
		}
		return err
	})
}

// counters prints what became of every file.
func (f *statsFlags) counters(ctx context.Context, c *cli, a *app.App, name string) error {
	id, err := harvestID(ctx, a.DB, name)
	if err != nil {
		return err
	}
	n, err := a.DB.HarvestCounters(ctx, id)
	return printOne(c, n, err, writeCounters)
}

func writeCounters(w io.Writer, n store.Counters) error {
	for _, l := range []struct {
		name string
		n    int
		what string
	}{
		{"all", n.All, "files, in every version"},
		{"saved_New", n.SavedNew, "accepted"},
		{"saved_Duplicate", n.SavedDuplicate, "accepted, another version from a URL of saved_New"},
		{"filtered", n.Filtered, "not wanted, of these:"},
		{"filtered_MTF", n.FilteredMTF, "by kind"},
		{"filtered_DCF", n.FilteredDCF, "by content"},
		{"failed_TextExtract", n.FailedTextExtract, "no text to be had"},
		{"failed_FileNotFound", n.FailedFileNotFound, "the file is lost"},
		{"failed_PDFFilenotFound", n.FailedPDFNotFound, "an archive without a document"},
		{"unexamined", n.Unexamined, "not judged yet"},
		{"same_text", n.SameText, "of the saved ones, the same bytes or text as another"},
	} {
		if _, err := fmt.Fprintf(w, "%-23s %8d  %s\n", l.name, l.n, l.what); err != nil {
			return err
		}
	}
	return nil
}

// searchBudget is what `starter stats searches` prints.
type searchBudget struct {
	engineBudget                  // of the first of the settings
	Others       []engineBudget   `json:"others,omitempty"`
	Providers    []store.Spending `json:"providers"` // all that were ever asked
	Local        int              `json:"local_index_pages"`
}

// engineBudget is that of one search engine.
type engineBudget struct {
	Provider string     `json:"provider"` // "none" for none
	Spent    int        `json:"spent"`    // in the present period
	Limit    int        `json:"limit"`    // 0 is none
	Until    *time.Time `json:"until,omitempty"`
}

// searches prints what was asked of web searches.
func (f *statsFlags) searches(ctx context.Context, c *cli, a *app.App, _ string) error {
	b, err := budget(ctx, a)
	return printOne(c, b, err, writeBudget)
}

func budget(ctx context.Context, a *app.App) (searchBudget, error) {
	b := searchBudget{engineBudget: engineBudget{Provider: "none"}}
	for i, s := range a.Search {
		spent, limit, until, err := s.Usage(ctx)
		if err != nil {
			return b, err
		}
		e := engineBudget{s.Name(), spent, limit, &until}
		if i == 0 {
			b.engineBudget = e
		} else {
			b.Others = append(b.Others, e)
		}
	}
	var err error
	if b.Providers, err = a.DB.Searches().Spending(ctx); err != nil {
		return b, err
	}
	b.Local, err = a.DB.IndexedPages(ctx)
	return b, err
}

func writeBudget(w io.Writer, b searchBudget) error {
	for _, e := range append([]engineBudget{b.engineBudget}, b.Others...) {
		switch {
		case e.Until == nil:
			fmt.Fprintln(w, "no web search is set (setting search)")
		case e.Limit == 0:
			fmt.Fprintf(w, "%s: %d searches asked until now, no limit (setting search-budget); the period ends %s\n", e.Provider, e.Spent, e.Until.Format(time.DateOnly))
		default:
			fmt.Fprintf(w, "%s: %d of %d searches asked, %d left until %s\n", e.Provider, e.Spent, e.Limit, max(0, e.Limit-e.Spent), e.Until.Format(time.DateOnly))
		}
	}
	if len(b.Providers) > 0 {
		err := table(w, "PROVIDER\tASKED\tSINCE\tANSWERS KEPT", each.Of(b.Providers, func(p store.Spending) string {
			return fmt.Sprintf("%s\t%d\t%s\t%d", p.Provider, p.Requests, p.Since.Format(time.DateOnly), p.Kept)
		}))
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "local index: %s\n", text.Count(b.Local, "page"))
	return err
}
