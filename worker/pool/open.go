package pool

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"gleaner/internal/devstack/temporalapi"
	"gleaner/internal/gleaner"
	"gleaner/internal/ingest/source"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
	"gleaner/internal/service/telemetry"
)

// pool is what the workers of one process share.
type pool struct {
	cfg    *config.Config
	log    *slog.Logger
	tel    *telemetry.Telemetry
	client client.Client
	app    *app.App
}

// open connects to both servers and opens what activities need.
func open(ctx context.Context, cfg *config.Config, opt Options) (_ *pool, err error) {
	log := opt.Log
	p := &pool{cfg: cfg, log: log}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.tel, err = telemetry.New(ctx, "gleaner-worker", app.Version, os.Getenv, log); err != nil {
		return nil, err
	}
	o := client.Options{Logger: sdklog.NewStructuredLogger(quiet(log))}
	if err = instrument(p.tel, &o, log); err != nil {
		return nil, err
	}
	if p.client, err = dial(ctx, cfg, o); err != nil {
		return nil, err
	}
	if err = temporalapi.EnsureSearchAttributes(ctx, cfg.Servers.Temporal, cfg.Servers.Namespace, gleaner.SearchAttributes()); err != nil {
		return nil, err
	}
	p.app, err = app.Open(ctx, cfg, app.Options{
		Log: log, Watch: p.tel.Metrics, Cores: opt.Cores, Child: opt.Child, Reader: opt.Reader, Migrate: true,
	})
	return p, err
}

func (p *pool) close() {
	if p.app != nil {
		p.app.Close()
	}
	if p.client != nil {
		p.client.Close()
	}
	if p.tel == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := p.tel.Close(ctx); err != nil {
		p.log.Warn("the last traces were not sent", "error", err)
	}
}

// gaugesEvery is how often the record is asked for its numbers, at most.
const gaugesEvery = 15 * time.Second

// watch serves metrics and health where the settings name an address.
func (p *pool) watch(queues []string) (stop func(), err error) {
	address := p.cfg.Process.Metrics
	if address == "" {
		return func() {}, nil
	}
	p.tel.Registry().MustRegister(telemetry.NewRecordCollector(store.SharedGauges{DB: p.app.DB, Every: gaugesEvery}, gaugesEvery, p.log))
	at, stop, err := p.tel.Serve(address, p.checks())
	if err != nil {
		return nil, err
	}
	p.log.Info("metrics and health", "at", "http://"+at+"/metrics", "queues", queues)
	return stop, nil
}

// checks are what a worker needs to be of use.
func (p *pool) checks() map[string]telemetry.Check {
	return map[string]telemetry.Check{
		"database": p.app.DB.Pool.Ping,
		"temporal": func(ctx context.Context) error {
			_, err := p.client.CheckHealth(ctx, &client.CheckHealthRequest{})
			return err
		},
		"blobs": func(ctx context.Context) error {
			// A digest that no file has: that it is not there is an answer.
			if _, err := p.app.Repo.Exists(ctx, noDocument); err != nil {
				return err
			}
			return cmp.Or(p.room(), p.app.Repo.Ready(ctx))
		},
	}
}

// room is ErrFull where the folder of the blob store has no room for the largest document.
func (p *pool) room() error {
	dir := strings.TrimSuffix(p.app.Repo.Where(noDocument), repository.Path(noDocument))
	free, err := source.FreeBytes(dir)
	if most := p.cfg.Policy.Fetch.DocumentBytes; err == nil && free < int64(most) {
		return fmt.Errorf("%w: less than the largest document, %s, is free", repository.ErrFull, most)
	}
	return nil // a bucket, or a folder that is away, which others say
}

// noDocument is the name of a file that nobody can have made.
const noDocument = "0000000000000000000000000000000000000000000000000000000000000000"
