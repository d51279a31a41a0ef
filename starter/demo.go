package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"gleaner/activities"
	"gleaner/internal/devstack"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
	"gleaner/internal/service/telemetry"
	"gleaner/worker/pool"
	"gleaner/workflows"
)

func demoCommand(c *cli) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{Use: "demo", Short: "Harvest a sample venue from a bundled sample web",
		Long: `Start everything that a harvest needs on this machine (Postgres, Temporal with
its web UI, a worker, and a sample web with a metadata and a search service),
harvest a sample venue, and print the report. Nothing outside this machine is
asked. The first run prepares the Temporal server, which takes minutes.`,
		Example: "  starter demo\n  starter demo --keep     # look at it in the console and Temporal's UI afterwards", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return demo(cmd.Context(), c, keep) }}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the servers up until interrupted")
	return cmd
}

// demoSettings are those of the demo alone; its data are beside the real ones.
func demoSettings(c *cli, web string, sample *sampleweb.Web) (*config.Config, error) {
	cfg, err := c.Settings()
	if err != nil {
		return nil, err
	}
	s := &cfg.Servers
	s.DataDir, s.Database, s.Temporal, s.Repository = filepath.Join(s.DataDir, "demo"), "", "", ""
	cfg.Catalogues.DBLP, cfg.Catalogues.DBLPDelay = sampleweb.DBLPURL, time.Millisecond
	cfg.Search.Providers, cfg.Search.SearXNG = []config.Provider{"searxng"}, sampleweb.SearchURL
	cfg.Web.Contact, cfg.Web.Proxy = "demo@example.org", config.Secret(web)
	cfg.Web.Delay, cfg.Web.MinDelay, cfg.Policy.Crawl.RetryBase = 20*time.Millisecond, 0, time.Second
	return cfg, nil
}

func demo(ctx context.Context, c *cli, keep bool) error {
	sample := sampleweb.New(sampleweb.Options{Seed: 1})
	address, closeWeb, err := serve(sample)
	if err != nil {
		return err
	}
	defer closeWeb()
	cfg, err := demoSettings(c, "http://"+address, sample)
	if err != nil {
		return err
	}
	stack, err := c.startStack(ctx, cfg, devstack.Ports{}, keep)
	if err != nil {
		return err
	}
	defer stack.Stop()
	log, closeLog, err := quietLog(cfg, "demo.log")
	if err != nil {
		return err
	}
	defer closeLog()
	first, last := sample.Years()
	years := gleaner.Years{From: first, To: last}
	fmt.Fprintf(c.Err, "sample web   http://%s (as a proxy), %d hosts\n", address, len(sample.Hosts()))
	if stack.UIURL != "" {
		fmt.Fprintf(c.Err, "Temporal UI  %s\n", stack.UIURL)
	}
	work, stopWork := context.WithCancel(ctx)
	worked := make(chan error, 1)
	go func() { worked <- pool.Run(work, cfg, pool.Options{Log: log, Child: c.Child}) }()
	go func() {
		select {
		case err := <-stack.Failed():
			fmt.Fprintln(c.Err, "starter:", err)
			stopWork() // without its servers the worker ends, and with it the demo
		case <-work.Done():
		}
	}()
	err = demoHarvest(ctx, c, cfg, sample.Venues()[0], years, worked)
	if err == nil && keep {
		fmt.Fprintln(c.Err, "the console, for looking only, and Temporal's UI stay up; interrupt to end")
		var a *app.App
		if a, err = c.Record(ctx); err == nil {
			err = serveConsole(ctx, c, a, consoleFlags{listen: "127.0.0.1:0", role: store.Reader})
			a.Close()
		}
	}
	stopWork()
	if werr := <-worked; err == nil {
		err = werr
	}
	return err
}

// demoHarvest harvests, prints the report, and says where it and the UI are.
func demoHarvest(ctx context.Context, c *cli, cfg *config.Config, key string, years gleaner.Years, worked chan error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-worked:
			worked <- err
			cancel(err) // without a worker the harvest would wait for ever
		case <-ctx.Done():
		}
	}()
	// Whatever loads the settings again sees them.
	s := cfg.Servers
	c.Own = map[string]string{"data-dir": s.DataDir, "database-url": string(s.Database), "temporal-address": s.Temporal}
	t, err := pool.Dial(ctx, cfg, c.Log(cfg))
	if err != nil {
		return err
	}
	defer t.Close()
	h := activities.NewHarvest(gleaner.Goal{Venue: key}, years, activities.HarvestOptions{})
	if _, err := startHarvest(ctx, t, workflows.HarvestParams{Harvest: h}); err != nil {
		return err
	}
	if err := c.follow(ctx, t, h.ID); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	return c.withRecord(ctx, func(a *app.App) error {
		r, err := report.Build(ctx, a.DB, h.ID)
		if err != nil {
			return err
		}
		if err := c.Print(r, func(w io.Writer) error { fmt.Fprintln(w); return r.WriteText(w) }); err != nil {
			return err
		}
		file := filepath.Join(cfg.Servers.DataDir, "report.html")
		if err := program.WriteFile(file, r.WriteHTML); err != nil {
			return err
		}
		fmt.Fprintf(c.Err, "\nreport       %s\nand again    starter demo --keep   (leaves the console and Temporal's UI up)\n", file)
		return nil
	})
}

// serve answers on a free port of the loopback interface.
func serve(h http.Handler) (address string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.Serve(l) }()
	return l.Addr().String(), func() { _ = s.Close() }, nil
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
