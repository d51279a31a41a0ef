package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/lab/bench"
	"gleaner/internal/service/program"
)

func (c *cli) benchScaleCommand() *cobra.Command {
	var hosts, urls int
	var o bench.ScaleOptions
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "What many hosts cost that are crawled at once, each at its pace",
		Args:  cobra.NoArgs,
		Long: `Start the crawls of all hosts of a generated web at once, on a Postgres, a Temporal
server and worker processes of their own, and measure until the last has ended. The
program worker is taken from beside this one. Statements are counted by
PostgreSQL's pg_stat_statements.`,
		Example: "  lab bench scale --hosts 100 --urls 1000 --workers 2 --pace 2s --json\n" +
			"  lab bench scale --hosts 400 --urls 8000 --workers 4 --pace 5s --kill --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if hosts < 1 || urls < hosts || o.Workers < 1 || o.Pace < 0 {
				return fmt.Errorf("%w: --hosts and --workers are 1 or more, there is a URL for each host, and --pace is 0 or more", program.ErrUsage)
			}
			return c.benchScale(cmd.Context(), hosts, urls, o)
		},
	}
	fl := cmd.Flags()
	fl.IntVar(&hosts, "hosts", 100, "hosts, whose crawls begin at the same time")
	fl.IntVar(&urls, "urls", 1000, "pages of all hosts together")
	fl.IntVar(&o.Workers, "workers", 1, "worker processes")
	fl.DurationVar(&o.Pace, "pace", 2*time.Second, "from an answer of a host to the next request; 0 is none")
	fl.BoolVar(&o.Kill, "kill", false, "kill the first worker once half of the pages were asked for")
	return cmd
}

func (c *cli) benchScale(ctx context.Context, hosts, urls int, o bench.ScaleOptions) (err error) {
	dir, err := os.MkdirTemp("", "gleaner-bench-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	servers, stop, err := c.benchServers(ctx, true)
	if err != nil {
		return err
	}
	defer stop()
	o.Dir, o.Servers = dir, servers
	if o.Web, o.Visits, err = webProcess(ctx, hosts, urls, 0); err != nil {
		return err
	}
	s, err := bench.RunScale(ctx, o)
	if err != nil {
		return err // the web ends with this process
	}
	return json.NewEncoder(c.Out).Encode(s)
}
