package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/workflows"
)

const aHarvest = "a harvest: its id (conf/webdb/1998-2004), or its venue, site, author or list (conf/webdb, site:URL, author:65/2885, papers:NAME)"

// hasEnded tells whether a workflow does not run, or ended before it did what it was asked for.
func hasEnded(err error) bool {
	var ended *temporal.ApplicationError
	return notThere(err) || errors.As(err, &ended) && ended.Type() == "AcceptedUpdateCompletedWorkflow"
}

func notRunning(h store.Harvest, err error) error {
	if hasEnded(err) {
		return program.Unknown{Reason: fmt.Errorf("%s does not run (it is %s); `%s` starts it again", h.ID, h.Stage, h.Command())}
	}
	return err
}

// unrecorded is the id of a harvest that was begun and is not on record yet, where err says
// that there is none: a worker writes it there. Else it is "".
func unrecorded(c *cli, ctx context.Context, name string, err error) (id string) {
	if program.ExitCode(err) != program.ExitUnknown {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	goal, years := gleaner.SplitHarvest(spelling(strings.TrimPrefix(name, "harvest/")))
	_ = c.onTemporal(ctx, func(t client.Client) error {
		asked := gleaner.ParseGoal(goal).Harvest(years)
		is, err := harvestRuns(ctx, t, asked)
		if is {
			id = asked
		}
		return err
	})
	return id
}

// harvestRuns reports whether the workflow of a harvest runs.
func harvestRuns(ctx context.Context, t client.Client, id string) (bool, error) {
	d, err := t.DescribeWorkflowExecution(ctx, workflows.HarvestID(id), "")
	if notThere(err) {
		return false, nil
	}
	return d.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, err
}

func waitsForWorker(id string) error {
	return program.Unknown{Reason: fmt.Errorf("%s waits for a worker to begin it; `starter cancel %[1]s` ends it", id)}
}

// What a cancellation comes to.
const (
	isCancelled        = "is being cancelled"
	isCancelledAlready = "is being cancelled already; it ends when what is under way has been written"
)

// cancelWorkflow ends a workflow that runs, and returns what that comes to.
func cancelWorkflow(ctx context.Context, t client.Client, id string) (did string, err error) {
	d, err := t.DescribeWorkflowExecution(ctx, id, "")
	if err == nil && d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		err = serviceerror.NewNotFound("its workflow has ended")
	}
	if err == nil && d.GetWorkflowExtendedInfo().GetCancelRequested() {
		return isCancelledAlready, nil
	}
	if err == nil {
		err = t.CancelWorkflow(ctx, id, "")
	}
	return isCancelled, err
}

// known reports whether there is such a site, and whether anything failed for the
// reason named: a misspelt one would retry nothing, and not say so.
func known(ctx context.Context, db *store.DB, h store.Harvest, what activities.Retry) error {
	if err := hasSite(ctx, db, what.Host); err != nil {
		return err
	}
	if what.Reason == "" {
		return nil
	}
	failures, err := db.Failures(ctx, store.RetryFilter{Harvest: h.ID, Host: what.Host})
	if err != nil || slices.ContainsFunc(failures, func(f store.Failure) bool { return f.Reason == what.Reason }) {
		return err
	}
	return fmt.Errorf("%w: nothing of %s failed as %q; `starter stats failures %s` lists the reasons", program.ErrUsage, h.ID, what.Reason, h.ID)
}

// retry tells a running harvest, or starts one that begins with what was left
// open. It returns what was put back; of one that is started, what will be (now
// is false).
func retry(ctx context.Context, t client.Client, db *store.DB, h store.Harvest, what activities.Retry) (did activities.Requeued, now bool, err error) {
	if h.CompletedAt == nil {
		did, err := retryRunning(ctx, t, h.ID, what)
		if !hasEnded(err) {
			return did, true, err
		}
	}
	again, err := activities.HarvestOf(h)
	if err != nil {
		return did, false, err
	}
	again.Options.Again = activities.AgainNone // what did not fail is not asked again
	what.Harvest = h.ID
	if did, err = somethingLeft(ctx, db, h, what); err != nil {
		return did, false, err
	}
	_, err = startHarvest(ctx, t, workflows.HarvestParams{Harvest: again, Stage: gleaner.StageCrawl, Retry: &what})
	return did, false, err
}

// taken counts what a retry of a harvest that does not run would take up.
func taken(ctx context.Context, db *store.DB, h store.Harvest, what activities.Retry) (would activities.Requeued, err error) {
	f := store.RetryFilter{Harvest: h.ID, Host: what.Host, Reason: what.Reason, OlderThan: what.OlderThan}
	q, err := db.Meant(ctx, f)
	if err != nil {
		return would, err
	}
	would.Authors, would.Sources = q.Authors, q.Papers+q.Copies
	if would.URLs, err = db.FailedURLs(ctx, f); err != nil {
		return would, err
	}
	if would.Sites, err = db.RetriedSites(ctx, f); err != nil {
		return would, err
	}
	would.Stalled, err = db.StalledDocuments(ctx, f)
	return would, err
}

// somethingLeft returns what a retry of a harvest that does not run takes up. Where that is
// nothing of a complete one, the error names the reasons which a retry has to name.
func somethingLeft(ctx context.Context, db *store.DB, h store.Harvest, what activities.Retry) (would activities.Requeued, err error) {
	would, err = taken(ctx, db, h, what)
	if err != nil || h.Stage != gleaner.StageComplete || would != (activities.Requeued{}) {
		return would, err
	}
	failures, err := db.Failures(ctx, store.RetryFilter{Harvest: h.ID, Host: what.Host})
	var named []string
	for _, failure := range failures {
		named = append(named, fmt.Sprintf("%s (%s)", failure.Reason, failure.Words()))
	}
	if named == nil {
		return would, cmp.Or[error](err, program.Unknown{Reason: fmt.Errorf("nothing of %s failed that could be tried again", h.ID)})
	}
	return would, fmt.Errorf("%w: nothing would be tried again, as this is only where it is named as the reason: %s",
		program.ErrUsage, strings.Join(named, ", "))
}

// retryRunning tells a harvest that runs, and returns what it put back.
func retryRunning(ctx context.Context, t client.Client, harvest string, what activities.Retry) (did activities.Requeued, err error) {
	handle, err := t.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID:   workflows.HarvestID(harvest),
		UpdateName:   workflows.UpdateRetryWhat,
		Args:         []any{what},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, &did)
	}
	return did, err
}

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
func join(c *cli, ctx context.Context, t client.Client, h activities.Harvest, asked activities.HarvestOptions) begun {
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

func sayBegun(c *cli, b begun) error {
	did := "started"
	if b.Joined {
		did = strings.ReplaceAll(b.words(), "; ", "\n  ")
	}
	return c.Say(begunSaid{b.ID, workflows.HarvestID(b.ID), b.Joined, b.Since, b.NotTaken}, "%s %s\nwatch it:  starter watch %s\n", b.ID, did, b.ID)
}

// notTakenHint says before a harvest is watched what it does not take.
func notTakenHint(c *cli, b begun) {
	if len(b.NotTaken) > 0 {
		fmt.Fprintf(c.Err, "hint: %s %s\n", b.ID, b.words())
	}
}

// tooLateHoldings says that what the library holds is subtracted when a harvest begins.
func tooLateHoldings(c *cli, all []begun) {
	for _, b := range all {
		if b.Joined {
			fmt.Fprintf(c.Err, "hint: %s subtracted what the library held when it began; what --holdings names is kept, and counts from the next harvest on\n", b.ID)
		}
	}
}
