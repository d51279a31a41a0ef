package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/workflows"
)

const aHarvest = "a harvest: its id (conf/webdb/1998-2004), or its venue, site, author or list (conf/webdb, site:URL, author:65/2885, papers:NAME)"

// onHarvest runs a command on one harvest, with its row and both servers open.
func (c *cli) onHarvest(do func(ctx context.Context, t client.Client, db *store.DB, h store.Harvest) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		a, err := c.Record(ctx)
		if err != nil {
			return err
		}
		defer a.Close()
		h, err := findHarvest(ctx, a.DB, args[0])
		if err != nil {
			return err
		}
		t, err := c.temporal(ctx)
		if err != nil {
			return err
		}
		defer t.Close()
		return do(ctx, t, a.DB, h)
	}
}

func (c *cli) pauseCommand() *cobra.Command {
	return &cobra.Command{Use: "pause HARVEST", Short: "Let a harvest rest; what is under way is finished", Args: args(1, aHarvest),
		Example: "  starter pause conf/webdb", RunE: c.onHarvest(c.update(workflows.UpdatePause, "paused"))}
}

func (c *cli) resumeCommand() *cobra.Command {
	return &cobra.Command{Use: "resume HARVEST", Short: "Let a paused harvest go on", Args: args(1, aHarvest),
		Example: "  starter resume conf/webdb", RunE: c.onHarvest(c.update(workflows.UpdateResume, "goes on"))}
}

func (c *cli) update(name, done string) func(context.Context, client.Client, *store.DB, store.Harvest) error {
	return func(ctx context.Context, t client.Client, _ *store.DB, h store.Harvest) error {
		if err := update(ctx, t, h, name); err != nil {
			return err
		}
		return c.Print(map[string]string{"harvest": h.ID, "did": done}, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s %s\n", h.ID, done)
			return err
		})
	}
}

// update asks a harvest that runs for something, and waits until it is done.
func update(ctx context.Context, t client.Client, h store.Harvest, name string) error {
	handle, err := t.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{WorkflowID: workflows.HarvestID(h.ID), UpdateName: name, WaitForStage: client.WorkflowUpdateStageCompleted})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	if err != nil {
		return notRunning(h, err)
	}
	return nil
}

// hasEnded tells whether a workflow does not run, or ended before it did what it was asked for.
func hasEnded(err error) bool {
	var ended *temporal.ApplicationError
	return notThere(err) || errors.As(err, &ended) && ended.Type() == "AcceptedUpdateCompletedWorkflow"
}

func notRunning(h store.Harvest, err error) error {
	if hasEnded(err) {
		return program.Unknown{Reason: fmt.Errorf("%s does not run (it is %s); `%s` starts it again", h.ID, h.Stage, h.Command())}
	}
	return err
}

func (c *cli) cancelCommand() *cobra.Command {
	return &cobra.Command{Use: "cancel HARVEST", Short: "End a harvest; what was found is kept", Args: args(1, aHarvest),
		Example: "  starter cancel conf/webdb",
		RunE: c.onHarvest(func(ctx context.Context, t client.Client, _ *store.DB, h store.Harvest) error {
			already, err := cancelHarvest(ctx, t, h)
			if err != nil {
				return err
			}
			did, said := "cancelled", isCancelled
			if already {
				did, said = "nothing", isCancelledAlready
			}
			return c.Print(map[string]string{"harvest": h.ID, "did": did}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%s %s\n", h.ID, said)
				return err
			})
		})}
}

// What a cancellation comes to.
const (
	isCancelled        = "is being cancelled"
	isCancelledAlready = "is being cancelled already; it ends when what is under way has been written"
)

// cancelHarvest ends a harvest that runs; already is true where that was asked for
// before.
func cancelHarvest(ctx context.Context, t client.Client, h store.Harvest) (already bool, err error) {
	d, err := t.DescribeWorkflowExecution(ctx, workflows.HarvestID(h.ID), "")
	if err == nil && d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		err = serviceerror.NewNotFound("its workflow has ended")
	}
	if already = d.GetWorkflowExtendedInfo().GetCancelRequested(); err == nil && !already {
		err = t.CancelWorkflow(ctx, workflows.HarvestID(h.ID), "")
	}
	if err != nil {
		return false, notRunning(h, err)
	}
	return already, nil
}

