package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/lab/bench"
	"gleaner/internal/service/program"
)

// allPeers are the crawlers that can be measured.
const allPeers = "gleaner,temporal,colly,bare,wget,wget2,katana,scrapy,crawlee"

func (c *cli) benchCrawlCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "crawl", Args: cobra.NoArgs,
		Short: "Pages a second, with the durable frontier and all checks, beside bare colly",
		Long: `Crawl generated pages of 9 KB with 50 links each, politeness off, with the
durable frontier on Postgres and all checks on; and crawl the same pages with
colly alone (a DOM for each page, nothing stored), in turns. The pages are
served by a process of their own; all share the machine's processors.`,
		Example: "  lab bench crawl\n  lab bench crawl --peers gleaner,temporal\n  lab bench crawl --files 5\n  lab bench crawl --warc\n  lab bench crawl --pages 50000 --hosts 32 --cpuprofile crawl.pprof",
	}
	c.benchCrawls(cmd, bench.Options{Rounds: 3, Names: []string{"gleaner", "colly"}, Delays: []time.Duration{0}})
	return cmd
}

func (c *cli) benchPeersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "peers", Short: "Pages a second, CPU time and memory beside other crawlers", Args: cobra.NoArgs,
		Long: `Crawl the pages of lab bench crawl, without a delay and with one of 10 ms, also with a plain
loop that parses pages as the crawler does, and with GNU wget, wget2, katana, Scrapy and
Crawlee. What is missing is installed in the user's cache folder: from Debian's packages
(by the programs apt-get and dpkg), by go install, or by npm. A row says why a crawler
could not be had, or that it did not ask for every page.`,
		Example: "  lab bench peers\n  lab bench peers --peers gleaner,wget --no-install --pages 2000 --json",
	}
	delays := []time.Duration{0, 10 * time.Millisecond}
	c.benchCrawls(cmd, bench.Options{Rounds: 1, Names: strings.Split(allPeers, ","), Delays: delays})
	return cmd
}

// benchCrawls makes a command that measures crawlers with the options of flags.
func (c *cli) benchCrawls(cmd *cobra.Command, o bench.Options) {
	var files int
	var profile string
	cache, _ := os.UserCacheDir()
	fl := cmd.Flags()
	fl.IntVar(&o.Pages, "pages", 20000, "pages of all hosts together")
	fl.IntVar(&o.Hosts, "hosts", 16, "hosts, crawled at the same time")
	fl.IntVar(&o.Rounds, "rounds", o.Rounds, "times that each crawls everything; the median counts")
	fl.IntVar(&files, "files", 0, "links of each page to files on another host, each of which is put on record; at most 35")
	fl.BoolVar(&o.WARC, "warc", false, "keep what Gleaner exchanges in WARC files")
	fl.StringVar(&profile, "cpuprofile", "", "write a CPU profile of Gleaner to this file, and crawl once")
	fl.StringSliceVar(&o.Names, "peers", o.Names, "crawlers to measure, of "+allPeers)
	fl.DurationSliceVar(&o.Delays, "delays", o.Delays, "from an answer of a host to the next request; all crawl with each")
	fl.DurationVar(&o.Timeout, "timeout", 10*time.Minute, "of one crawl, and of what is installed for it")
	fl.StringVar(&o.Dir, "dir", filepath.Join(cache, "gleaner-peers"), "folder in which crawlers are installed")
	fl.BoolVar(&o.NoInstall, "no-install", false, "install nothing")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		unknown := func(name string) bool { return !slices.Contains(strings.Split(allPeers, ","), name) }
		if o.Pages < 1 || o.Hosts < 1 || o.Hosts > o.Pages || o.Rounds < 1 || files < 0 || files > 35 || slices.ContainsFunc(o.Names, unknown) {
			return fmt.Errorf("%w: --pages, --hosts and --rounds are 1 or more, there is a page for each host, --files is 0 to 35, and --peers are of %s", program.ErrUsage, allPeers)
		}
		if profile != "" {
			out, err := os.Create(filepath.Clean(profile))
			if err != nil {
				return err
			}
			defer func() { _ = out.Close() }()
			o.Profile, o.Rounds, o.Delays = out, 1, o.Delays[:1]
		}
		return c.printCrawls(cmd.Context(), o, files)
	}
}

func (c *cli) printCrawls(ctx context.Context, o bench.Options, files int) error {
	load, _ := os.ReadFile("/proc/loadavg")
	head := fmt.Sprintf("%d pages on %d hosts, %d processors, load %.4s, median of %d rounds\n\n%-8s %6s %8s %6s %12s %12s %8s %9s %9s  %s\n",
		o.Pages, o.Hosts, runtime.NumCPU(), load, o.Rounds,
		"", "delay", "pages/s", "ratio", "CPU ms/page", "Postgres ms", "peak MB", "requests", "impolite", "keeps and checks")
	return table(c, head, func(w io.Writer, r bench.Run) {
		n := float64(max(r.Pages, 1)) / 1e3
		fmt.Fprintf(w, "%-8s %6s %8.0f %6.2f %12.2f %12.2f %8.0f %9d %9d  %s\n", r.Name, time.Duration(r.Delay*float64(time.Second)), r.PagesPerSec, r.Ratio,
			r.CPU/n, r.DatabaseCPU/n, float64(r.PeakBytes)/1e6, r.Requests, r.Impolite, cmp.Or(r.Missing, r.Keeps))
		if d := r.Database; d != nil {
			fmt.Fprintf(w, "%15s a page: %.2f transactions, %.2f rows written, %.0f bytes of log\n", "Postgres", d.Transactions, d.Rows, d.WALBytes)
		}
	}, func(report func(bench.Run)) error { return c.benchCrawl(ctx, o, files, report) })
}

// benchCrawl crawls with a Postgres and webs of its own.
func (c *cli) benchCrawl(ctx context.Context, o bench.Options, files int, report func(bench.Run)) error {
	s, stop, err := c.benchServers(ctx, slices.Contains(o.Names, "temporal"))
	if err != nil {
		return err
	}
	defer stop()
	o.Servers = s
	o.StartWeb = func() (*bench.Web, func() ([]*bench.Visits, error), error) {
		return webProcess(ctx, o.Hosts, o.Pages, files)
	}
	return bench.Crawl(ctx, o, report)
}
