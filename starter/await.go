package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
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
	if c.err.Terminal() {
		fmt.Fprintln(c.err) // below the line of progress
	}
	if away {
		fmt.Fprintf(c.err, "Temporal does not answer (TEMPORAL_ADDRESS); %s goes on when it is back, and is waited for here\n", id)
		return
	}
	fmt.Fprintf(c.err, "Temporal answers again; waiting for %s\n", id)
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
