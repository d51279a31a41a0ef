package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/workflows"
)

// harvestFlags are the options of `starter harvest`.
type harvestFlags struct {
	years    string
	holdings string
	wait     bool
	sources  sourceFlags
	links    linkFlags
	options  activities.HarvestOptions
}

func (f *harvestFlags) validate() (err error) {
	if f.options.Links, err = f.links.lists(); err != nil {
		return err
	}
	if err := f.options.Check(); err != nil {
		return fmt.Errorf("%w: --%w", program.ErrUsage, err)
	}
	return nil
}

func (c *cli) harvestCommand() *cobra.Command {
	f := &harvestFlags{}
	cmd := &cobra.Command{
		Use: "harvest VENUE --years YEARS", Short: "Complete the collection of a venue",
		Long: `Complete the collection of a venue: list what it published, subtract what the
library holds, find the authors' homepages, crawl them, and report.

VENUE is a DBLP key (conf/webdb, journals/jair) or a name (WebDB). The same
command on a harvest that runs joins it; on one that was cut off it goes on from
what is known; on one that is complete it asks, conditionally, for everything
again (--again). It needs a worker: "starter dev" runs one.`,
		Example: `  starter harvest conf/webdb --years 1998-2004
  starter harvest journals/jair --years 2003 --holdings library.csv --wait
  starter harvest conf/webdb --years 1998-2004 --delay 5s --max-pages 2000
  starter harvest conf/webdb --years 1998-2004 --ignore '*/courses.html,ads.example.com'
  starter harvest "Local Workshop" --years 2003 --papers workshop.bib
  starter harvest journals/jair --years 2003 --sources dblp,crossref --id issn=1076-9757`,
		Args: args(1, "the venue, such as conf/webdb"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			years, err := gleaner.ParseYears(f.years)
			if err != nil {
				return fmt.Errorf("%w: --%w", program.ErrUsage, err)
			}
			return c.harvest(cmd.Context(), args[0], years, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.years, "years", "", "years of publication, such as 1998-2004 (required)")
	fl.StringVar(&f.holdings, "holdings", "", "file of papers that the library holds (csv, jsonl, bibtex, ris); imported first")
	fl.BoolVar(&f.wait, "wait", false, "show progress, and end when the harvest does")
	durationVar(fl, &f.options.Delay, "delay", 0, "least time between two requests to one host (default: the worker's setting)")
	fl.IntVar(&f.options.MaxPages, "max-pages", 0, "requests of one crawl of one site (default: the worker's setting)")
	fl.StringVar(&f.options.Scope, "scope", "prefix", "what may be crawled: prefix (the homepage's path), host or domain")
	fl.StringVar(&f.options.Strategy, "strategy", "", "order of the crawl: gleaner, zhuang or bfs (default: the worker's setting)")
	fl.StringVar(&f.options.Leads, "leads", "", "documents linked on other hosts: wanted, all or none (default: the worker's setting)")
	fl.Float64Var(&f.options.Budget, "budget", 0, "leave a site when one more accepted document is expected to take more than so many requests (default: no limit)")
	fl.IntVar(&f.options.Window, "sites", 0, "sites crawled at a time (default 50)")
	fl.BoolVar(&f.options.Refresh, "refresh", false, "look for homepages again, though they were looked for lately")
	fl.StringVar(&f.options.Again, "again", "", "what to ask again of what was asked before: due, all or none (default: all where this harvest is complete, else due)")
	f.sources.register(cmd)
	f.links.register(fl)
	_ = cmd.MarkFlagRequired("years")
	return cmd
}

// args checks the number of arguments, and says what is missing.
func args(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, got []string) error {
		if len(got) != n {
			return fmt.Errorf("%w: want %s", program.ErrUsage, what)
		}
		return nil
	}
}

func (c *cli) harvest(ctx context.Context, name string, years gleaner.Years, f *harvestFlags) error {
	if f.holdings != "" {
		if _, err := c.importHoldings(ctx, f.holdings, false); err != nil {
			return err
		}
	}
	t, err := c.temporal(ctx)
	if err != nil {
		return err
	}
	defer t.Close()
	key, err := c.harvestVenue(ctx, name, years, &f.sources)
	if err != nil {
		return err
	}
	h := activities.Harvest{ID: key + "/" + years.String(), Venue: key, Years: years, Options: f.options}
	if h.Options.Again == "" && c.completed(ctx, h.ID) {
		h.Options.Again = activities.AgainAll
	}
	joined, err := startHarvest(ctx, t, workflows.HarvestParams{Harvest: h})
	if err != nil {
		return err
	}
	c.hints()
	c.hintDelay(f.options.Delay)
	if !f.wait {
		return c.Print(map[string]any{"harvest": h.ID, "workflow": workflows.HarvestID(h.ID), "joined": joined}, func(w io.Writer) error {
			verb := "started"
			if joined {
				verb = "is running already"
			}
			_, err := fmt.Fprintf(w, "%s %s\nwatch it:  starter watch %s\n", h.ID, verb, h.ID)
			return err
		})
	}
	return c.follow(ctx, t, h.ID)
}

// completed reports whether a harvest was carried to its end before: whoever asks
// for it again wants to know what changed since.
func (c *cli) completed(ctx context.Context, id string) bool {
	a, err := c.Record(ctx)
	if err != nil {
		return false // the worker will say what is wrong
	}
	defer a.Close()
	h, err := a.DB.FindHarvest(ctx, id)
	return err == nil && h.ID == id && h.Stage == gleaner.StageComplete
}

// hints tells of settings without which a harvest finds little.
func (c *cli) hints() {
	if cfg, err := c.Settings(); err == nil && cfg.Search.Provider == "none" && !c.JSON {
		fmt.Fprintln(c.Err, "hint: no search provider is set here; if the workers have none either, only homepages that directories list are found (GLEANER_SEARCH)")
	}
}

// hintDelay says that a delay asked for is below the floor, which holds.
func (c *cli) hintDelay(asked time.Duration) {
	if cfg, err := c.Settings(); err == nil && asked > 0 && asked < cfg.Web.MinDelay {
		fmt.Fprintf(c.Err, "hint: --delay %s is below the least delay that is set here: where the workers have the same, no host is asked more often than every %s (GLEANER_MIN_DELAY)\n", asked, cfg.Web.MinDelay)
	}
}

// venueKey makes a name a DBLP key. A name without a slash is looked up by the
// worker's own catalogue, through the same settings.
func (c *cli) venueKey(ctx context.Context, name string) (string, error) {
	if strings.Count(name, "/") == 1 {
		return name, nil
	}
	a, err := c.Application(ctx)
	if err != nil {
		return "", err
	}
	defer a.Close()
	v, err := a.Stages.DBLP.ResolveVenue(ctx, name)
	return v.Key, err
}

// startHarvest starts the workflow, or joins the one that runs.
func startHarvest(ctx context.Context, t client.Client, p workflows.HarvestParams) (joined bool, err error) {
	_, err = t.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.HarvestID(p.Harvest.ID), TaskQueue: activities.QueueHarvest, StaticSummary: p.Harvest.ID, WorkflowTaskTimeout: workflows.TaskTime,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, workflows.HarvestVenue, p)
	var running *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &running) {
		return true, nil
	}
	return false, err
}

