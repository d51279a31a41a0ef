package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/devstack"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/internal/service/terminal"
	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
	"gleaner/worker/pool"
	"gleaner/workflows"
)

// follow shows progress until the harvest ends.
func (c *cli) follow(ctx context.Context, t client.Client, id string) error {
	a, err := c.Record(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	cfg, err := c.Settings()
	if err != nil {
		return err
	}
	l := &looking{db: a.DB, id: id, pace: cfg.Web.Delay, begun: time.Now()}
	var result workflows.HarvestResult
	err = c.awaitInSight(ctx, t, workflows.HarvestID(id), l, func(ctx context.Context) (pool.Seen, error) { return pool.Look(ctx, t, id) }, &result)
	if ctx.Err() != nil && !c.JSON {
		fmt.Fprintf(c.Err, "%s continues in the background\nwatch it:  starter watch %s\nend it:    starter cancel %s\n", id, id, id)
	}
	if err != nil {
		return endedBadly(ctx, a.DB, id, err)
	}
	if gleaner.ParseGoal(id).Site != "" {
		var said strings.Builder
		gave := sayAcademic(ctx, &said, a.DB, id)
		return errors.Join(c.Print(result, func(w io.Writer) error { _, err := io.WriteString(w, said.String()); return err }), gave)
	}
	return c.Print(result, func(w io.Writer) error {
		s := result.Summary
		_, err := fmt.Fprintf(w, "%s complete: %d %s, %d held, %d wanted, %d found, %d missing (recall %s)\nwhy:  starter report %s\n",
			id, s.Published, report.Whole(id), s.Held, s.Wanted, s.Found, s.Missing, report.RecallOf(s.Recall, s.Wanted), id)
		return err
	})
}

// sight is work as it is shown to somebody who waits for it.
type sight interface {
	terminal.View
	look(ctx context.Context) error // asks the record once
	does(doing []string)            // keeps what the work says of itself
}

// awaitInSight is await while the work is shown, with what of it fails.
func (c *cli) awaitInSight(ctx context.Context, t client.Client, id string, s sight, ask func(context.Context) (pool.Seen, error), result any) error {
	_ = s.look(ctx) // keepLooking asks again
	c.Settle()
	live := c.Err.Live(s)
	watch, stop := context.WithCancel(ctx)
	shown, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(shown)
		keepLooking(watch, s)
	}()
	go func() {
		defer close(told)
		sayTroubles(c, watch, s, ask)
	}()
	err := c.await(ctx, t, id, result)
	stop()
	<-shown
	<-told
	if ctx.Err() == nil {
		_ = s.look(ctx)
	}
	live.End()
	return err
}

// sayAcademic says what the harvest of a site came to. That nothing answered is an error.
func sayAcademic(ctx context.Context, w io.Writer, db *store.DB, id string) error {
	n, err := db.HarvestCounts(ctx, id)
	if err != nil {
		return err
	}
	answer, err := report.AnswerOf(ctx, db, id)
	if err != nil {
		return err
	}
	if n.Pages+n.Documents == 0 {
		why := "its address was not asked for"
		if site, err := db.Site(ctx, weburl.Host(gleaner.ParseGoal(id).Site)); answer != "" {
			why = "its address answered no page: " + answer
		} else if err == nil && site.Reason != "" {
			why = site.Reason
		}
		return fmt.Errorf("%s gave nothing: %s; `starter report %[1]s` says more", id, why)
	}
	if answer != "" {
		answer = "the address itself answered no page: " + answer + "\n"
	}
	_, err = fmt.Fprintf(w, "%s complete: %s of %s, %s read\n%sthey are:  starter export %s\n",
		id, text.Count(n.Accepted, "academic document"), text.Count(n.Documents, "file"), text.Count(n.Pages, "page"), answer, id)
	return err
}

// endedBadly says in one line why a harvest ended, as the record has it.
func endedBadly(ctx context.Context, db *store.DB, id string, err error) error {
	if _, ok := errors.AsType[program.Unreachable](err); ok {
		return err
	}
	h, herr := db.FindHarvest(ctx, id)
	if _, ok := errors.AsType[*temporal.TerminatedError](err); ok && herr == nil {
		return fmt.Errorf("%s: its workflow was terminated; `%s` goes on from what is known", id, h.Command())
	}
	if herr != nil || h.Note == "" {
		return err
	}
	why := fmt.Errorf("%s %s %s", id, h.Stage, h.Note)
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && app.Type() == activities.ErrTypeInput {
		return program.Unknown{Reason: why}
	}
	return why
}

// keepLooking looks every second, and a busy database less often. What it cannot tell
// now (work that has not begun, a database that is away) it asks again.
func keepLooking(ctx context.Context, s sight) {
	for ctx.Err() == nil {
		began := time.Now()
		_ = s.look(ctx)
		_ = fetch.Wait(ctx, max(time.Second, 10*time.Since(began)))
	}
}

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
			sayWhetherAway(c, id, away)
		}
	}
}

func sayWhetherAway(c *cli, id string, away bool) {
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
func sayTroubles(c *cli, ctx context.Context, s sight, ask func(context.Context) (pool.Seen, error)) {
	said := map[string]bool{}
	for ctx.Err() == nil {
		asked, cancel := context.WithTimeout(ctx, patience)
		seen, err := ask(asked)
		cancel()
		if err == nil {
			s.does(seen.Doing)
			sayChanged(c, said, seen.Troubles)
		}
		_ = fetch.Wait(ctx, troubleLook)
	}
}

func sayChanged(c *cli, said map[string]bool, now []pool.Trouble) {
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
