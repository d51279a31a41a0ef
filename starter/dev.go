package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"gleaner/internal/devstack"
	"gleaner/internal/devstack/temporalapi"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store/migrations"
	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
	"gleaner/worker/pool"
)

func (c *cli) devCommand() *cobra.Command {
	var noWorker, ui bool
	var at devstack.Ports
	cmd := &cobra.Command{Use: "dev", Short: "Run everything on this machine: Postgres, Temporal, a worker",
		Long: `Run everything on this machine until interrupted: Postgres, Temporal (with
--ui its web UI), and a worker. What they store is in the data folder and is there again
the next time. It listens on this machine alone (127.0.0.1), and says on which
ports. Other commands find the servers through the data folder
(GLEANER_DATA_DIR), so they need no settings.`,
		Example: "  starter dev\n  starter dev --ui                    # with Temporal's web UI\n  starter dev --temporal-port 17233 --ui-port 18233 --postgres-port 15432\n  GLEANER_DATA_DIR=/srv/gleaner GLEANER_CONTACT=me@example.org starter dev", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, p := range []int{at.Temporal, at.UI, at.Postgres} {
				if p < 0 || p > 65535 {
					return fmt.Errorf("%w: %d is no port", program.ErrUsage, p)
				}
			}
			cfg, err := c.Settings()
			if err != nil {
				return err
			}
			return c.dev(cmd.Context(), cfg, at, ui || at.UI > 0, !noWorker)
		}}
	fl := cmd.Flags()
	fl.IntVar(&at.Temporal, "temporal-port", 0, "Temporal's port (default: that of the last time, else 7233, where it is free)")
	fl.BoolVar(&ui, "ui", false, "serve Temporal's web UI, which asks for no password and answers to pages that lead there by a name of theirs")
	fl.IntVar(&at.UI, "ui-port", 0, "port of Temporal's web UI, and serve it (default: that of the last time, else 8233, where it is free)")
	fl.IntVar(&at.Postgres, "postgres-port", 0, "Postgres' port (default: that of the last time, where it is free)")
	fl.BoolVar(&noWorker, "no-worker", false, "run the servers only")
	return cmd
}

func (c *cli) dev(ctx context.Context, cfg *config.Config, at devstack.Ports, ui, work bool) error {
	stack, err := c.startStack(ctx, cfg, at, ui)
	if err != nil {
		return err
	}
	defer stack.Stop()
	if stack.UIURL != "" {
		fmt.Fprintf(c.Out, "Temporal UI  %s\n", stack.UIURL)
	}
	fmt.Fprintf(c.Out, "Temporal     %s\nPostgres     %s\ndata folder  %s\n", stack.TemporalAddress, config.Redact(stack.DatabaseURL), cfg.Servers.DataDir)
	fmt.Fprintln(c.Out, "web page     starter console, in another terminal, prints its address")
	if work && cfg.Web.Contact == "" && cfg.Web.Proxy == "" {
		fmt.Fprintln(c.Err, "warning: without GLEANER_CONTACT, an e-mail address or a page where web masters reach you, only this machine is asked for pages")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-stack.Failed():
			cancel(err)
		case <-ctx.Done():
		}
	}()
	if !work {
		<-ctx.Done()
	} else if err := pool.Run(ctx, cfg, pool.Options{Log: c.Log(cfg), Child: c.Child}); err != nil {
		return err
	}
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// startStack brings up what the settings do not name already, and writes the
// addresses into them.
func (c *cli) startStack(ctx context.Context, cfg *config.Config, at devstack.Ports, ui bool) (*devstack.Stack, error) {
	s := cfg.Servers
	if cfg.Origin("database-url") == "dev" { // of another `starter dev`: Start says that it runs
		s.Database = ""
	}
	if cfg.Origin("temporal-address") == "dev" {
		s.Temporal = ""
	}
	if at.Postgres > 0 && s.Database != "" || at.Temporal+at.UI > 0 && s.Temporal != "" {
		return nil, fmt.Errorf("%w: a port was asked for of a server that is not started here: the settings name one (database-url, temporal-address)", program.ErrUsage)
	}
	progress := c.Progress("starting the servers")
	stack, err := devstack.Start(ctx, devstack.Options{
		Ready:   temporalapi.EnsureSearchAttributes,
		DataDir: s.DataDir, DatabaseURL: string(s.Database), TemporalAddress: s.Temporal, Namespace: s.Namespace,
		SearchAttributes: gleaner.SearchAttributes(), StandardPorts: true, Ports: at, Headless: !ui, Progress: progress.Show,
	})
	progress.End()
	if errors.Is(err, devstack.ErrPort) {
		err = fmt.Errorf("%w: %w; without the flag a free one is chosen", program.ErrUsage, err)
	}
	if err != nil {
		return nil, err
	}
	cfg.UseServers(config.Secret(stack.DatabaseURL), stack.TemporalAddress)
	if err := migrate(ctx, cfg); err != nil {
		stack.Stop()
		if errors.Is(err, migrations.ErrBaseline) && s.Database == "" {
			err = fmt.Errorf("%w; this one is %s, which is made anew once it is removed", err, s.DataDir)
		}
		return nil, err
	}
	return stack, nil
}
