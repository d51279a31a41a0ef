package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
	"gleaner/workflows"
)

func recrawlCommand(c *cli) *cobra.Command {
	var due, all, wait, warc bool
	var site string
	cmd := &cobra.Command{Use: "recrawl VENUE | HOST | --due", Short: "Ask again for what may have changed",
		Long: `Crawl again the sites of a venue (or all, or one) whose rest is over, and there
the pages that are due. Pages are asked for conditionally: an unchanged one costs
a short answer. What became longer ago unchanged is asked more rarely, what
changed more often; docs/recrawl.md says how. --all asks for everything now, due
or not. To-be-avoided directories are left but for every fifth time.`,
		Example: "  starter recrawl conf/webdb --wait\n  starter recrawl --due\n  starter recrawl --due --warc\n  starter recrawl conf/webdb --all --wait\n  starter cancel recrawl/conf/webdb",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n := len(args)
			n += each.Count([]bool{due, site != ""}, func(given bool) bool { return given })
			if n != 1 {
				return fmt.Errorf("%w: want one of a venue, a host (or --site HOST), or --due", program.ErrUsage)
			}
			if strings.Contains(strings.Join(args, ""), "://") {
				return fmt.Errorf("%w: %s is an address; want a venue, or its host", program.ErrUsage, args[0])
			}
			d := activities.Due{All: all, WARC: warc}
			if len(args) == 1 && strings.Contains(args[0], ".") && !strings.ContainsAny(args[0], "/ ") {
				site = args[0]
			} else if len(args) == 1 {
				a, err := c.Application(cmd.Context())
				if err != nil {
					return err
				}
				name, _ := gleaner.SplitHarvest(args[0])
				d.Of.Venue, err = venueKey(cmd.Context(), a, spelling(name), &sourceFlags{})
				a.Close()
				if err != nil {
					return err
				}
			}
			if site != "" {
				var err error
				if d.Of.Host, err = hostName(site); err != nil {
					return err
				}
			}
			return recrawl(cmd.Context(), c, d, wait)
		}}
	cmd.Flags().BoolVar(&due, "due", false, "every site whose rest is over")
	cmd.Flags().StringVar(&site, "site", "", "one host")
	cmd.Flags().BoolVar(&all, "all", false, "whatever was asked before, due or not")
	cmd.Flags().BoolVar(&warc, "warc", false, warcHelp)
	cmd.Flags().BoolVar(&wait, "wait", false, "end when the recrawl does, and say what it came to")
	return cmd
}

// recrawlID is the workflow id of a recrawl of some sites.
func recrawlID(of store.Selection) string {
	if of.Host != "" {
		return "recrawl/site/" + of.Host
	}
	return workflows.RecrawlID(of.Venue)
}

func recrawl(ctx context.Context, c *cli, d activities.Due, wait bool) error {
	paused, err := hasSites(ctx, c, d.Of)
	if err != nil {
		return err
	}
	return c.onTemporal(ctx, func(t client.Client) error {
		id := recrawlID(d.Of)
		p := workflows.RecrawlParams{Due: d}
		joined, err := startOnce(ctx, t, id, workflows.DescribeRecrawl(p), workflows.RecrawlDue, p)
		if err != nil {
			return err
		}
		hintNoWorker(ctx, c, t)
		if !wait {
			verb := "started"
			if joined {
				verb = "is running already"
			}
			return c.Say(map[string]any{"workflow": id, "joined": joined}, "%s %s%s\n", id, verb, paused)
		}
		return followRecrawl(ctx, c, t, id, d.Of)
	})
}

// hasSites fails where a venue or a host was never crawled: it would be asked
// again in vain, and nobody told. paused says so of a host that is paused.
func hasSites(ctx context.Context, c *cli, of store.Selection) (paused string, err error) {
	if of == (store.Selection{}) {
		return "", nil
	}
	err = c.withRecord(ctx, func(a *app.App) error {
		if err := notBlocked(ctx, a.DB, of.Host); err != nil {
			return err
		}
		any, err := a.DB.AnySite(ctx, of)
		if err == nil && any && of.Host != "" {
			s, err := showSite(ctx, a.DB, of.Host)
			if s.PausedAt != nil {
				paused = ", but " + s.PauseWords(time.DateTime)
			}
			return err
		}
		if err != nil || any {
			return err
		}
		if of.Host != "" {
			return noSite(of.Host, pgx.ErrNoRows)
		}
		return program.Unknown{Reason: fmt.Errorf("%s has no sites; `starter harvest %s --years …` finds them", of.Venue, of.Venue)}
	})
	return paused, err
}

