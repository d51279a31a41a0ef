package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"gleaner/internal/devstack"
	"gleaner/internal/gleaner"
	"gleaner/internal/service/config"
	"gleaner/internal/service/telemetry"
	"gleaner/worker/pool"
)

func (c *cli) devCommand() *cobra.Command {
	var noWorker bool
	cmd := &cobra.Command{Use: "dev", Short: "Run everything on this machine: Postgres, Temporal with its web UI, a worker",
		Long: `Run everything on this machine until interrupted: Postgres, Temporal with its
web UI, and a worker. What they store is in the data folder and is there again
the next time. Other commands find the servers through the data folder
(GLEANER_DATA_DIR), so they need no settings.`,
		Example: "  starter dev\n  GLEANER_DATA_DIR=/srv/gleaner GLEANER_CONTACT=me@example.org starter dev", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.Settings()
			if err != nil {
				return err
			}
			return c.dev(cmd.Context(), cfg, !noWorker)
		}}
	cmd.Flags().BoolVar(&noWorker, "no-worker", false, "run the servers only")
	return cmd
}

func (c *cli) dev(ctx context.Context, cfg *config.Config, work bool) error {
	stack, err := c.startStack(ctx, cfg)
	if err != nil {
		return err
	}
	defer stack.Stop()
	fmt.Fprintf(c.Out, "Temporal UI  %s\nTemporal     %s\nPostgres     %s\ndata folder  %s\n", stack.UIURL, stack.TemporalAddress, config.Redact(stack.DatabaseURL), cfg.Servers.DataDir)
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
func (c *cli) startStack(ctx context.Context, cfg *config.Config) (*devstack.Stack, error) {
	s := cfg.Servers
	if cfg.Origin("database-url") == "dev" { // of another `starter dev`: Start says that it runs
		s.Database = ""
	}
	if cfg.Origin("temporal-address") == "dev" {
		s.Temporal = ""
	}
	progress := c.Progress("starting the servers")
	stack, err := devstack.Start(ctx, devstack.Options{
		DataDir: s.DataDir, DatabaseURL: string(s.Database), TemporalAddress: s.Temporal, Namespace: s.Namespace,
		SearchAttributes: gleaner.SearchAttributes(), StandardPorts: true, Progress: progress.Show, Log: slog.New(slog.DiscardHandler),
	})
	progress.End()
	if err != nil {
		return nil, err
	}
	cfg.UseServers(config.Secret(stack.DatabaseURL), stack.TemporalAddress)
	return stack, nil
}

// quietLog keeps a log out of the way of progress on screen, in a file of the
// data folder.
func quietLog(cfg *config.Config, name string) (*slog.Logger, func(), error) {
	if err := os.MkdirAll(cfg.Servers.DataDir, 0o700); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(filepath.Join(cfg.Servers.DataDir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	return telemetry.Logger(f, string(cfg.Process.LogLevel)), func() { f.Close() }, nil
}
