package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gleaner/internal/devstack"
	"gleaner/internal/fetch"
	"gleaner/internal/service/program"
	"gleaner/worker/pool"
)

// patience is how long Temporal may be silent before somebody who waits is told.
const patience = 5 * time.Second

// insist calls do again while the server does not answer within the SDK's ten seconds, for
// at most a minute. What do asks for may have been done nevertheless.
func insist(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := do()
		var late *serviceerror.DeadlineExceeded
		if !errors.As(err, &late) && !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return err
		}
	}
}

// await waits for the result of a workflow, as long as it takes. While Temporal
// is away the work goes on or is taken up again, so that is told and waited for; but
// not where it was a "starter dev" that ended, which nobody but a person brings back.
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
		lost := err != nil && ctx.Err() == nil
		if _, up := devstack.Find(c.devFolder); lost && c.devFolder != "" && !up {
			return program.Unreachable{Reason: fmt.Errorf("`starter dev` has ended; start it again, and %s goes on by itself", strings.TrimPrefix(id, "harvest/"))}
		}
		if lost != away {
			away = lost
			c.sayWhetherAway(id, away)
		}
	}
}

func (c *cli) sayWhetherAway(id string, away bool) {
	if away {
		fmt.Fprintf(c.Err, "Temporal does not answer (TEMPORAL_ADDRESS); %s goes on when it is back, and is waited for here\n", id)
		return
	}
	fmt.Fprintf(c.Err, "Temporal answers again; waiting for %s\n", id)
}

// troubleLook is how often what fails is asked for.
const troubleLook = 2 * time.Second

// sayTroubles says of work what begins to fail, and what does so no longer, and
// keeps what it does. While Temporal is away nothing is known, which await says.
func (c *cli) sayTroubles(ctx context.Context, s sight, ask func(context.Context) (pool.Seen, error)) {
	said := map[string]bool{}
	for ctx.Err() == nil {
		asked, cancel := context.WithTimeout(ctx, patience)
		seen, err := ask(asked)
		cancel()
		if err == nil {
			s.does(seen.Doing)
			c.sayChanged(said, seen.Troubles)
		}
		_ = fetch.Wait(ctx, troubleLook)
	}
}

func (c *cli) sayChanged(said map[string]bool, now []pool.Trouble) {
	say := func(what string) { fmt.Fprintln(c.Err, what) }
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
		space    *serviceerror.NamespaceNotFound
		denied   *serviceerror.PermissionDenied
		argument *serviceerror.InvalidArgument
	)
	return errors.As(err, &failed) || notThere(err) || errors.As(err, &space) || errors.As(err, &denied) || errors.As(err, &argument)
}
