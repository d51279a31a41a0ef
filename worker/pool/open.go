package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"

	"gleaner/internal/devstack/temporalapi"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/ingest/source"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
	"gleaner/internal/service/telemetry"
)

// pool is the shared state of the workers of one process.
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
	if p.tel, err = telemetry.New(ctx, "gleaner-worker", fetch.Version, os.Getenv, log); err != nil {
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

// gaugesEvery is the least interval between queries of the record for gauges.
const gaugesEvery = 15 * time.Second

// watch serves metrics and health at the configured address, also while the workers stop after
// the end of ctx.
func (p *pool) watch(ctx context.Context, queues []string) (stop func(), err error) {
	address := p.cfg.Process.Metrics
	if address == "" {
		return func() {}, nil
	}
	p.tel.Registry().MustRegister(telemetry.NewRecordCollector(store.SharedGauges{DB: p.app.DB, Every: gaugesEvery}, gaugesEvery, p.log))
	at, stop, err := p.tel.Serve(address, p.checks(ctx))
	if err != nil {
		return nil, err
	}
	p.log.Info("metrics and health", "at", "http://"+at+"/metrics", "queues", queues)
	return stop, nil
}

// checks returns the health checks of a worker. It takes work until ctx ends.
func (p *pool) checks(ctx context.Context) map[string]telemetry.Check {
	return map[string]telemetry.Check{
		"worker": func(context.Context) error {
			if ctx.Err() != nil {
				return errors.New("it is stopping and takes nothing new")
			}
			return nil
		},
		"database": p.app.DB.Pool.Ping,
		"temporal": func(ctx context.Context) error {
			_, err := p.client.CheckHealth(ctx, &client.CheckHealthRequest{})
			return err
		},
		"blobs": func(ctx context.Context) error {
			// No file has this digest; its absence is a valid answer.
			if _, err := p.app.Repo.Exists(ctx, noDocument); err != nil {
				return err
			}
			return cmp.Or(p.room(), p.app.Repo.Ready(ctx))
		},
	}
}

// room returns ErrFull if the folder of the repository has no room for the largest document.
func (p *pool) room() error {
	dir := strings.TrimSuffix(p.app.Repo.Where(noDocument), repository.Path(noDocument))
	free, err := source.FreeBytes(dir)
	if most := p.cfg.Policy.Fetch.DocumentBytes; err == nil && free < int64(most) {
		return fmt.Errorf("%w: less than the largest document, %s, is free", repository.ErrFull, most)
	}
	return nil // a bucket, or a missing folder, which other checks report
}

// noDocument is a digest that no file has.
const noDocument = "0000000000000000000000000000000000000000000000000000000000000000"

// instrument adds metrics and logs to a Temporal client and its workers.
func instrument(tel *telemetry.Telemetry, o *client.Options, log *slog.Logger) error {
	o.MetricsHandler = opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter:   tel.Meter("temporal"),
		OnError: func(err error) { log.Warn("a metric of the Temporal SDK is lost", "error", err) },
	})
	tracer := tel.Tracer("temporal")
	if tracer == nil {
		return nil
	}
	tracing, err := opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{Tracer: tracer})
	if err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	o.Interceptors = append([]interceptor.ClientInterceptor{tracing}, o.Interceptors...)
	return nil
}

// quiet returns a logger for the SDK that logs warnings, and other lines only at debug level.
func quiet(log *slog.Logger) *slog.Logger {
	if log.Enabled(context.Background(), slog.LevelDebug) {
		return slog.New(atLeast{log.Handler(), slog.LevelDebug, nil})
	}
	return slog.New(atLeast{log.Handler(), slog.LevelWarn, &repeats{said: map[string]repeat{}}})
}

// atLeast passes on lines from a level on. If again is not nil, it passes on repeated lines once
// a minute: while Temporal is unavailable, dozens of pollers log every few seconds.
type atLeast struct {
	slog.Handler
	level slog.Level
	again *repeats
}

func (h atLeast) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.level && h.Handler.Enabled(ctx, l)
}

// Handle drops lines that logActivities logs in more detail.
func (h atLeast) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "Activity error." {
		return nil
	}
	if h.again == nil {
		return h.Handler.Handle(ctx, r)
	}
	unsaid, say := h.again.next(r.Message, r.Time)
	if !say {
		return nil
	}
	if unsaid > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("said_as_often_in_between", unsaid))
	}
	return h.Handler.Handle(ctx, r)
}

func (h atLeast) WithAttrs(a []slog.Attr) slog.Handler {
	return atLeast{h.Handler.WithAttrs(a), h.level, h.again}
}

func (h atLeast) WithGroup(n string) slog.Handler {
	return atLeast{h.Handler.WithGroup(n), h.level, h.again}
}

// repeats holds the times of logged messages.
type repeats struct {
	mu   sync.Mutex
	said map[string]repeat
}

type repeat struct {
	at     time.Time
	unsaid int
}

// next reports whether to log a message at this time, and how often it was dropped since it was
// last logged.
func (r *repeats) next(message string, at time.Time) (unsaid int, say bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	had, known := r.said[message]
	if known && at.Sub(had.at) < time.Minute {
		had.unsaid++
		r.said[message] = had
		return 0, false
	}
	r.said[message] = repeat{at: at}
	return had.unsaid, true
}
