package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/harvest/report"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/service/terminal"
	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
	"gleaner/worker/pool"
	"gleaner/workflows"
)

func watchCommand(c *cli) *cobra.Command {
	return &cobra.Command{Use: "watch HARVEST", Short: "Show a harvest's progress until it ends", Args: args(1, harvestArg),
		Example: "  starter watch conf/webdb",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			h, err := findHarvest(ctx, a.DB, args[0])
			if id := unrecorded(ctx, c, args[0], err); id != "" {
				return waitsForWorker(id)
			}
			if err != nil {
				return err
			}
			return c.onTemporal(ctx, func(t client.Client) error { return c.follow(ctx, t, h.ID) })
		})}
}

// follow shows progress until the harvest ends.
func (c *cli) follow(ctx context.Context, t client.Client, id string) error {
	return c.withRecord(ctx, func(a *app.App) error {
		cfg, err := c.Settings()
		if err != nil {
			return err
		}
		l := &harvestView{db: a.DB, id: id, pace: cfg.Web.Delay, begun: time.Now()}
		var result workflows.HarvestResult
		err = c.awaitShown(ctx, t, workflows.HarvestID(id), l, func(ctx context.Context) (pool.Seen, error) { return pool.Look(ctx, t, id) }, &result)
		if ctx.Err() != nil && !c.JSON {
			how := "continues in the background\nwatch it:  starter watch"
			if l.h.Paused {
				how = "is paused\nlet it go on:  starter resume"
			}
			fmt.Fprintf(c.Err, "%s %s %s\nend it:    starter cancel %s\n", id, how, id, id)
		}
		if err != nil {
			return endedBadly(ctx, a.DB, id, err)
		}
		if gleaner.ParseGoal(id).Site != "" {
			var said strings.Builder
			gave := sayAcademic(ctx, &said, a.DB, id)
			return errors.Join(c.Say(result, "%s", said.String()), gave)
		}
		s := result.Summary
		return c.Say(result, "%s complete: %d %s, %d held, %d wanted, %d found, %d missing (recall %s)\nwhy:  starter report %s\n",
			id, s.Published, report.Whole(id), s.Held, s.Wanted, s.Found, s.Missing, report.RecallOf(s.Recall, s.Wanted), id)
	})
}

// liveView is work as it is shown to somebody who waits for it.
type liveView interface {
	terminal.View
	refresh(ctx context.Context) error // asks the record once
	setDoing(doing []string)           // keeps what the work says of itself
}

// awaitShown is await while the work is shown, with what of it fails.
func (c *cli) awaitShown(ctx context.Context, t client.Client, id string, s liveView, ask func(context.Context) (pool.Seen, error), result any) error {
	_ = s.refresh(ctx) // keepRefreshing asks again
	c.Settle()
	live := c.Err.Live(s)
	watch, stop := context.WithCancel(ctx)
	shown, told := guard.Go(func() { keepRefreshing(watch, s) }), guard.Go(func() { sayTroubles(watch, c, s, ask) })
	err := c.await(ctx, t, id, result)
	stop()
	<-shown
	<-told
	if ctx.Err() == nil {
		_ = s.refresh(ctx)
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

// keepRefreshing looks every second, and a busy database less often. What it cannot tell
// now (work that has not begun, a database that is away) it asks again.
func keepRefreshing(ctx context.Context, s liveView) {
	for ctx.Err() == nil {
		began := time.Now()
		_ = s.refresh(ctx)
		_ = fetch.Wait(ctx, max(time.Second, 10*time.Since(began)))
	}
}

// troubleLook is how often what fails is asked for.
const troubleLook = 2 * time.Second

// sayTroubles says of work what begins to fail, and what does so no longer, and
// keeps what it does. While Temporal is away nothing is known, which await says.
func sayTroubles(ctx context.Context, c *cli, s liveView, ask func(context.Context) (pool.Seen, error)) {
	said := map[string]bool{}
	for ctx.Err() == nil {
		asked, cancel := context.WithTimeout(ctx, patience)
		seen, err := ask(asked)
		cancel()
		if err == nil {
			s.setDoing(seen.Doing)
			said = sayChanged(c, said, seen.Troubles)
		}
		_ = fetch.Wait(ctx, troubleLook)
	}
}

// sayChanged says what fails that did not, and what no longer does, and returns what fails.
func sayChanged(c *cli, said map[string]bool, now []pool.Trouble) map[string]bool {
	fails := map[string]bool{}
	for _, t := range now {
		if fails[t.What] = true; !said[t.What] {
			fmt.Fprintln(c.Err, t)
		}
	}
	for what := range said {
		if !fails[what] {
			fmt.Fprintln(c.Err, what, "fails no more")
		}
	}
	return fails
}
