package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/workflows"
)

// begin starts harvests, or joins those that run.
func (c *cli) begin(ctx context.Context, t client.Client, names []string, years gleaner.Years, f *harvestFlags) (all []startedHarvest, err error) {
	for _, name := range names {
		name, of := splitYears(name, years)
		goal, err := c.goal(ctx, name, of, &f.sources)
		if err != nil {
			return nil, err
		}
		if goal.Site != "" {
			of = gleaner.Years{}
		}
		h := activities.NewHarvest(goal, of, f.options)
		h.Options.Scope = cmp.Or(h.Options.Scope, activities.ScopePrefix)
		if h.Options.Again == "" && completed(ctx, c, h.ID) {
			h.Options.Again = activities.AgainAll
		}
		all = append(all, startedHarvest{Harvest: h, Name: h.ID, Workflow: workflows.HarvestID(h.ID)})
	}
	for i, h := range all {
		joined, err := startHarvest(ctx, t, workflows.HarvestParams{Harvest: h.Harvest})
		if err != nil {
			return nil, err
		}
		if joined {
			all[i].join(ctx, c, t, f.options)
		}
	}
	return all, nil
}

// completed reports whether a harvest was carried to its end before: whoever asks
// for it again wants to know what changed since.
func completed(ctx context.Context, c *cli, id string) bool {
	a, err := c.Record(ctx)
	if err != nil {
		return false // the worker will say what is wrong
	}
	defer a.Close()
	h, err := a.DB.FindHarvest(ctx, id)
	return err == nil && h.ID == id && h.Stage == gleaner.StageComplete
}

// startHarvest starts the workflow, or joins the one that runs.
func startHarvest(ctx context.Context, t client.Client, p workflows.HarvestParams) (joined bool, err error) {
	return startOnce(ctx, t, workflows.HarvestID(p.Harvest.ID), workflows.DescribeHarvest(p.Harvest),
		workflows.HarvestVenue, p)
}

// startedHarvest is a harvest that a command started, or that it found running.
type startedHarvest struct {
	activities.Harvest `json:"-"`

	Name     string     `json:"harvest"`
	Workflow string     `json:"workflow"`
	Joined   bool       `json:"joined"`
	Paused   bool       `json:"paused,omitempty"`
	Since    *time.Time `json:"since,omitempty"`     // it runs, where it was joined
	NotTaken []notTaken `json:"not_taken,omitempty"` // options of the command
}

// notTaken is an option that a harvest which runs already does not take.
type notTaken struct {
	Option string `json:"option"`
	Asked  string `json:"asked"`
	Runs   string `json:"runs_with"`
}

// option is one option of a harvest in words; "" is that it was not given.
type option struct{ name, value string }

func optionsOf(o activities.HarvestOptions) []option {
	links, _ := json.Marshal(o.Links)
	all := []option{{"delay", duration{&o.Delay}.String()}, {"max-pages", fmt.Sprint(o.MaxPages)}, {"scope", o.Scope}, {"strategy", o.Strategy},
		{"leads", o.Leads}, {"budget", fmt.Sprint(o.Budget)}, {"sites", fmt.Sprint(o.Window)}, {"refresh", fmt.Sprint(o.Refresh)},
		{"warc", fmt.Sprint(o.WARC)}, {"links", string(links)}, {"again", o.Again}}
	for i := range all {
		if slices.Contains([]string{"0", "false", "null"}, all[i].value) {
			all[i].value = ""
		}
	}
	return all
}

// optionsNotTaken are the options asked that a harvest runs without.
func optionsNotTaken(asked, runs activities.HarvestOptions) (left []notTaken) {
	runs.Scope = cmp.Or(runs.Scope, activities.ScopePrefix)
	has := optionsOf(runs)
	for i, o := range optionsOf(asked) {
		if o.value != "" && o.value != has[i].value {
			left = append(left, notTaken{o.name, o.value, has[i].value})
		}
	}
	return left
}

// words say of a joined harvest what it does not take, and what to do.
func (b startedHarvest) words() string {
	since := ""
	if b.Since != nil {
		since = " since " + b.Since.Local().Format(time.DateTime)
	}
	said := "is running already" + since + ", with the options that it was started with"
	if b.Paused {
		said += "; it is paused: `starter resume " + b.ID + "` lets it go on"
	}
	for _, n := range b.NotTaken {
		had := "the default"
		if n.Runs != "" {
			had = n.Runs
		}
		if n.Option == "links" { // lists are long
			said += "; --links, --ignore and --allow are not taken"
			continue
		}
		said += fmt.Sprintf("; --%s %s is not taken, it runs with %s", n.Option, n.Asked, had)
		if n.Option == "delay" {
			said += "; `starter sites slow HOST " + n.Asked + "` slows one host at once"
		}
	}
	if len(b.NotTaken) > 0 {
		said += fmt.Sprintf("; `starter cancel %s` and, when it has ended, the same command take what is asked", b.ID)
	}
	return said
}

// join says how a harvest that was found running differs from what was asked. What it
// runs with is in its history; while that cannot be read nothing is said of it.
func (b *startedHarvest) join(ctx context.Context, c *cli, t client.Client, asked activities.HarvestOptions) {
	b.Joined = true
	var runs workflows.HarvestParams
	at, err := startedWith(ctx, t, b.Workflow, &runs)
	if err != nil {
		return
	}
	if a, err := c.Record(ctx); err == nil { // a long harvest goes on in runs, and the record has when the first began
		defer a.Close()
		if row, err := a.DB.FindHarvest(ctx, b.ID); err == nil && row.ID == b.ID && row.CompletedAt == nil {
			b.Paused = row.Paused
			if row.StartedAt.Before(at) {
				at = row.StartedAt
			}
		}
	}
	b.Since, b.NotTaken = &at, optionsNotTaken(asked, runs.Harvest.Options)
}

// startedWith reads from a workflow's history with what it was started, and when.
func startedWith(ctx context.Context, t client.Client, id string, params any) (at time.Time, err error) {
	first, err := t.GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
	if err != nil {
		return at, err
	}
	return first.GetEventTime().AsTime(), converter.GetDefaultDataConverter().FromPayloads(first.GetWorkflowExecutionStartedEventAttributes().GetInput(), params)
}

func printStarted(c *cli, b startedHarvest) error {
	did := "started"
	if b.Joined {
		did = strings.ReplaceAll(b.words(), "; ", "\n  ")
	}
	return c.Say(b, "%s %s\nwatch it:  starter watch %s\n", b.ID, did, b.ID)
}

// hintNotTaken says before a harvest is watched what it does not take.
func hintNotTaken(c *cli, b startedHarvest) {
	if len(b.NotTaken) > 0 || b.Paused {
		fmt.Fprintf(c.Err, "hint: %s %s\n", b.ID, b.words())
	}
}
