package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"gleaner/internal/each"
	"gleaner/internal/service/app"
	"gleaner/internal/service/notify"
	"gleaner/internal/service/program"
)

func notifyCommand(c *cli) *cobra.Command {
	return &cobra.Command{Use: "notify", Short: "Send a test notice by webhook and mail", Args: cobra.NoArgs,
		Long: `Send a test notice to each channel that the settings notify-… name. Workers with these
settings tell there which harvests ended, which sites refused, and that matches wait
for review, at most every notify-every.`,
		Example: "  GLEANER_NOTIFY_WEBHOOK=https://hooks.library.example/gleaner starter notify",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.Settings()
			if err != nil {
				return err
			}
			channels, err := app.Channels(cfg)
			if err != nil {
				return fmt.Errorf("%w: %w", app.ErrSettings, err)
			}
			if len(channels) == 0 {
				return fmt.Errorf("%w: no channel is set (GLEANER_NOTIFY_WEBHOOK, GLEANER_NOTIFY_SMTP)",
					program.ErrUsage)
			}
			var told []string
			var failed error
			for _, ch := range channels {
				if err := ch.Send(cmd.Context(), notify.Test()); err != nil {
					failed = errors.Join(failed, err)
					continue
				}
				told = append(told, ch.Name())
			}
			err = c.printTable(map[string]any{"sent": told}, "", each.Of(told, func(name string) string { return "sent by " + name }))
			return cmp.Or(err, failed)
		}}
}
