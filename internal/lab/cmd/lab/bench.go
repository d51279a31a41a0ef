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
	cmd.AddCommand(c.benchCrawlCommand(), c.benchPeersCommand(), c.benchWebCommand(), c.benchImportCommand(), c.benchScaleCommand())
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
// started and is gone afterwards, as is a Temporal server with which it comes.
func (c *cli) benchServer(ctx context.Context, o *bench.Options, temporal bool) (stop func(), err error) {
	cfg, err := c.Settings()
	if err != nil {
		return nil, err
	}
	if from := cfg.Origin("database-url"); from != "default" && from != "dev" && !temporal {
		o.DatabaseURL = string(cfg.Servers.Database)
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "gleaner-bench-*")
	if err != nil {
		return nil, err
	}
	servers := devstack.Options{DataDir: dir, NoTemporal: true}
	if temporal {
		servers = devstack.Options{DataDir: dir, Headless: true, Statements: true, SearchAttributes: gleaner.SearchAttributes(), Ready: temporalapi.EnsureSearchAttributes}
	}
	stack, err := devstack.Start(ctx, servers)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	postgres, server := stack.PIDs()
	o.DatabaseURL, o.DatabaseCPU = stack.DatabaseURL, bench.ServerCPU(postgres)
	if by := &o.ByWorkflows; temporal {
		by.Temporal, by.Namespace, by.TemporalUsed = stack.TemporalAddress, stack.Namespace, bench.ServerCPU(server)
		if by.Program, err = bench.WorkerProgram(); err != nil {
			return nil, errors.Join(err, stack.Stop(), os.RemoveAll(dir))
		}
	}
	return func() {
		_ = stack.Stop()
		_ = os.RemoveAll(dir)
	}, nil
}
