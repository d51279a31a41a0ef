package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/console"
	"gleaner/internal/each"
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
	looks map[string]*harvestView // at harvests that run
}

func (d *desk) temporal(ctx context.Context) (client.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	if d.t == nil {
		d.t, err = d.c.temporal(ctx)
	}
	return d.t, err
}

// onTemporal does something with the connection to the server.
func (d *desk) onTemporal(ctx context.Context, do func(client.Client) error) error {
	t, err := d.temporal(ctx)
	if err == nil {
		err = do(t)
	}
	return consoleError(err)
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
	return each.Of(all, func(t pool.Trouble) string { return t.Words(console.TimeForm) }), err
}

// consoleError marks what the person in the console is to be told, as the exit codes of
// commands tell it apart; all else is for the log.
func consoleError(err error) error {
	switch code := exitCode(err); {
	case code == program.ExitCode(err):
	case code == program.ExitUsage:
		return fmt.Errorf("%w: %w", program.ErrUsage, err)
	case code == program.ExitUnknown:
		return program.Unknown{Reason: err}
	}
	return err
}

func (d *desk) Start(ctx context.Context, w console.HarvestRequest) (id, did string, err error) {
	f, years, err := harvestFlagsOf(w)
	if err != nil {
		return "", "", err
	}
	return d.begin(ctx, w.Goal, years, f)
}

// Begun implements console.Harvests.
func (d *desk) Begun(ctx context.Context, id string) (runs bool, err error) {
	err = d.onTemporal(ctx, func(t client.Client) (err error) { runs, err = harvestRuns(ctx, t, id); return err })
	return runs, err
}

// harvestFlagsOf are the flags of `starter harvest` that say the same.
func harvestFlagsOf(w console.HarvestRequest) (*harvestFlags, gleaner.Years, error) {
	f := &harvestFlags{years: w.Years, options: harvestOptions(w)}
	years, err := yearsFlag(w.Years)
	return f, years, cmp.Or(err, f.validate(), f.checkGoals([]string{w.Goal}))
}

func harvestOptions(w console.HarvestRequest) activities.HarvestOptions {
	return activities.HarvestOptions{Delay: w.Delay, MaxPages: w.MaxPages, Scope: w.Scope, Strategy: w.Strategy,
		Leads: w.Leads, Budget: w.Budget, WARC: w.WARC, Again: w.Again}
}

func (d *desk) begin(ctx context.Context, goal string, years gleaner.Years, f *harvestFlags) (id, did string, err error) {
	t, err := d.temporal(ctx)
	if err != nil {
		return "", "", err
	}
	all, err := d.c.begin(ctx, t, []string{goal}, years, f)
	if err != nil {
		return "", "", consoleError(err)
	}
	if all[0].Joined {
		return all[0].ID, all[0].words(), nil
	}
	return all[0].ID, "started", nil
}

// onHarvest does something to a harvest.
func (d *desk) onHarvest(ctx context.Context, id string, do func(t client.Client, h store.Harvest) (string, error)) (string, error) {
	var did string
	h, err := d.db.FindHarvest(ctx, id)
	if err == nil {
		err = d.onTemporal(ctx, func(t client.Client) (err error) { did, err = do(t, h); return err })
	}
	return did, err
}

// SteerSite implements console.Harvests. A pause needs no Temporal.
func (d *desk) SteerSite(ctx context.Context, host, do, why string) (did string, err error) {
	var t client.Client
	if do == "resume" {
		if t, err = d.temporal(ctx); err != nil {
			return "", err
		}
	}
	did, err = steerSite(ctx, t, d.db, host, steering{do, why})
	return did, consoleError(err)
}

// SetHomepage implements console.Harvests.
func (d *desk) SetHomepage(ctx context.Context, who gleaner.Author, url, word string) (string, error) {
	if word == "" {
		did, _, err := forgetHomepage(ctx, harvest.Homepages{DB: d.db}, who, url)
		return did, consoleError(err)
	}
	at, joined, err := setHomepage(ctx, d.c, d.app, who, url, word)
	return strings.Join(setWords(at, word, joined), "; "), consoleError(err)
}

// Steer implements console.Harvests.
func (d *desk) Steer(ctx context.Context, id, do string) (string, error) {
	return d.onHarvest(ctx, id, func(t client.Client, h store.Harvest) (string, error) {
		return steer(ctx, t, d.db, &run{kind: runHarvest, name: h.ID, harvest: h}, steering{do: do})
	})
}