// follow shows progress until the harvest ends.
func (c *cli) follow(ctx context.Context, t client.Client, id string) error {
	a, err := c.Record(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	watch, stop := context.WithCancel(ctx)
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		c.progress(watch, a.DB, id)
	}()
	told := make(chan struct{})
	go func() {
		defer close(told)
		c.sayTroubles(watch, t, id)
	}()
	var result workflows.HarvestResult
	err = c.await(ctx, t, workflows.HarvestID(id), &result)
	stop()
	<-shown
	<-told
	if ctx.Err() != nil && !c.JSON {
		fmt.Fprintf(c.Err, "%s goes on without you\nwatch it:  starter watch %s\nend it:    starter cancel %s\n", id, id, id)
	}
	if err != nil {
		return endedBadly(ctx, a.DB, id, err)
	}
	return c.Print(result, func(w io.Writer) error {
		s := result.Summary
		_, err := fmt.Fprintf(w, "%s complete: %d published, %d held, %d wanted, %d found, %d missing (recall %.1f %%)\nwhy:  starter report %s\n",
			id, s.Published, s.Held, s.Wanted, s.Found, s.Missing, 100*s.Recall, id)
		return err
	})
}

// endedBadly says in one line why a harvest ended, as the record has it.
func endedBadly(ctx context.Context, db *store.DB, id string, err error) error {
	h, herr := db.FindHarvest(ctx, id)
	if herr != nil || h.Note == "" {
		return err
	}
	why := fmt.Errorf("%s %s %s", id, h.Stage, h.Note)
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.Type() == activities.ErrTypeInput {
		return program.Unknown{Reason: why}
	}
	return why
}

// progress prints one line a while: over itself on a terminal, below each other
// into a file, where only changes are printed.
func (c *cli) progress(ctx context.Context, db *store.DB, id string) {
	line := c.Progress()
	defer line.End()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		h, err := db.FindHarvest(ctx, id)
		if err == nil {
			if n, err := db.HarvestCounts(ctx, id); err == nil {
				line.Show(progressText(h, n))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func progressText(h store.Harvest, c store.Counts) string {
	state := h.Stage
	if h.Paused {
		state += ", paused"
	}
	return fmt.Sprintf("%s [%s] wanted %d, found %d | homepages %d of %d authors (%d looked for) | sites %d of %d | pages %d, waiting %d | documents %d, accepted %d",
		h.ID, state, c.Wanted, c.Found, c.Homepages, c.Authors, c.Decided, c.SitesDone, c.Sites, c.Pages, c.Waiting, c.Documents, c.Accepted)
}
