package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/pflag"

	"gleaner/internal/console"
	"gleaner/internal/record/collections"
	"gleaner/internal/service/program"
	"gleaner/internal/topic"
	"gleaner/workflows"
)

// Collect implements console.Harvests as `starter collect` does.
func (d *desk) Collect(ctx context.Context, w console.CollectionWish) (string, error) {
	f := &collectFlags{}
	f.register(pflag.NewFlagSet("collect", pflag.ContinueOnError))
	f.name, f.venues = w.Name, w.Venues
	for _, name := range slices.Sorted(maps.Keys(w.Settings)) {
		f.set = append(f.set, name+"="+w.Settings[name])
	}
	if len(w.Venues) == 0 {
		raw, err := json.Marshal(map[string]any{"topics": w.Topics})
		if err == nil {
			f.given, _, err = topic.Parse(raw)
		}
		if err != nil {
			return "", fmt.Errorf("%w: %w", program.ErrUsage, err)
		}
	}
	topics, err := f.read("")
	if err != nil {
		return "", err
	}
	t, err := d.temporal(ctx)
	if err != nil {
		return "", err
	}
	run, running, err := f.ask(ctx, d.db, topics)
	if err == nil {
		err = beginCollection(ctx, t, workflows.CollectParams{Name: f.name, Run: run, Parallel: f.Parallel}, running)
	}
	if running {
		return "is being made already, as it was begun; cancel it to change its options", told(err)
	}
	return "is being made", told(err)
}

// SteerCollection implements console.Harvests.
func (d *desk) SteerCollection(ctx context.Context, name, do string) (string, error) {
	got, err := collections.In(d.db).Get(ctx, name)
	if err != nil {
		return "", err
	}
	t, err := d.temporal(ctx)
	if err != nil {
		return "", err
	}
	did, err := steer(ctx, t, d.db, &run{kind: runCollections, name: got.Name}, do)
	return cmp.Or(did, do), told(err)
}
