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
	"gleaner/workflows"
)

// begun is a harvest that a command started, or that it found running.
type begun struct {
	activities.Harvest

	Joined   bool
	Since    *time.Time
	NotTaken []notTaken
}

// begunSaid is begun as scripts read it.
type begunSaid struct {
	Harvest  string     `json:"harvest"`
	Workflow string     `json:"workflow"`
	Joined   bool       `json:"joined"`
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

// without are the options asked that a harvest runs without.
func without(asked, runs activities.HarvestOptions) (left []notTaken) {
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
func (b begun) words() string {
	since := ""
	if b.Since != nil {
		since = " since " + b.Since.Local().Format(time.DateTime)
	}
	said := "is running already" + since + ", with the options that it was started with"
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
	}
	if len(b.NotTaken) > 0 {
		said += fmt.Sprintf("; `starter cancel %s` and, when it has ended, the same command take what is asked", b.ID)
	}
	return said
}

// join says how a harvest that was found running differs from what was asked. What it
// runs with is in its history; while that cannot be read nothing is said of it.
func (c *cli) join(ctx context.Context, t client.Client, h activities.Harvest, asked activities.HarvestOptions) begun {
	b := begun{Harvest: h, Joined: true}
	events := t.GetWorkflowHistory(ctx, workflows.HarvestID(h.ID), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !events.HasNext() {
		return b
	}
	first, err := events.Next()
	if err != nil {
		return b
	}
	var runs workflows.HarvestParams
	if err := converter.GetDefaultDataConverter().FromPayloads(first.GetWorkflowExecutionStartedEventAttributes().GetInput(), &runs); err != nil {
		return b
	}
	at := first.GetEventTime().AsTime()
	if a, err := c.Record(ctx); err == nil { // a long harvest goes on in runs, and the record has when the first began
		defer a.Close()
		if row, err := a.DB.FindHarvest(ctx, h.ID); err == nil && row.ID == h.ID && row.CompletedAt == nil && row.StartedAt.Before(at) {
			at = row.StartedAt
		}
	}
	b.Since, b.NotTaken = &at, without(asked, runs.Harvest.Options)
	return b
}

func (c *cli) sayBegun(b begun) error {
	did := "started"
	if b.Joined {
		did = strings.ReplaceAll(b.words(), "; ", "\n  ")
	}
	return c.Say(begunSaid{b.ID, workflows.HarvestID(b.ID), b.Joined, b.Since, b.NotTaken}, "%s %s\nwatch it:  starter watch %s\n", b.ID, did, b.ID)
}

// notTakenHint says before a harvest is watched what it does not take.
func (c *cli) notTakenHint(b begun) {
	if len(b.NotTaken) > 0 {
		fmt.Fprintf(c.Err, "hint: %s %s\n", b.ID, b.words())
	}
}

// tooLateHoldings says that what the library holds is subtracted when a harvest begins.
func (c *cli) tooLateHoldings(all []begun) {
	for _, b := range all {
		if b.Joined {
			fmt.Fprintf(c.Err, "hint: %s subtracted what the library held when it began; what --holdings names is kept, and counts from the next harvest on\n", b.ID)
		}
	}
}
