package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/harvest"
	"gleaner/internal/harvest/reconcile"
	"gleaner/internal/record/store"
	"gleaner/workflows"
)

// Trouble is work that failed and is or will be retried, or that runs again; or a harvest whose
// workflow was terminated, of Attempt 0.
type Trouble struct {
	What    string    `json:"what"` // an activity, or a host's crawl
	Attempt int       `json:"attempt"`
	Since   time.Time `json:"since,omitzero"` // the first failed attempt, if known
	Last    time.Time `json:"last,omitzero"`  // the last failed attempt, if known
	Runs    bool      `json:"runs,omitempty"` // since Last
	Error   string    `json:"error"`
}

// String returns the trouble as a line of a command's output.
func (t Trouble) String() string { return t.Words(time.DateTime) }

// Words returns the trouble as a line for people, with moments in a form.
func (t Trouble) Words(form string) string {
	when := ""
	switch {
	case !t.Since.IsZero():
		when = ", since " + t.Since.Local().Format(form)
	case !t.Last.IsZero():
		when = ", last tried " + t.Last.Local().Format(form)
	}
	why := whose.ReplaceAllString(t.Error, "")
	switch {
	case t.Attempt == 0:
		return t.What + " does not run: " + why
	case why == silent:
		why = "its worker fell silent"
	}
	if t.Runs {
		return fmt.Sprintf("%s failed, and runs again since %s (attempt %d): %s", t.What, t.Last.Local().Format(form), t.Attempt, why)
	}
	return fmt.Sprintf("%s fails and is tried again (attempt %d%s): %s", t.What, t.Attempt, when, why)
}

// whose matches the prefix of an activity's error; silent is the server's error for a missing
// heartbeat.
var whose = regexp.MustCompile(`^activity error \(type: [^)]*\): `)

const silent = "activity Heartbeat timeout (type: Heartbeat)"

// Seen is the servers' state of a running harvest.
type Seen struct {
	Troubles []Trouble
	Doing    []string // latest progress of its own work
}

// Troubles returns the failures of a harvest: of its own work, its search for homepages, and the
// crawls that it waits for. It reads them from the servers; only the list of crawls needs a
// worker.
func Troubles(ctx context.Context, c client.Client, harvest string) ([]Trouble, error) {
	seen, err := Look(ctx, c, harvest)
	return seen.Troubles, err
}

// Look returns the current work of a harvest and its failures.
func Look(ctx context.Context, c client.Client, name string) (Seen, error) {
	id := workflows.HarvestID(name)
	if status, _ := (temporal{c}).Status(ctx, id); status == reconcile.Terminated {
		goal, years := gleaner.SplitHarvest(name)
		why := fmt.Sprintf("its workflow was terminated; `%s` goes on from what is known; within some ten minutes a worker "+
			"records that it failed, and it can be run again", store.Harvest{Venue: goal, Years: years}.Command())
		return Seen{Troubles: []Trouble{{What: id, Error: why}}}, nil
	}
	ids := []string{id, id + "/homepages"}
	own := len(ids)
	waits, _ := temporal{c}.Waits(ctx, id) // unknown without a worker
	for _, host := range waits {
		ids = append(ids, workflows.SiteID(host))
	}
	found := make([]Seen, len(ids))
	g, ctx := guard.WithContext(ctx)
	g.SetLimit(8)
	for i, id := range ids {
		g.Go(func() (err error) {
			found[i], err = LookAt(ctx, c, id)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return Seen{}, err
	}
	var all Seen
	for i, f := range found {
		all.Troubles = append(all.Troubles, f.Troubles...)
		if i < own {
			all.Doing = append(all.Doing, f.Doing...)
		}
	}
	return all, nil
}

// LookAt returns the current work of one workflow and its failures. A site's workflow counts its
// slices itself, the server counts other attempts.
func LookAt(ctx context.Context, c client.Client, id string) (all Seen, err error) {
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	if _, ok := errors.AsType[*serviceerror.NotFound](err); ok {
		return all, nil
	}
	if err != nil {
		return all, err
	}
	if d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return all, nil // its memo holds failures from before its end
	}
	convert := converter.GetDefaultDataConverter()
	var own workflows.Trouble
	memo := d.GetWorkflowExecutionInfo().GetMemo().GetFields()[workflows.MemoTrouble]
	goesOn := slices.ContainsFunc(d.GetPendingActivities(), func(a *workflow.PendingActivityInfo) bool {
		var did crawl.Progress // progress since the last failure
		return a.GetActivityType().GetName() == slice && convert.FromPayloads(a.GetHeartbeatDetails(), &did) == nil && did.Requests > 0
	})
	if memo != nil && !goesOn && convert.FromPayload(memo, &own) == nil && own.Attempt > 0 {
		all.Troubles = append(all.Troubles, Trouble{What: id, Attempt: own.Attempt, Since: own.Since, Error: own.Error})
	}
	for _, a := range d.GetPendingActivities() {
		var said string
		var asked harvest.Asked
		switch beat := a.GetHeartbeatDetails(); {
		case convert.FromPayloads(beat, &said) == nil && said != "":
			all.Doing = append(all.Doing, said)
		case convert.FromPayloads(beat, &asked) == nil && asked.Of > 0:
			all.Doing = append(all.Doing, fmt.Sprintf("%d of %d papers", asked.Done, asked.Of))
		}
		why := a.GetLastFailure()
		if why == nil || !activities.Failed(why.GetApplicationFailureInfo().GetType()) {
			continue
		}
		all.Troubles = append(all.Troubles, pending(id, a))
	}
	return all, nil
}

// pending returns the trouble of a failed activity that will be retried.
func pending(id string, a *workflow.PendingActivityInfo) Trouble {
	t := Trouble{What: id + " " + a.GetActivityType().GetName(), Attempt: int(a.GetAttempt()), Error: a.GetLastFailure().GetMessage()}
	// While an attempt is scheduled, the last one has no start time.
	if at := cmp.Or(a.GetLastStartedTime(), a.GetLastAttemptCompleteTime()); at != nil {
		t.Last = at.AsTime()
		t.Runs = a.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED
	}
	return t
}
