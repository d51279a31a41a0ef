package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"

	"github.com/spf13/cobra"

	"gleaner/internal/devstack"
	"gleaner/internal/lab/bench"
	"gleaner/internal/service/program"
)

func (c *cli) benchCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "bench", Short: "Measure the crawler on this machine", Args: cobra.NoArgs,
		Long: `Measure the crawler on this machine, against a web of its own on the loopback
interface and a Postgres of its own. With GLEANER_DATABASE_URL that server is used,
and databases are made on it and dropped again. Nothing else is asked.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(c.benchCrawlCommand(), c.benchFrontierCommand(), c.benchWebCommand(), c.benchImportCommand(), c.benchScaleCommand())
	return cmd
}

// benchFlags are the options of the benchmarks.
type benchFlags struct {
	options  bench.Options
	frontier bench.FrontierOptions
	cpu      string
	files    int // of each page
}

func (c *cli) benchCrawlCommand() *cobra.Command {
	f := &benchFlags{}
	cmd := &cobra.Command{Use: "crawl", Short: "Pages a second, with the durable frontier and all checks, beside bare colly",
		Long: `Crawl generated pages of 9 KB with 50 links each, politeness off, with the
durable frontier on Postgres and all checks on; and crawl the same pages with
colly alone (a DOM for each page, nothing stored), in turns. The pages are
served by a process of their own; all share the machine's processors. With --files
the crawler takes turns on pages of which so many links lead to files on another
host, each of which is put on record; with --warc turns in which what is exchanged is
kept in WARC files.`,
		Example: "  lab bench crawl\n  lab bench crawl --files 5\n  lab bench crawl --warc\n  lab bench crawl --pages 50000 --hosts 32 --cpuprofile crawl.pprof", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := c.benchCrawl(cmd.Context(), f)
			if err != nil {
				return err
			}
			return c.Print(r, func(w io.Writer) error { return writeCrawlReport(w, f, r) })
		}}
	fl := cmd.Flags()
	fl.IntVar(&f.options.Pages, "pages", 20000, "pages of all hosts together")
	fl.IntVar(&f.options.Hosts, "hosts", 16, "hosts, crawled at the same time")
	fl.IntVar(&f.options.Rounds, "rounds", 3, "times that each crawls everything; the median counts")
	fl.IntVar(&f.files, "files", 0, "crawl the same, too, with so many links of each page to files, at most 35")
	fl.BoolVar(&f.options.WithWARC, "warc", false, "crawl the same, too, and keep what is exchanged in WARC files")
	fl.StringVar(&f.cpu, "cpuprofile", "", "write a CPU profile of the crawler's rounds to this file")
	return cmd
}

func (c *cli) benchFrontierCommand() *cobra.Command {
	f := &benchFlags{}
	cmd := &cobra.Command{Use: "frontier", Short: "What the next URL costs, and a slice's memory, as the frontier grows",
		Long: `Fill a frontier with ever more waiting URLs, all on one host or so many on each,
