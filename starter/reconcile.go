package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gleaner/internal/harvest/reconcile"
	"gleaner/internal/service/app"
	"gleaner/worker/pool"
)

func (c *cli) reconcileCommand() *cobra.Command {
	var o reconcile.Options
	cmd := &cobra.Command{Use: "reconcile", Short: "Mend what a crash or a terminated workflow left", Args: cobra.NoArgs,
		Long: `Compare the record with what runs in Temporal, and mend what is left behind:
sites that nobody crawls, harvests that nobody runs, documents that nobody
examines, leases of the dead. Workers do so by themselves when they start and
every ten minutes; what they mended is in their logs.`,
		Example: "  starter reconcile --dry-run\n  starter reconcile --restart",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			if o.Restart { // what it starts would keep its files in the wrong place
				if err := a.Repo.There(ctx); err != nil {
					return err
				}
			}
			return c.onTemporal(ctx, func(t client.Client) error {
				mended, err := pool.Reconciler(a, t, slog.New(slog.DiscardHandler)).Run(ctx, o)
				if err != nil {
					return err
				}
				if mended == nil {
					mended = []reconcile.Repair{}
				}
				return c.Print(mended, func(w io.Writer) error { return writeRepairs(w, mended, o.DryRun) })
			})
		})}
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "only say what would be mended")
	cmd.Flags().BoolVar(&o.Restart, "restart", false, "start harvests again that nobody runs, instead of ending them")
	return cmd
}

func writeRepairs(w io.Writer, mended []reconcile.Repair, dry bool) error {
	if len(mended) == 0 {
		_, err := fmt.Fprintf(w, "nothing to mend (what began or changed in the last %s is left alone)\n", reconcile.Grace)
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range mended {
		verb := string(r.Kind)
		if dry {
			verb = "would be " + verb
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", verb, r.What, r.Reason)
	}
	return t.Flush()
}
