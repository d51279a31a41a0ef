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

// watch serves metrics and health where the settings name an address, also while the workers stop once ctx has ended.
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

// checks are what a worker needs to be of use: until ctx ends it takes work.
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

// instrument makes a Temporal client, and the workers on it, tell of themselves.
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

// quiet passes on what the SDK warns of, and its chatter at debug only.
func quiet(log *slog.Logger) *slog.Logger {
	if log.Enabled(context.Background(), slog.LevelDebug) {
		return slog.New(atLeast{log.Handler(), slog.LevelDebug, nil})
	}
	return slog.New(atLeast{log.Handler(), slog.LevelWarn, &repeats{said: map[string]repeat{}}})
}

// atLeast passes on lines of a level, and where again is not nil what is said again and
// again once a minute: while Temporal is away, dozens of pollers say so every few seconds.
type atLeast struct {
	slog.Handler
	level slog.Level
	again *repeats
}

func (h atLeast) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.level && h.Handler.Enabled(ctx, l)
}

// Handle leaves out what logActivities says, with more to it.
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

// repeats remembers what was said when.
type repeats struct {
	mu   sync.Mutex
	said map[string]repeat
}

type repeat struct {
	at     time.Time
	unsaid int
}

// next reports whether a message is to be said at a time, and how often it was
// not since it was said last.
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
