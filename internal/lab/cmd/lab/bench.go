package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"gleaner/internal/devstack"
	"gleaner/internal/devstack/temporalapi"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/bench"
)

func (c *cli) benchCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "bench", Short: "Measure the crawler on this machine", Args: cobra.NoArgs,
		Long: `Measure the crawler on this machine, against a web of its own on the loopback
interface and a Postgres of its own. With GLEANER_DATABASE_URL that server is used,
and databases are made on it and dropped again. Nothing else is asked.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(c.benchCrawlCommand(), c.benchPeersCommand(), c.benchFrontierCommand(), c.benchWebCommand(), c.benchImportCommand(), c.benchScaleCommand())
	return cmd
}

// table prints what is measured: each as it comes below a head, or all as JSON.
func table[T any](c *cli, head string, line func(io.Writer, T), measure func(report func(T)) error) error {
	var all []T
	if !c.JSON {
		fmt.Fprint(c.Out, head)
	}
	err := measure(func(one T) {
		if all = append(all, one); !c.JSON {
			line(c.Out, one)
		}
	})
	if err != nil || !c.JSON {
		return err
	}
	return c.Print(all, nil)
}

func (c *cli) benchFrontierCommand() *cobra.Command {
	var o bench.FrontierOptions
	cmd := &cobra.Command{Use: "frontier", Short: "What the next URL costs, and a slice's memory, as the frontier grows",
		Long: `Fill a frontier with ever more waiting URLs, all on one host or so many on each,
and measure at each size what it costs to claim the next one (to read the best of
all groups), to write down what became of it, and to enter a new one; and how
much memory a slice takes.`,
		Example: "  lab bench frontier\n  lab bench frontier --rows 10000,100000,1000000 --per-host 10000", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.benchFrontier(cmd.Context(), o) }}
	cmd.Flags().IntSliceVar(&o.Sizes, "rows", []int{10_000, 100_000, 1_000_000, 10_000_000}, "sizes of the frontier")
	cmd.Flags().IntVar(&o.PerHost, "per-host", 0, "URLs that wait on one host; 0 is all of them")
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
			return out.Encode(web.Visits())
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

// benchServers are a Postgres for a benchmark: the one configured, or one that is
// started and is gone afterwards, as is a Temporal server with which it comes.
func (c *cli) benchServers(ctx context.Context, temporal bool) (s bench.Servers, stop func(), err error) {
	cfg, err := c.Settings()
	if err != nil {
		return s, nil, err
	}
	if from := cfg.Origin("database-url"); from != "default" && from != "dev" && !temporal {
		return bench.Servers{DatabaseURL: string(cfg.Servers.Database)}, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "gleaner-bench-*")
	if err != nil {
		return s, nil, err
	}
	o := devstack.Options{DataDir: dir, NoTemporal: true}
	if temporal {
		o = devstack.Options{DataDir: dir, Headless: true, Statements: true, SearchAttributes: gleaner.SearchAttributes(), Ready: temporalapi.EnsureSearchAttributes}
		if s.Worker, err = bench.WorkerProgram(); err != nil {
			return s, nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	stack, err := devstack.Start(ctx, o)
	if err != nil {
		return s, nil, errors.Join(err, os.RemoveAll(dir))
	}
	postgres, server := stack.PIDs()
	s.DatabaseURL, s.DatabaseUsed = stack.DatabaseURL, bench.ServerCPU(postgres)
	s.Temporal, s.Namespace, s.TemporalUsed = stack.TemporalAddress, stack.Namespace, bench.ServerCPU(server)
	return s, func() {
		_ = stack.Stop()
		_ = os.RemoveAll(dir)
	}, nil
}

func (c *cli) benchFrontier(ctx context.Context, o bench.FrontierOptions) error {
	s, stop, err := c.benchServers(ctx, false)
	if err != nil {
		return err
	}
	defer stop()
	o.DatabaseURL = s.DatabaseURL
	head := fmt.Sprintf("µs per URL: median (least)\n%10s %7s %16s %8s %16s %16s %9s %9s %9s %9s\n", "waiting", "hosts", "claim", "8K pages", "write visit", "enter new", "slice MB", "pages/s", "disk MB", "fill/s")
	return table(c, head, func(w io.Writer, s bench.Size) {
		fmt.Fprintf(w, "%10d %7d %16s %8.1f %16s %16s %9.1f %9.0f %9.0f %9.0f\n", s.Rows, s.Hosts, micros(s.Claim), s.Pages, micros(s.Visit), micros(s.Enqueue),
			float64(s.Memory)/1e6, s.SliceRate, float64(s.Disk)/1e6, s.FillRate)
	}, func(report func(bench.Size)) error { return bench.Frontier(ctx, o, report) })
}

func micros(c bench.Cost) string {
	return fmt.Sprintf("%.1f (%.1f)", float64(c.Median)/1e3, float64(c.Least)/1e3)
}
