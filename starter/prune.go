package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
)

func pruneCommand(c *cli) *cobra.Command {
	var dry bool
	r := store.Retention{}
	cmd := &cobra.Command{Use: "prune [HARVEST]", Short: "Remove what was kept long enough, or a harvest",
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: c.harvests,
		Long: `Remove what was kept long enough: pages fetched as evidence, answers of search
engines, robots.txt that ran out, URLs of sites that were removed, files that are
no paper, lines of jobs that ended and, where an age is set for them, harvests
that a later one covers. Nothing that a report needs is removed: a rejected document keeps its row,
with what was read of it and why it was rejected.

The ages are settings (retain-…); workers do the same by themselves once a day.

A harvest that ended, named by its id, goes whatever its age, with its list of papers and
its report, and nothing else does. Documents, sites and homepages stay.`,
		Example: "  starter prune --dry-run\n  starter prune --rejected 90d\n  starter prune conf/webdb/1998-2004 --dry-run",
	}
	cmd.RunE = c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
		if len(args) == 1 {
			return removeHarvest(ctx, c, a.DB, args[0], dry)
		}
		keep := a.Retention()
		if cmd.Flags().Changed("rejected") {
			keep.Rejected = r.Rejected
		}
		if cmd.Flags().Changed("harvests") {
			keep.Harvests = r.Harvests
		}
		if cmd.Flags().Changed("lines") {
			keep.Lines = r.Lines
		}
		progress := c.Progress("prune")
		done, err := a.DB.Prune(ctx, keep, a.Repo, store.PruneOptions{DryRun: dry, Told: func(what string, done, of int) {
			progress.Show("removed of " + what)
			progress.Count(done, of)
		}})
		progress.End()
		return printRows(c, done, err, "", func(p store.Pruned) string {
			return fmt.Sprintf("%s\t%d\t%s\t%sremoved: %s", p.What, p.Rows, byteSize(p.Bytes), would[dry], p.Why)
		})
	})
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	durationVar(cmd.Flags(), &r.Rejected, "rejected", 0, "remove files of rejected documents judged before so long; 0s keeps them for ever (default: retain-rejected)")
	durationVar(cmd.Flags(), &r.Harvests, "harvests", 0, "remove harvests covered by a later one and ended before so long (default: retain-harvests)")
	durationVar(cmd.Flags(), &r.Lines, "lines", 0, "remove lines of jobs that ended before so long (default: retain-rejected)")
	return cmd
}

// removeHarvest removes a harvest, which is named by its id alone.
func removeHarvest(ctx context.Context, c *cli, db *store.DB, name string, dry bool) error {
	h, err := findHarvest(ctx, db, name)
	if err != nil {
		return err
	}
	if h.ID != name {
		return fmt.Errorf("%w: name the harvest by its id, such as %s", program.ErrUsage, h.ID)
	}
	gone, err := store.RemoveHarvest(ctx, db, h.ID, dry)
	did := cmp.Or(would[dry], "is ") + "removed"
	return done(c, err, gone, "%s %s: a list of %s, %d of them on no other, and its report\n", h.ID, did,
		text.Count(gone.Papers, "paper"), gone.Alone)
}
