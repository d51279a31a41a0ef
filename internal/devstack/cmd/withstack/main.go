// Withstack runs a command with a Postgres and a Temporal server of its own:
//
//	withstack [-dir FOLDER] command arguments…
//
// The command finds them in GLEANER_TEST_DATABASE_URL and
// GLEANER_TEST_TEMPORAL_ADDRESS (see package devtest), which saves every test
// binary from starting a pair. The servers are gone when withstack ends, with
// the command's status.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"gleaner/internal/devstack"
	"gleaner/internal/devstack/temporalapi"
	"gleaner/internal/gleaner"
)

func main() {
	dir := flag.String("dir", "", "folder for the servers' data; by default a temporary one")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	code, err := run(ctx, *dir, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "withstack:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, dir string, args []string) (code int, err error) {
	if len(args) == 0 {
		return 2, errors.New("no command given")
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "gleaner-withstack-*"); err != nil {
			return 1, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
	}
	stack, err := devstack.Start(ctx, devstack.Options{
		Ready:   temporalapi.EnsureSearchAttributes,
		DataDir: dir, Headless: true, Disposable: true,
		SearchAttributes: gleaner.SearchAttributes(),
		Progress:         func(line string) { fmt.Fprintln(os.Stderr, "withstack:", line) },
	})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stack.Stop()) }()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(),
		devstack.TestDatabase+"="+stack.DatabaseURL,
		devstack.TestTemporal+"="+stack.TemporalAddress)
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(exit.ExitCode(), 1), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
