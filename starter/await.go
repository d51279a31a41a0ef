package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gleaner/internal/fetch"
	"gleaner/worker/pool"
)

// patience is how long Temporal may be silent before somebody who waits is told.
const patience = 5 * time.Second

// await waits for the result of a workflow, as long as it takes. While Temporal
// is away the work goes on or is taken up again, so that is told and waited for.
func (c *cli) await(ctx context.Context, t client.Client, id string, result any) error {
	for away := false; ; {
		asked, cancel := context.WithTimeout(ctx, patience)
		err := t.GetWorkflow(asked, id, "").Get(asked, result)
		cancel()
		if err == nil || ctx.Err() != nil || ended(err) {
			return err
		}
		asked, cancel = context.WithTimeout(ctx, patience)
		_, err = t.CheckHealth(asked, &client.CheckHealthRequest{})
		if err != nil {
			<-asked.Done() // no faster than that
		}
		cancel()
		if lost := err != nil && ctx.Err() == nil; lost != away {
			away = lost
			c.sayWhetherAway(id, away)
		}
	}
}

func (c *cli) sayWhetherAway(id string, away bool) {
	if c.Err.Terminal() {
		fmt.Fprintln(c.Err) // below the line of progress
	}
	if away {
		fmt.Fprintf(c.Err, "Temporal does not answer (TEMPORAL_ADDRESS); %s goes on when it is back, and is waited for here\n", id)
		return
	}
	fmt.Fprintf(c.Err, "Temporal answers again; waiting for %s\n", id)
}

// troubleLook is how often what fails is asked for.
const troubleLook = 2 * time.Second

// sayTroubles says of a harvest what begins to fail, and what does so no longer.
// While Temporal is away nothing is known, which await says.
func (c *cli) sayTroubles(ctx context.Context, t client.Client, harvest string) {
	said := map[string]bool{}
	for ctx.Err() == nil {
		asked, cancel := context.WithTimeout(ctx, patience)
		now, err := pool.Troubles(asked, t, harvest)
		cancel()
		if err == nil {
			c.sayChanged(said, now)
		}
		_ = fetch.Wait(ctx, troubleLook)
	}
}

func (c *cli) sayChanged(said map[string]bool, now []pool.Trouble) {
	say := func(what string) {
		if c.Err.Terminal() {
			fmt.Fprintln(c.Err) // below the line of progress
		}
		fmt.Fprintln(c.Err, what)
	}
	fails := map[string]bool{}
	for _, t := range now {
		if fails[t.What] = true; !said[t.What] {
			say(t.String())
		}
	}
	for what := range said {
		if !fails[what] {
			say(what + " fails no more")
		}
	}
	clear(said)
	maps.Copy(said, fails)
}

// ended reports whether an error is about the workflow, and not about the way to
// Temporal.
func ended(err error) bool {
	var (
		failed   *temporal.WorkflowExecutionError
		none     *serviceerror.NotFound
		space    *serviceerror.NamespaceNotFound
		denied   *serviceerror.PermissionDenied
		argument *serviceerror.InvalidArgument
	)
	return errors.As(err, &failed) || errors.As(err, &none) || errors.As(err, &space) || errors.As(err, &denied) || errors.As(err, &argument)
}
