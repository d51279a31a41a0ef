package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
		"failures":    {aHarvestsName, []string{"site"}, (*statsFlags).failures},
		"counters":    {aHarvestsName, nil, (*statsFlags).counters},
		"searches":    {"", nil, (*statsFlags).searches},
		"table2":      {"", []string{"from", "to", "per-day", "paper", "beside"}, (*statsFlags).table2},
	}
}

const aHarvestsName = "HARVEST"

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

// refreshed measures sites anew first: those of which something changed, or all
// where asked to.
func refreshed(c *cli, ctx context.Context, a *app.App, refresh bool) error {
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
	if err := refreshed(c, ctx, a, f.refresh); err != nil {
		return err
	}
	sites, err := a.DB.SiteRatesList(ctx, f.verdict, 0)
	if err != nil {
		return err
	}
	return c.printTable(withShares(sites, func(s store.SiteRates) store.Rates { return s.Rates }), "SITE\tPAGES\tLEADING\tPAGE YIELD\tPRR\tDOCUMENTS\tDDR\tACCEPTED\tADR\tREFERENCES\tFOREIGN LINKS\tPACE\tVERDICT", rowsOf(sites, func(s store.SiteRates) string {
		return fmt.Sprintf("%s\t%d\t%d\t%s\t%s\t%d\t%s\t%d\t%s\t%d\t%d\t%s\t%s", s.Host, s.Pages, s.Relevant, percent(stats.PageYield(s.Rates)), prr(s.Rates), s.Documents, percent(stats.DDR(s.Rates)),
			s.Accepted, percent(stats.ADR(s.Rates)), s.References, s.Foreign, s.Pace.Words(), s.Verdict)
	}), map[bool]string{true: "no site was crawled yet: starter harvest", false: "no site is a trap or barren as asked"}[f.verdict == ""])
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

// directories prints the rates of directories, or the names that lead nowhere.
func (f *statsFlags) directories(ctx context.Context, c *cli, a *app.App, host string) error {
	if err := refreshed(c, ctx, a, f.refresh); err != nil {
		return err
	}
	if f.stop {
		return stopDirectories(c, ctx, a)
	}
	if err := hasSite(ctx, a.DB, host); err != nil {
		return err
	}
	dirs, err := a.DB.DirectoryRatesList(ctx, host, f.avoid)
	if err != nil {
		return err
	}
	return c.printTable(withShares(dirs, func(d store.DirectoryRates) store.Rates { return d.Rates }), "SITE\tDIRECTORY\tPAGES\tLEADING\tPAGE YIELD\tPRR\tDOCUMENTS\tDDR\tACCEPTED\tADR\tVERDICT", rowsOf(dirs, func(d store.DirectoryRates) string {
		word := ""
		if d.Avoid {
			word = "to be avoided"
		}
		return fmt.Sprintf("%s\t%s\t%d\t%d\t%s\t%s\t%d\t%s\t%d\t%s\t%s", d.Host, d.Path, d.Pages, d.Relevant, percent(stats.PageYield(d.Rates)), prr(d.Rates), d.Documents, percent(stats.DDR(d.Rates)),
			d.Accepted, percent(stats.ADR(d.Rates)), word)
	}), "no directory meets that")
}

func stopDirectories(c *cli, ctx context.Context, a *app.App) error {
	names, err := a.DB.StopDirectories(ctx, a.Stats.StopSites, a.Stats.StopShare)
	if err != nil {
		return err
	}
	return c.printTable(names, "NAME\tSITES\tBARREN\tFRUITFUL\tPAGES\tSUCH AS", rowsOf(names, func(n store.StopDirectory) string {
		return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%v", n.Name, n.Sites, n.Barren, n.Fruitful, n.Pages, n.Examples)
	}), "no name of directories is barren on that many sites")
}

// domains prints the domains that the whitelist ranks.
func (f *statsFlags) domains(ctx context.Context, c *cli, a *app.App, _ string) error {
	ranks, err := a.DB.DomainRanks(ctx, f.top)
	if err != nil {
		return err
	}
	return c.printTable(ranks, "RANK\tDOMAIN\tDOCUMENTS\tCITATIONS\tP_D\tP_C\tF1\tLIST", rowsOf(ranks, func(r store.DomainRank) string {
		return fmt.Sprintf("%d\t%s\t%d\t%d\t%.4f\t%.4f\t%.4f\t%s", r.Rank, r.Domain, r.Documents, r.Citations, r.PDocuments, r.PCitations, r.F1, r.List)
	}), "no domain is ranked yet: starter whitelist generate")
}

// harvestID is the id of the harvest that is named; "" stands for all.
func harvestID(ctx context.Context, db *store.DB, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	h, err := findHarvest(ctx, db, name)
	return h.ID, err
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
		err := table(w, "REASON\tURLS\tDOCUMENTS\tAUTHORS\tSOURCES\tSITES\tOLDEST\tNEXT TRY", rowsOf(failures, func(x store.Failure) string {
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
	if err != nil {
		return err
	}
	return c.Print(n, func(w io.Writer) error { return writeCounters(w, n) })
}

// searches prints what was asked of web searches.
func (f *statsFlags) searches(ctx context.Context, c *cli, a *app.App, _ string) error {
	b, err := budget(ctx, a)
	if err != nil {
		return err
	}
	return c.Print(b, func(w io.Writer) error { return writeBudget(w, b) })
}

// table2 prints what crawl policies gave, in the shape of Wu et al. (WebSci 2012), Table 2.
func (f *statsFlags) table2(ctx context.Context, c *cli, a *app.App, _ string) error {
	begin, err := dayFlag("from", f.from)
	if err != nil {
		return err
	}
	end, err := dayFlag("to", f.to)
	if err == nil && !begin.IsZero() && !end.IsZero() && !begin.Before(end) {
		err = fmt.Errorf("%w: --from, %s, is not before --to, %s", program.ErrUsage, f.from, f.to)
	}
	if err != nil {
		return err
	}
	var rows []store.Yield
	for _, file := range f.beside {
		more, err := readYields(file)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	own, err := a.DB.PolicyYields(ctx, begin, cmp.Or(end, time.Now().Add(24*time.Hour)))
	if err != nil {
		return err
	}
	rows = append(rows, own...)
	return c.Print(rows, func(w io.Writer) error { return writeTable2(w, rows, f.perDay, f.paper) })
}

// paperTable2 are the ratios of Wu et al. (WebSci 2012), Table 2: F/Q, G/N, G/Q and G/P.
func paperTable2() [][5]string {
	return [][5]string{
		{"blacklist (paper)", "15.28 %", "20.33 %", "0.11 %", "0.750"},
		{"whitelist (paper)", "38.09 %", "49.61 %", "0.52 %", "1.082"},
		{"hybrid (paper)", "15.64 %", "32.47 %", "0.07 %", "1.021"},
	}
}

func writeTable2(w io.Writer, rows []store.Yield, perDay, paper bool) error {
	return table(w, "POLICY\tCRAWLS\tDAYS\tQ\tF\tN\tG\tP\tP_G\tF/Q\tN/F\tG/F\tG/N\tG/Q\tG/P\tP_G/P", func(line func(string, ...any)) {
		for _, y := range rows {
			count := func(n int) string {
				if perDay {
					return fmt.Sprintf("%.1f", float64(n)/max(y.Days, 1))
				}
				return strconv.Itoa(n)
			}
			line("%s\t%d\t%.1f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", y.Policy, y.Crawls, max(y.Days, 1),
				count(y.Requests), count(y.Fetched), count(y.New), count(y.Good), count(y.Parents), count(y.GoodParents),
				ratio(y.Fetched, y.Requests), ratio(y.New, y.Fetched), ratio(y.Good, y.Fetched), ratio(y.Good, y.New), ratio(y.Good, y.Requests),
				perPage(y.Good, y.Parents), ratio(y.GoodParents, y.Parents))
		}
		if paper {
			for _, p := range paperTable2() {
				line("%s\t\t\t\t\t\t\t\t\t%s\t\t\t%s\t%s\t%s\t", p[0], p[1], p[2], p[3], p[4])
			}
		}
	})
}

func readYields(file string) (rows []store.Yield, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	if err := json.Unmarshal(raw, &rows); err != nil {
		return nil, fmt.Errorf("%w: %s is no table that `starter stats table2 --json` printed: %w", program.ErrUsage, file, err)
	}
	return rows, nil
}

func ratio(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f %%", 100*float64(part)/float64(whole))
}

func perPage(n, pages int) string {
	if pages == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", float64(n)/float64(pages))
}
