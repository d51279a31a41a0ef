package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gleaner/internal/harvest/reconcile"
	"gleaner/internal/service/app"
	"gleaner/worker/pool"
)

func reconcileCommand(c *cli) *cobra.Command {
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
				return printRows(c, mended, err, "", func(r reconcile.Repair) string {
					return fmt.Sprintf("%s%s\t%s\t%s", would[o.DryRun], r.Kind, r.What, r.Reason)
				}, fmt.Sprintf("nothing to mend (what began or changed in the last %s is left alone)", reconcile.Grace))
			})
		})}
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "only say what would be mended")
	cmd.Flags().BoolVar(&o.Restart, "restart", false, "start harvests again that nobody runs, instead of ending them")
	return cmd
}