func (c *cli) retryCommand() *cobra.Command {
	var what activities.Retry
	var failed, wait bool
	cmd := &cobra.Command{Use: "retry HARVEST [--failed | --site HOST | --reason REASON | --older-than AGE]", Short: "Ask again for what failed", Args: args(1, aHarvest),
		Long: `Put the URLs that failed back among the waiting, of one site or of all, and
crawl them; read the documents again over which a reader stalled on a busy
machine; look again for the authors of whom a page, a search or a directory did
not answer, and ask the catalogues again that did not. What failed for good
(forbidden by robots.txt, not found) is left, unless its reason is named; "starter stats failures" lists the reasons.`,
		Example: "  starter retry conf/webdb --failed\n  starter retry conf/webdb --site www.example.edu\n  starter retry conf/webdb --reason timeout --older-than 24h",
		PreRunE: func(*cobra.Command, []string) error {
			if failed == (what != activities.Retry{}) {
				return fmt.Errorf("%w: want either --failed or any of --site, --reason and --older-than", program.ErrUsage)
			}
			return nil
		},
		RunE: c.onHarvest(func(ctx context.Context, t client.Client, db *store.DB, h store.Harvest) error {
			if err := known(ctx, db, h, what); err != nil {
				return err
			}
			did, now, err := c.retry(ctx, t, db, h, what)
			if err != nil {
				return err
			}
			if wait {
				return c.follow(ctx, t, h.ID)
			}
			asked, err := db.AskedSites(ctx, store.RetryFilter{Harvest: h.ID, Host: what.Host})
			if err != nil {
				return err
			}
			return c.Print(map[string]any{"harvest": h.ID, "urls": did.URLs, "documents": did.Stalled, "authors": did.Authors, "sources": did.Sources, "waiting": asked}, func(w io.Writer) error {
				word := "goes on:"
				if now {
					word = "asks again for"
				}
				fmt.Fprintf(w, "%s %s %d URLs that failed, %d documents that stalled, %d authors and %d questions to catalogues that were not answered\n", h.ID, word, did.URLs, did.Stalled, did.Authors, did.Sources)
				for _, a := range asked {
					fmt.Fprintf(w, "%s asked to be left alone until %s (Retry-After), and is\n", a.Host, a.Until.Format("2006-01-02 15:04:05"))
				}
				return nil
			})
		})}
	cmd.Flags().StringVar(&what.Host, "site", "", "one host")
	cmd.Flags().StringVar(&what.Reason, "reason", "", "one reason, such as timeout, busy, stalled or robots-denied")
	durationVar(cmd.Flags(), &what.OlderThan, "older-than", 0, "what failed so long ago, or longer")
	cmd.Flags().BoolVar(&failed, "failed", false, "all hosts")
	cmd.Flags().BoolVar(&wait, "wait", false, "show progress, and end when the harvest does")
	return cmd
}

// known reports whether there is such a site, and whether anything failed for the
// reason named: a misspelt one would retry nothing, and not say so.
func known(ctx context.Context, db *store.DB, h store.Harvest, what activities.Retry) error {
	if what.Host != "" {
		if _, err := db.Site(ctx, what.Host); errors.Is(err, pgx.ErrNoRows) {
			return program.Unknown{Reason: fmt.Errorf("no site %s; `starter stats sites` lists them", what.Host)}
		} else if err != nil {
			return err
		}
	}
	if what.Reason == "" {
		return nil
	}
	failures, err := db.Failures(ctx, store.RetryFilter{Harvest: h.ID, Host: what.Host})
	if err != nil || slices.ContainsFunc(failures, func(f store.Failure) bool { return f.Reason == what.Reason }) {
		return err
	}
	return fmt.Errorf("%w: nothing of %s failed as %q; `starter stats failures %s` lists the reasons", program.ErrUsage, h.ID, what.Reason, h.ID)
}

// retry tells a running harvest, or starts one that begins with what was left
// open. It returns what was put back; of one that is started, what will be (now
// is false).
func (c *cli) retry(ctx context.Context, t client.Client, db *store.DB, h store.Harvest, what activities.Retry) (did activities.Requeued, now bool, err error) {
	if h.CompletedAt == nil {
		handle, err := t.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{WorkflowID: workflows.HarvestID(h.ID), UpdateName: workflows.UpdateRetryWhat,
			Args: []any{what}, WaitForStage: client.WorkflowUpdateStageCompleted})
		if err == nil {
			err = handle.Get(ctx, &did)
		}
		if !hasEnded(err) {
			return did, true, err
		}
	}
	again, err := activities.HarvestOf(h)
	if err != nil {
		return did, false, err
	}
	what.Harvest = h.ID
	f := store.RetryFilter{Harvest: h.ID, Host: what.Host, Reason: what.Reason, OlderThan: what.OlderThan}
	q, err := db.Meant(ctx, f)
	if err != nil {
		return did, false, err
	}
	did.Authors, did.Sources = q.Authors, q.Papers+q.Copies
	if did.URLs, err = db.FailedURLs(ctx, f); err != nil {
		return did, false, err
	}
	if did.Stalled, err = db.StalledDocuments(ctx, f); err != nil {
		return did, false, err
	}
	_, err = startHarvest(ctx, t, workflows.HarvestParams{Harvest: again, Stage: gleaner.StageCrawl, Retry: &what})
	return did, false, err
}