func (d *desk) Retry(ctx context.Context, id string, of console.Failed) (string, error) {
	return d.onHarvest(ctx, id, func(t client.Client, h store.Harvest) (string, error) {
		what := activities.Retry{Host: of.Site, Reason: of.Reason}
		if err := checkRetry(ctx, d.db, h, what); err != nil {
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
	return d.onTemporal(ctx, func(t client.Client) error {
		if err := renewJob(ctx, d.db.JobRecords, id); err != nil {
			return err
		}
		job, err := d.db.Job(ctx, id)
		if err != nil {
			return err
		}
		return startJob(ctx, t, job)
	})
}

func (d *desk) CancelJob(ctx context.Context, id int64) error {
	return d.onTemporal(ctx, func(t client.Client) error { return cancelJob(ctx, t, d.db.JobRecords, id) })
}

// Collect implements console.Harvests as `starter collect` does.
func (d *desk) Collect(ctx context.Context, w console.CollectionRequest) (string, error) {
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
		return "is being made already, as it was begun; cancel it to change its options", consoleError(err)
	}
	return "is being made", consoleError(err)
}

// SteerCollection implements console.Harvests.
func (d *desk) SteerCollection(ctx context.Context, name, do string) (did string, err error) {
	got, err := collections.In(d.db).Get(ctx, name)
	if err != nil {
		return "", err
	}
	err = d.onTemporal(ctx, func(t client.Client) (err error) {
		did, err = steer(ctx, t, d.db, &run{kind: runCollections, name: got.Name}, steering{do: do})
		return err
	})
	return did, err
}

func (d *desk) Again(ctx context.Context, id string) (string, error) {
	h, err := d.db.FindHarvest(ctx, id)
	if err != nil {
		return "", err
	}
	of, err := activities.HarvestOf(h)
	if err != nil {
		return "", err
	}
	of.Options.Again = "" // as a new harvest decides
	_, did, err := d.begin(ctx, h.Venue, h.Years, &harvestFlags{options: of.Options})
	return did, err
}

func (d *desk) Estimate(ctx context.Context, w console.HarvestRequest, listing func(string)) (p console.Estimated, err error) {
	f, years, err := harvestFlagsOf(w)
	if err != nil {
		return p, err
	}
	f.listing = listing
	if gleaner.ParseGoal(w.Goal).Site != "" {
		p.Lines = []string{"What a site has is not known before it is asked. A harvest of it can be cancelled when it is enough: what was found is kept."}
		return p, nil
	}
	all, err := d.c.estimates(ctx, []string{w.Goal}, years, f)
	if err != nil {
		return p, consoleError(err)
	}
	var text bytes.Buffer
	for _, e := range all {
		if err := e.summary(&text); err != nil {
			return p, err
		}
		for _, l := range e.Listed {
			p.Papers = append(p.Papers, store.HarvestPaper{Paper: l.Paper, Title: cmp.Or(l.Title, l.DOI), Year: l.Year, Authors: l.Authors,
				State: l.state(), HeldWhy: l.Held})
		}
	}
	p.Lines = strings.Split(strings.TrimSpace(text.String()), "\n")
	return p, nil
}

// EnterList implements console.Harvests. It enters the list as a file's is.
func (d *desk) EnterList(ctx context.Context, name, text string, replace bool) (key, hints string, err error) {
	goal := gleaner.Goal{List: listName(strings.ReplaceAll(name, "/", "-"))}
	if goal.List == "" {
		return "", "", fmt.Errorf("%w: %q is no name for a list", program.ErrUsage, name)
	}
	folder, err := os.MkdirTemp("", "list-")
	if err != nil {
		return "", "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "list"+filepath.Ext(filepath.Base(name)))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", "", err
	}
	a, err := d.c.Application(ctx)
	if err != nil {
		return "", "", err
	}
	defer a.Close()
	var said bytes.Buffer
	papers, _, err := papersOfList(&said, goal.String(), gleaner.Years{}, file)
	if err == nil {
		err = enterList(ctx, a, goal.String(), "console/"+goal.List, papers, func(string) bool { return replace })
	}
	err = consoleError(err)
	if program.ExitCode(err) == program.ExitUsage {
		err = fmt.Errorf("%w: %s", program.ErrUsage, strings.ReplaceAll(err.Error(), file, name))
	}
	return goal.String(), strings.NewReplacer("hint: ", "", file, name).Replace(said.String()), err
}

// Progress implements console.Harvests. Rates are measured between the looks of all
// who watch the harvest.
func (d *desk) Progress(ctx context.Context, id string) (console.Progress, error) {
	cfg, err := d.c.Settings()
	if err != nil {
		return console.Progress{}, err
	}
	d.mu.Lock()
	l := d.looks[id]
	if l == nil {
		l = &harvestView{db: d.db, id: id, pace: cfg.Web.Delay, begun: time.Now()}
		if d.looks == nil || len(d.looks) >= sitesShown { // of harvests that ended since
			d.looks = map[string]*harvestView{}
		}
		d.looks[id] = l
	}
	d.mu.Unlock()
	if err := l.refresh(ctx); err != nil {
		return console.Progress{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := console.Progress{Left: l.left()}
	p.Rate, _ = rates(l.past)
	failing := each.Where(l.now.At, store.SiteNow.Fails)
	p.Failing = each.Of(failing, func(s store.SiteNow) string { return s.Host + " " + whyFails(s) })
	return p, nil
}
