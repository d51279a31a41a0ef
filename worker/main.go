// Command worker works on Gleaner's task queues. Any number of workers share the
// load; each takes all queues or some.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"gleaner/activities"
	"gleaner/internal/devstack"
	"gleaner/internal/document"
	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
	"gleaner/internal/service/telemetry"
	"gleaner/internal/service/terminal"
	"gleaner/worker/pool"
)

const usage = `worker works on Gleaner's task queues until it is interrupted.

It finds Postgres by GLEANER_DATABASE_URL and Temporal by TEMPORAL_ADDRESS, or
both by the running "starter dev" of GLEANER_DATA_DIR. "starter config" lists
all settings.

Examples:
  worker                                   all queues
  worker --queues documents --cores 8      examine documents only

Flags:
`

func main() {
	child := document.MaybeRunChild()
	queues := flag.String("queues", strings.Join(activities.Queues(), ","), "queues to work on, comma-separated")
	cores := flag.Int("cores", runtime.NumCPU(), "documents examined at a time")
	file := flag.String("config", "", "settings file")
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage); flag.PrintDefaults() }
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "worker: wrong usage: it takes no arguments but flags, not %q\n", flag.Arg(0))
		os.Exit(program.ExitUsage)
	}
	if *cores < 1 {
		fmt.Fprintf(os.Stderr, "worker: wrong usage: --cores: want 1 or more, not %d\n", *cores)
		os.Exit(program.ExitUsage)
	}
	if err := run(*file, pool.Options{Queues: strings.Split(*queues, ","), Cores: *cores, Child: child}); err != nil {
		fmt.Fprintln(terminal.New(os.Stderr), "worker:", err)
		os.Exit(program.ExitCode(err))
	}
}

func run(file string, o pool.Options) error {
	cfg, err := config.Load(nil, file, os.Environ())
	if err != nil {
		return fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	devstack.Use(cfg)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o.Log = telemetry.Logger(os.Stderr, string(cfg.Process.LogLevel))
	return pool.Run(ctx, cfg, o)
}
