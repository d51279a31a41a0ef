package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"gleaner/internal/record/store"
)

func (c *cli) pruneCommand() *cobra.Command {
	var dry bool
	r := store.Retention{}
	cmd := &cobra.Command{Use: "prune", Short: "Remove what was kept long enough", Args: cobra.NoArgs,
		Long: `Remove what was kept long enough: pages fetched as evidence, answers of search
engines, robots.txt that ran out, URLs of sites that were removed, files that are
no paper, lines of jobs that ended and, where an age is set for them, harvests
that a later one covers. Nothing that a report needs is removed: a rejected document keeps its row,
with what was read of it and why it was rejected.

The ages are settings (retain-…); workers do the same by themselves once a day.`,
		Example: "  starter prune --dry-run\n  starter prune --rejected 90d",
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := c.Record(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
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
			done, err := a.DB.Prune(cmd.Context(), keep, a.Repo, store.PruneOptions{DryRun: dry, Told: func(what string, done, of int) {
				progress.Show("removed of " + what)
				progress.Count(done, of)
			}})
			progress.End()
			if err != nil {
				return err
			}
			return c.Print(done, func(w io.Writer) error { return writePruned(w, done, dry) })
		}}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	durationVar(cmd.Flags(), &r.Rejected, "rejected", 0, "remove files of rejected documents judged before so long (default: retain-rejected)")
	durationVar(cmd.Flags(), &r.Harvests, "harvests", 0, "remove harvests covered by a later one and ended before so long (default: retain-harvests)")
	durationVar(cmd.Flags(), &r.Lines, "lines", 0, "remove lines of jobs that ended before so long (default: retain-rejected)")
	return cmd
}

func writePruned(w io.Writer, done []store.Pruned, dry bool) error {
	verb := "removed"
	if dry {
		verb = "would be removed"
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range done {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s: %s\n", p.What, p.Rows, size(p.Bytes), verb, p.Why)
	}
	return t.Flush()
}
