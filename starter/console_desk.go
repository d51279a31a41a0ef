package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/console"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/topic"
	"gleaner/worker/pool"
	"gleaner/workflows"
)

// desk does for the console what commands do. It connects to Temporal when that is
// first asked for something: pages of the record need no Temporal.
type desk struct {
	c   *cli
	db  *store.DB
	app *app.App

	mu    sync.Mutex
	t     client.Client
	looks map[string]*looking // at harvests that run
}

func (d *desk) temporal(ctx context.Context) (client.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.t != nil {
		return d.t, nil
	}
	t, err := d.c.temporal(ctx)
	if err == nil {
		d.t = t
	}
	return t, err
}

func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.t != nil {
		d.t.Close()
	}
}

func (d *desk) Troubles(ctx context.Context, harvest string) (lines []string, err error) {
	t, err := d.temporal(ctx)
	if err != nil {
		return nil, err
	}
	all, err := pool.Troubles(ctx, t, harvest)
	for _, trouble := range all {
		lines = append(lines, trouble.String())
	}
	return lines, err
}

// told marks what the person in the console is to be told, as the exit codes of
// commands tell it apart; all else is for the log.
func told(err error) error {
	switch code := exitCode(err); {
	case code == program.ExitCode(err):
	case code == program.ExitUsage:
		return fmt.Errorf("%w: %w", program.ErrUsage, err)
	case code == program.ExitUnknown:
		return program.Unknown{Reason: err}
	}
	return err
}

func (d *desk) Start(ctx context.Context, w console.Wish) (id, did string, err error) {
	f, years, err := wished(w)
	if err != nil {
		return "", "", err
	}
	return d.begin(ctx, w.Goal, years, f)
}

// Begun implements console.Harvests.
func (d *desk) Begun(ctx context.Context, id string) (bool, error) {
	t, err := d.temporal(ctx)
	if err != nil {
		return false, err
	}
	return harvestRuns(ctx, t, id)
}

// wished are the flags of `starter harvest` that say the same.
func wished(w console.Wish) (*harvestFlags, gleaner.Years, error) {
	f := &harvestFlags{years: w.Years, options: activities.HarvestOptions{Delay: w.Delay, MaxPages: w.MaxPages, Scope: w.Scope, Strategy: w.Strategy, Leads: w.Leads,
		Budget: w.Budget, WARC: w.WARC, Again: w.Again}}
	years, err := yearsFlag(w.Years)
	for _, check := range []func() error{f.validate, func() error { return f.checkGoals([]string{w.Goal}) }} {
		if err == nil {
			err = check()
		}
	}
	return f, years, err
}

func (d *desk) begin(ctx context.Context, goal string, years gleaner.Years, f *harvestFlags) (id, did string, err error) {
	t, err := d.temporal(ctx)
	if err != nil {
		return "", "", err
	}
	all, err := d.c.begin(ctx, t, []string{goal}, years, f)
	if err != nil {
		return "", "", told(err)
	}
	if all[0].Joined {
		return all[0].ID, all[0].words(), nil
	}
	return all[0].ID, "started", nil
}

// on does something to a harvest.
func (d *desk) on(ctx context.Context, id string, do func(t client.Client, h store.Harvest) (string, error)) (string, error) {
	h, err := d.db.FindHarvest(ctx, id)
	if err != nil {
		return "", err
	}
	t, err := d.temporal(ctx)
	if err != nil {
		return "", err
	}
	did, err := do(t, h)
	return did, told(err)
}

// SteerSite implements console.Harvests. A pause needs no Temporal.
func (d *desk) SteerSite(ctx context.Context, host, do, why string) (did string, err error) {
	var t client.Client
	if do == "resume" {
		if t, err = d.temporal(ctx); err != nil {
			return "", err
		}
	}
	did, err = steerSite(ctx, t, d.db, &run{name: host, reason: why}, do)
	return did, told(err)
}

// SetHomepage implements console.Harvests.
func (d *desk) SetHomepage(ctx context.Context, who gleaner.Author, url, word string) (string, error) {
	if word == "" {
		did, _, err := forgetHomepage(ctx, harvest.Homepages{DB: d.db}, who, url)
		return did, told(err)
	}
	at, joined, err := setHomepage(ctx, d.c, d.app, who, url, word)
	return strings.Join(setWords(at, word, joined), "; "), told(err)
}

// Steer implements console.Harvests.
func (d *desk) Steer(ctx context.Context, id, do string) (string, error) {
	return d.on(ctx, id, func(t client.Client, h store.Harvest) (string, error) {
		return steer(ctx, t, d.db, &run{kind: runHarvest, name: h.ID, harvest: h}, do)
	})
}

func (d *desk) Retry(ctx context.Context, id string, of console.Failed) (string, error) {
	return d.on(ctx, id, func(t client.Client, h store.Harvest) (string, error) {
		what := activities.Retry{Host: of.Site, Reason: of.Reason}
		if err := known(ctx, d.db, h, what); err != nil {
			return "", err
		}
		did, now, err := retry(ctx, t, d.db, h, what)
		if err != nil {
			return "", err
		}
		return retryWords(did, now), nil
	})
}

func (d *desk) StartJob(ctx context.Context, id int64) error {
	t, err := d.temporal(ctx)
	if err != nil {
		return err
	}
	if err := again(ctx, d.db.JobRecords, id); err != nil {
		return told(err)
	}
	job, err := d.db.Job(ctx, id)
	if err != nil {
		return told(err)
	}
	return told(startJob(ctx, t, job))
}

func (d *desk) CancelJob(ctx context.Context, id int64) error {
	t, err := d.temporal(ctx)
	if err != nil {
		return err
	}
	return told(cancelJob(ctx, t, d.db.JobRecords, id))
}

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
