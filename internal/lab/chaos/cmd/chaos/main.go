//go:build linux

// Chaos harvests a sample web while it breaks what the harvest runs on, and says
// whether anything was lost, stalled, repeated or impolite (see package chaos).
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"gleaner/internal/lab/chaos"
)

func main() {
	var o chaos.Options
	var kinds string
	var asJSON bool
	flag.StringVar(&o.Bin, "bin", "", "folder of the programs starter and worker (default: they are built)")
	flag.StringVar(&o.Dir, "dir", "", "folder for data and logs (default: a temporary one, kept when the verdict is not good)")
	flag.Uint64Var(&o.Seed, "seed", 1, "decides the web and the order of the faults")
	flag.IntVar(&o.Faults, "faults", 200, "how many faults")
	flag.StringVar(&kinds, "kinds", "", "only these kinds, comma-separated")
	flag.DurationVar(&o.Outage, "outage", 0, "how long \"Postgres away\", \"Temporal away\" and \"disk full for long\" last, which are made only where they are named (default 1h)")
	flag.IntVar(&o.Workers, "workers", 2, "worker processes")
	flag.DurationVar(&o.Delay, "delay", 0, "between two requests to a host (default 500ms)")
	flag.IntVar(&o.PagesPerSite, "pages", 0, "pages of a site beside those with papers (default 110)")
	flag.BoolVar(&asJSON, "json", false, "print the verdict as JSON")
	flag.Parse()
	if kinds != "" {
		o.Kinds = strings.Split(kinds, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	good, err := run(ctx, o, asJSON)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
	}
	if err != nil || !good {
		os.Exit(1)
	}
}

func run(ctx context.Context, o chaos.Options, asJSON bool) (good bool, err error) {
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "gleaner-chaos-*"); err != nil {
			return false, err
		}
		defer func() {
			if good {
				_ = os.RemoveAll(o.Dir)
			}
		}()
	}
	if o.Bin == "" {
		o.Bin = filepath.Join(o.Dir, "bin")
		build := exec.CommandContext(ctx, "go", "build", "-o", o.Bin+"/", "./starter", "./worker")
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		if err := build.Run(); err != nil {
			return false, err
		}
	}
	o.Log = os.Stderr
	v, err := chaos.Run(ctx, o)
	if err != nil {
		return false, err
	}
	if asJSON {
		err = json.NewEncoder(os.Stdout).Encode(v)
	} else {
		err = v.WriteText(os.Stdout)
	}
	fmt.Fprintln(os.Stderr, "logs in", o.Dir)
	return len(v.Faulty()) == 0 && v.Slow() == "", err
}