// followRecrawl waits for a recrawl and says what it brought.
func followRecrawl(ctx context.Context, c *cli, t client.Client, id string, of store.Selection) error {
	return c.withRecord(ctx, func(a *app.App) error {
		began := time.Now()
		if d, err := t.DescribeWorkflowExecution(ctx, id, ""); err == nil {
			began = d.GetWorkflowExecutionInfo().GetStartTime().AsTime()
		}
		var r workflows.RecrawlResult
		if err := c.awaitRecrawl(ctx, t, a.DB, id, of, began, &r); err != nil {
			return err
		}
		brought, err := a.DB.Brought(ctx, of, began)
		if err != nil {
			return err
		}
		result := struct {
			workflows.RecrawlResult
			store.Brought
			Why string `json:"why,omitempty"`
		}{RecrawlResult: r, Brought: brought}
		if r.Sites == 0 {
			rest, err := a.DB.Rests(ctx, of)
			if err != nil {
				return err
			}
			result.Why = whyNone(rest)
		}
		return c.Print(result, func(w io.Writer) error {
			if r.Sites == 0 {
				_, err := fmt.Fprintf(w, "no site was asked again: %s\n", result.Why)
				return err
			}
			fmt.Fprintf(w, "%s asked again", text.Count(r.Sites, "site"))
			for _, state := range slices.Sorted(maps.Keys(r.Ended)) {
				fmt.Fprintf(w, ", %d %s", r.Ended[state], state)
			}
			_, err := fmt.Fprintf(w, "\n%s asked, %d unchanged, %d changed or new, %d failed or moved; %s (%d accepted), %s, %d vanished\n",
				text.Count(brought.Asked, "URL"), brought.Unchanged, brought.Changed, brought.Failed, text.Count(brought.Documents, "new document"), brought.Accepted, text.Count(brought.Versions, "new version"), brought.Vanished)
			return err
		})
	})
}

// whyNone says why a recrawl asked nothing.
func whyNone(r store.Rest) string {
	switch {
	case r.Sites == r.Blocked:
		return fmt.Sprintf("of %s every one is on the blacklist or paused (starter sites list)", text.Count(r.Sites, "site"))
	case r.Next == nil:
		return fmt.Sprintf("on %s nothing is asked again by itself; --all asks what is on record", text.Count(r.Sites, "site"))
	}
	return fmt.Sprintf("of %s none is due before %s; --all asks now", text.Count(r.Sites, "site"), r.Next.Local().Format(time.DateTime))
}

// awaitRecrawl waits for a recrawl, and says meanwhile what it brings.
func (c *cli) awaitRecrawl(ctx context.Context, t client.Client, db *store.DB, id string, of store.Selection, began time.Time, r *workflows.RecrawlResult) error {
	progress := c.Progress(id)
	defer progress.End()
	watch, stop := context.WithCancel(ctx)
	told := guard.Go(func() {
		for watch.Err() == nil {
			asked := time.Now()
			if b, err := db.Brought(watch, of, began); err == nil {
				progress.Show(fmt.Sprintf("%s: %s asked, %d unchanged, %d changed or new, %s",
					id, text.Count(b.Asked, "URL"), b.Unchanged, b.Changed, text.Count(b.Documents, "new document")))
			}
			_ = fetch.Wait(watch, max(2*time.Second, 20*time.Since(asked))) // it counts what is on record
		}
	})
	err := c.await(ctx, t, id, r)
	stop()
	<-told
	if ctx.Err() != nil && !c.JSON {
		progress.End()
		again := "starter recrawl " + cmp.Or(of.Venue, "--due")
		if of.Host != "" {
			again = "starter recrawl --site " + of.Host
		}
		fmt.Fprintf(c.Err, "%[1]s continues in the background\nwait for it:  %[2]s --wait\nend it:       starter cancel %[1]s\n", id, again)
	}
	return err
}
