// Package pool runs workers, one per task queue, with shared dependencies. Both the worker
// program and `starter dev` run it.
package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"gleaner/activities"
	"gleaner/internal/document"
	"gleaner/internal/each"
	"gleaner/internal/guard"
	"gleaner/internal/library/collection"
	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
	"gleaner/workflows"
)

// stopTimeout is how long a stopping worker waits for its slices to record their results and end.
const stopTimeout = 20 * time.Second

// concurrency returns how many activities of a queue a worker runs concurrently. A crawl slice
// mostly waits for its host's turn; documents need a core.
func concurrency(queue string, cores int) int {
	switch queue {
	case activities.QueueCrawl, activities.QueueMetadata:
		return activities.CrawlPlaces
	case activities.QueueDocuments, activities.QueueJobs:
		return max(cores, 1)
	}
	return 16
}

// Dial connects to the Temporal server of the settings.
func Dial(ctx context.Context, cfg *config.Config, log *slog.Logger) (client.Client, error) {
	return dial(ctx, cfg, client.Options{Logger: sdklog.NewStructuredLogger(quiet(log))})
}

func dial(ctx context.Context, cfg *config.Config, o client.Options) (client.Client, error) {
	address := cfg.Servers.Temporal
	if address == "" {
		return nil, program.Unreachable{Reason: errors.New("no Temporal server is configured: " +
			"start `starter dev`, or set TEMPORAL_ADDRESS")}
	}
	const dialTime = 15 * time.Second
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	o.HostPort, o.Namespace = address, cfg.Servers.Namespace
	o.ConnectionOptions.GetSystemInfoTimeout = dialTime
	// The Temporal client waits up to ten seconds between polls of an unavailable server, and
	// gRPC would add its own waits between connections.
	o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, grpc.WithConnectParams(grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
		MinConnectTimeout: 20 * time.Second,
	}))
	c, err := client.DialContext(ctx, o)
	if err != nil {
		err = fmt.Errorf("no Temporal server answers at %s (TEMPORAL_ADDRESS): %w", address, err)
		return nil, program.Unreachable{Reason: err}
	}
	return c, nil
}

// Options configures the workers of a process. The zero value works on all queues with all
// processors.
type Options struct {
	Queues []string
	Log    *slog.Logger
	Cores  int               // documents examined concurrently
	Child  document.Child    // how the program starts itself as the built-in PDF reader
	Reader collection.Reader // reads documents; nil is a document.Reader
}

func (o Options) withDefaults() Options {
	if len(o.Queues) == 0 {
		o.Queues = activities.Queues()
	}
	o.Cores = cmp.Or(o.Cores, runtime.NumCPU())
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return o
}

// Run works on the queues until ctx ends, and then stops within stopTimeout.
func Run(ctx context.Context, cfg *config.Config, o Options) error {
	o = o.withDefaults()
	for _, q := range o.Queues {
		if !slices.Contains(activities.Queues(), q) {
			return fmt.Errorf("%w: no queue is called %q; there are %s", program.ErrUsage, q, strings.Join(activities.Queues(), ", "))
		}
	}
	p, err := open(ctx, cfg, o)
	if err != nil {
		return err
	}
	defer p.close()
	stopWatch, err := p.watch(ctx, o.Queues)
	if err != nil {
		return err
	}
	defer stopWatch()
	upkeep, leave := context.WithCancel(ctx)
	left, handing := guard.Go(func() { p.maintain(upkeep, maintainEvery) }), guard.Go(func() { p.handOn(upkeep) })
	defer func() { leave(); <-left; <-handing }()
	if err := p.work(ctx, o.Queues, o.Cores); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	o.Log.Info("stopped")
	return nil
}

// work runs a worker for each queue until ctx ends or one of them fails.
func (p *pool) work(ctx context.Context, queues []string, cores int) error {
	acts := activities.New(p.app)
	failed := make(chan error, len(queues))
	var running []worker.Worker
	defer func() { stop(running) }()
	for _, q := range queues {
		w := worker.New(p.client, q, p.options(q, cores, failed))
		acts.Register(w, q)
		if q == activities.QueueHarvest {
			workflows.Register(w)
		}
		if err := w.Start(); err != nil {
			return fmt.Errorf("queue %s: %w", q, err)
		}
		running = append(running, w)
	}
	p.log.Info("working", "queues", queues)
	select {
	case <-ctx.Done():
		p.log.Info("stopping: nothing new is taken, what is under way is handed over", "within", stopTimeout)
		return nil
	case err := <-failed:
		return err
	}
}

// deployment is the name of the workers' releases in Temporal.
const deployment = "gleaner"

// options returns the options of the worker of a queue. With a Build ID the worker takes only
// workflows of its release, and they stay on it.
func (p *pool) options(queue string, cores int, failed chan<- error) worker.Options {
	o := worker.Options{
		Identity:                           p.app.Keeper.Holder(), // links a lost lease to its slice
		MaxConcurrentActivityExecutionSize: concurrency(queue, cores),
		WorkerStopTimeout:                  stopTimeout,
		MaxHeartbeatThrottleInterval:       activities.Beat,
		StickyScheduleToStartTimeout:       2 * time.Second, // wait of workflows for a dead worker
		Interceptors:                       []interceptor.WorkerInterceptor{&logActivities{log: p.log, of: p.app.DB.SiteWatchers}},
		OnFatalError:                       func(err error) { failed <- err },
	}
	if id := p.cfg.Process.BuildID; id != "" {
		o.DeploymentOptions = worker.DeploymentOptions{UseVersioning: true, DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
			Version: worker.WorkerDeploymentVersion{DeploymentName: deployment, BuildID: id}}
	}
	return o
}

// stop stops all workers concurrently, so that together they take one timeout.
func stop(workers []worker.Worker) {
	done := each.Of(workers, func(w worker.Worker) <-chan struct{} { return guard.Go(w.Stop) })
	for _, d := range done {
		<-d
	}
}
