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
	"gleaner/internal/guard"
	"gleaner/internal/harvest"
	"gleaner/workflows"
)

// Trouble is work that fails now and is tried again, or that failed and runs again.
type Trouble struct {
	What    string    `json:"what"` // an activity, or a host's crawl
	Attempt int       `json:"attempt"`
	Since   time.Time `json:"since,omitzero"` // the first attempt that failed, where that is known
	Last    time.Time `json:"last,omitzero"`  // the last one, where that is known
	Runs    bool      `json:"runs,omitempty"` // since Last
	Error   string    `json:"error"`
}

// String says it to a person in a line.
func (t Trouble) String() string {
	when := ""
	switch {
	case !t.Since.IsZero():
		when = ", since " + t.Since.Local().Format(time.DateTime)
	case !t.Last.IsZero():
		when = ", last tried " + t.Last.Local().Format(time.DateTime)
	}
	why := whose.ReplaceAllString(t.Error, "")
	if why == silent {
		why = "its worker fell silent"
	}
	if t.Runs {
		return fmt.Sprintf("%s failed, and runs again since %s (attempt %d): %s", t.What, t.Last.Local().Format(time.DateTime), t.Attempt, why)
	}
	return fmt.Sprintf("%s fails and is tried again (attempt %d%s): %s", t.What, t.Attempt, when, why)
}

// whose is what an error of an activity begins with, silent what the server says of one
// that is not heard of.
var whose = regexp.MustCompile(`^activity error \(type: [^)]*\): `)

const silent = "activity Heartbeat timeout (type: Heartbeat)"

// Seen is what the servers know of a harvest under way.
type Seen struct {
	Troubles []Trouble
	Doing    []string // what its own work said last of how far it is
}

// Troubles lists what fails of a harvest: its own work, its search for homepages,
// and the crawls that it waits for. It is the servers' word, so it needs no worker
// but to tell which crawls are waited for.
func Troubles(ctx context.Context, c client.Client, harvest string) ([]Trouble, error) {
	seen, err := Look(ctx, c, harvest)
	return seen.Troubles, err
}

// Look asks what a harvest does, and what of it fails.
func Look(ctx context.Context, c client.Client, name string) (Seen, error) {
	id := workflows.HarvestID(name)
	ids := []string{id, id + "/homepages"}
	own := len(ids)
	waits, _ := temporal{c}.Waits(ctx, name) // without a worker nobody knows
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

// LookAt asks what one workflow does, and what of it fails. A site's slices are counted by the workflow itself, all
// other work by the server.
func LookAt(ctx context.Context, c client.Client, id string) (all Seen, err error) {
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	if _, ok := errors.AsType[*serviceerror.NotFound](err); ok {
		return all, nil
	}
	if err != nil {
		return all, err
	}
	if d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return all, nil // its memo says what failed before it ended
	}
	convert := converter.GetDefaultDataConverter()
	var own workflows.Trouble
	memo := d.GetWorkflowExecutionInfo().GetMemo().GetFields()[workflows.MemoTrouble]
	goesOn := slices.ContainsFunc(d.GetPendingActivities(), func(a *workflow.PendingActivityInfo) bool {
		var did crawl.Progress // since what failed last
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

// pending is the trouble of an activity that failed before and is to be tried again.
func pending(id string, a *workflow.PendingActivityInfo) Trouble {
	t := Trouble{What: id + " " + a.GetActivityType().GetName(), Attempt: int(a.GetAttempt()), Error: a.GetLastFailure().GetMessage()}
	// While the next attempt waits there is no time at which the last one began.
	if at := cmp.Or(a.GetLastStartedTime(), a.GetLastAttemptCompleteTime()); at != nil {
		t.Last = at.AsTime()
		t.Runs = a.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED
	}
	return t
}
