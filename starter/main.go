// Command starter starts, watches and reports harvests, and runs the embedded
// servers of a single machine.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"gleaner/internal/document"
	"gleaner/internal/service/console"
)

func main() {
	child := document.MaybeRunChild()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newRootCommand(os.Stdout, os.Stderr, child).ExecuteContext(ctx)
	interrupted := ctx.Err() != nil
	stop()
	code := exitCode(err, interrupted)
	if err != nil && code != exitInterrupted {
		fmt.Fprintln(console.New(os.Stderr), "starter:", err)
	}
	os.Exit(code)
}
