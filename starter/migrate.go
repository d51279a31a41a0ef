package main

import (
	"context"

	"github.com/spf13/cobra"

	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
)

func migrateCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "migrate", Short: "Bring the database to this program's schema", Args: cobra.NoArgs,
		Long: `Apply the migrations that the database lacks. Workers and starter dev do so when they
start; no other command does. A migration lets leases and queries pass while a dump of
the database holds a table, and tries again for ten minutes.`,
		Example: "  starter migrate",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.Settings()
			if err != nil {
				return err
			}
			before, _ := store.Inspect(cmd.Context(), string(cfg.Servers.Database)) // migrate says what is wrong
			return done(c, migrate(cmd.Context(), cfg), map[string]int64{"before": before.Applied, "after": before.Known},
				"the database is at %d, and was at %d\n", before.Known, before.Applied)
		}}
}

// migrate brings the database of the settings to this program's schema.
func migrate(ctx context.Context, cfg *config.Config) error {
	if cfg.Servers.Database == "" {
		return app.ErrNoDatabase
	}
	db, err := store.Open(ctx, string(cfg.Servers.Database), 0)
	if err == nil {
		db.Close()
	}
	return err
}
