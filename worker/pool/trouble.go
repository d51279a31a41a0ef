package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"golang.org/x/sync/errgroup"

	"gleaner/activities"
	"gleaner/workflows"
)

// Trouble is work that fails now and is tried again.
type Trouble struct {
	What    string    `json:"what"` // an activity, or a host's crawl
	Attempt int       `json:"attempt"`
	Since   time.Time `json:"since,omitzero"` // the first attempt that failed, where that is known
	Last    time.Time `json:"last,omitzero"`  // the last one, where that is known
	Error   string    `json:"error"`
}

// String says it to a person in a line.
func (t Trouble) String() string {
	when := "last tried " + t.Last.Local().Format(time.DateTime)
	if !t.Since.IsZero() {
		when = "since " + t.Since.Local().Format(time.DateTime)
	}
	return fmt.Sprintf("%s fails and is tried again (attempt %d, %s): %s", t.What, t.Attempt, when, t.Error)
}

// Troubles lists what fails of a harvest: its own work, its search for homepages,
// and the crawls that it waits for. It is the servers' word, so it needs no worker
// but to tell which crawls are waited for.
func Troubles(ctx context.Context, c client.Client, harvest string) ([]Trouble, error) {
	id := workflows.HarvestID(harvest)
	ids := []string{id, id + "/homepages"}
	waits, _ := temporal{c}.Waits(ctx, harvest) // without a worker nobody knows
	for _, host := range waits {
		ids = append(ids, workflows.SiteID(host))
	}
	found := make([][]Trouble, len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for i, id := range ids {
		g.Go(func() (err error) {
			found[i], err = troublesOf(ctx, c, id)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var all []Trouble
	for _, f := range found {
		all = append(all, f...)
	}
	return all, nil
}

// troublesOf asks for one workflow. A site's slices are counted by the workflow
// itself, all other work by the server.
func troublesOf(ctx context.Context, c client.Client, id string) ([]Trouble, error) {
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	var none *serviceerror.NotFound
	if errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Trouble
	var own workflows.Trouble
	memo := d.GetWorkflowExecutionInfo().GetMemo().GetFields()[workflows.MemoTrouble]
	if memo != nil && converter.GetDefaultDataConverter().FromPayload(memo, &own) == nil && own.Attempt > 0 {
		all = append(all, Trouble{What: id, Attempt: own.Attempt, Since: own.Since, Error: own.Error})
	}
	for _, a := range d.GetPendingActivities() {
		why := a.GetLastFailure()
		if why == nil || why.GetApplicationFailureInfo().GetType() == activities.ErrTypePaused {
			continue
		}
		all = append(all, Trouble{What: id + " " + a.GetActivityType().GetName(), Attempt: int(a.GetAttempt()), Last: a.GetLastStartedTime().AsTime(), Error: why.GetMessage()})
	}
	return all, nil
}