and measure at each size what it costs to claim the next one (to read the best of
all groups), to write down what became of it, and to enter a new one; and how
much memory a slice takes.`,
		Example: "  lab bench frontier\n  lab bench frontier --rows 10000,100000,1000000 --per-host 10000", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.benchFrontier(cmd.Context(), f) }}
	cmd.Flags().IntSliceVar(&f.frontier.Sizes, "rows", []int{10_000, 100_000, 1_000_000, 10_000_000}, "sizes of the frontier")
	cmd.Flags().IntVar(&f.frontier.PerHost, "per-host", 0, "URLs that wait on one host; 0 is all of them")
	return cmd
}

// benchWebCommand is the process that serves the pages; it ends with its input.
func (c *cli) benchWebCommand() *cobra.Command {
	var hosts, pages, files int
	cmd := &cobra.Command{Use: "web", Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			web, err := bench.NewWeb(hosts, pages, files)
			if err != nil {
				return err
			}
			defer web.Close()
			out := json.NewEncoder(c.Out)
			if err := out.Encode(web); err != nil {
				return err
			}
			if _, err = io.Copy(io.Discard, os.Stdin); err != nil {
				return err
			}
			web.Close()
			return out.Encode(web.Visits)
		}}
	cmd.Flags().IntVar(&hosts, "hosts", 1, "")
	cmd.Flags().IntVar(&pages, "pages", 1, "")
	cmd.Flags().IntVar(&files, "files", 0, "")
	return cmd
}

// webProcess starts the web in a process of its own, whose end returns the visits of each host.
func webProcess(ctx context.Context, hosts, pages, files int) (*bench.Web, func() ([]*bench.Visits, error), error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, self, "bench", "web", fmt.Sprint("--hosts=", hosts), fmt.Sprint("--pages=", pages), fmt.Sprint("--files=", files))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	from := json.NewDecoder(out)
	stop := func() (all []*bench.Visits, err error) {
		_ = in.Close()
		err = from.Decode(&all)
		return all, errors.Join(err, cmd.Wait())
	}
	web := &bench.Web{}
	if err := from.Decode(web); err != nil {
		_, _ = stop()
		return nil, nil, fmt.Errorf("the web did not start: %w", err)
	}
	return web, stop, nil
}

// benchServer is a Postgres for a benchmark: the one configured, or one that is
// started and is gone afterwards.
func (c *cli) benchServer(ctx context.Context, f *benchFlags) (stop func(), err error) {
	cfg, err := c.Settings()
	if err != nil {
		return nil, err
	}
	if from := cfg.Origin("database-url"); from != "default" && from != "dev" {
		f.options.DatabaseURL = string(cfg.Servers.Database)
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "gleaner-bench-*")
	if err != nil {
		return nil, err
	}
	stack, err := devstack.Start(ctx, devstack.Options{DataDir: dir, NoTemporal: true})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	f.options.DatabaseURL = stack.DatabaseURL
	if info, ok := devstack.Find(dir); ok {
		f.options.DatabaseCPU = bench.ServerCPU(info.PostgresPID)
	}
	return func() {
		_ = stack.Stop()
		_ = os.RemoveAll(dir)
	}, nil
}

func (c *cli) benchCrawl(ctx context.Context, f *benchFlags) (r bench.Report, err error) {
	o := &f.options
	if o.Pages < 1 || o.Hosts < 1 || o.Hosts > o.Pages || o.Rounds < 1 || f.files < 0 || f.files > 35 {
		return r, fmt.Errorf("%w: --pages, --hosts and --rounds are 1 or more, there is a page for each host, and --files is 0 to 35", program.ErrUsage)
	}
	stop, err := c.benchServer(ctx, f)
	if err != nil {
		return r, err
	}
	defer stop()
	web, stopWeb, err := webProcess(ctx, o.Hosts, o.Pages, 0)
	if err != nil {
		return r, err
	}
	defer func() { _, _ = stopWeb() }()
	if f.files > 0 {
		var stopFiles func() ([]*bench.Visits, error)
		if o.WithFiles, stopFiles, err = webProcess(ctx, o.Hosts, o.Pages, f.files); err != nil {
			return r, err
		}
		defer func() { _, _ = stopFiles() }()
	}
	if f.cpu != "" {
		done, err := profileTo(f.cpu, o)
		if err != nil {
			return r, err
		}
		defer done()
	}
	return bench.Crawl(ctx, web, *o)
}

// profileTo profiles the first round of the crawler: one profile has one run.
func profileTo(file string, o *bench.Options) (done func(), err error) {
	out, err := os.Create(filepath.Clean(file))
	if err != nil {
		return nil, err
	}
	first := true
	o.Profile = func(run func() error) error {
		if !first {
			return run()
		}
		first = false
		if err := pprof.StartCPUProfile(out); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
		return run()
	}
	return func() { _ = out.Close() }, nil
}

func writeCrawlReport(w io.Writer, f *benchFlags, r bench.Report) error {
	fmt.Fprintf(w, "%d pages on %d hosts, %d processors, median of %d rounds\n\n", r.Gleaner.Pages, f.options.Hosts, runtime.NumCPU(), f.options.Rounds)
	fmt.Fprintf(w, "%-10s %9s %9s %9s %9s %12s %10s\n", "", "pages/s", "requests", "MB", "CPU s", "Postgres s", "peak MB")
	for i, run := range []bench.Run{r.Gleaner, r.Colly} {
		fmt.Fprintf(w, "%-10s %9.0f %9d %9.1f %9.1f %12.1f %10.0f\n", [...]string{"gleaner", "bare colly"}[i], run.PagesPerSec, run.Requests, float64(run.Bytes)/1e6, run.CPU, run.DatabaseCPU, float64(run.PeakBytes)/1e6)
	}
	fmt.Fprintf(w, "\nPostgres, per page: %.2f transactions, %.2f rows written, %.0f bytes of log\n", r.Database.Transactions, r.Database.Rows, r.Database.WALBytes)
	var rounds []string
	for _, x := range r.Ratios {
		rounds = append(rounds, fmt.Sprintf("%.2f", x))
	}
	_, err := fmt.Fprintf(w, "gleaner / bare colly: %.2f × the pages a second (rounds: %s), %.2f × the pages a CPU second, Postgres included\n", r.Ratio, strings.Join(rounds, ", "), r.CPURatio)
	if x := r.WithFiles; err == nil && x != nil {
		err = writeVariant(w, fmt.Sprintf("links to %d files on each page", f.files), x)
	}
	if x := r.WithWARC; err == nil && x != nil {
		err = writeVariant(w, "WARC files", x)
	}
	return err
}

func writeVariant(w io.Writer, what string, x *bench.Variant) error {
	_, err := fmt.Fprintf(w, "with %s: %.2f × the pages a second, %.2f × the pages a CPU second; per page %.2f transactions, %.2f rows written, %.0f bytes of log; peak %.0f MB\n",
		what, x.Ratio, x.CPURatio, x.Database.Transactions, x.Database.Rows, x.Database.WALBytes, float64(x.PeakBytes)/1e6)
	return err
}

func (c *cli) benchFrontier(ctx context.Context, f *benchFlags) error {
	stop, err := c.benchServer(ctx, f)
	if err != nil {
		return err
	}
	defer stop()
	if !c.JSON {
		fmt.Fprintf(c.Out, "µs per URL: median (least)\n%10s %7s %16s %8s %16s %16s %9s %9s %9s %9s\n", "waiting", "hosts", "claim", "8K pages", "write visit", "enter new", "slice MB", "pages/s", "disk MB", "fill/s")
	}
	var all []bench.Size
	f.frontier.DatabaseURL = f.options.DatabaseURL
	err = bench.Frontier(ctx, f.frontier, func(s bench.Size) {
		all = append(all, s)
		if !c.JSON {
			fmt.Fprintf(c.Out, "%10d %7d %16s %8.1f %16s %16s %9.1f %9.0f %9.0f %9.0f\n", s.Rows, s.Hosts, micros(s.Claim), s.Pages, micros(s.Visit), micros(s.Enqueue),
				float64(s.Memory)/1e6, s.SliceRate, float64(s.Disk)/1e6, s.FillRate)
		}
	})
	if err != nil || !c.JSON {
		return err
	}
	return c.Print(all, nil)
}

func micros(c bench.Cost) string {
	return fmt.Sprintf("%.1f (%.1f)", float64(c.Median)/1e3, float64(c.Least)/1e3)
}
