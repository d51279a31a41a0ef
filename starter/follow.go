package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/internal/service/terminal"
	"gleaner/internal/text"
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
		c.sayTroubles(watch, s, ask)
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
		return fmt.Errorf("%s gave nothing: its address answered no page: %s; `starter report %[1]s` says more", id, cmp.Or(answer, "it was not asked for"))
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
