package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/web/weburl"
)

func (c *cli) blacklistCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "blacklist", Short: "Hosts that are never asked",
		Long: `The blacklist holds hosts that are never asked, each with a reason. It holds at once,
for all workers; starter whitelist import --black takes a whole file.`}
	cmd.AddCommand(c.blacklistList(), c.blacklistAdd(), c.blacklistRemove())
	return cmd
}

func (c *cli) blacklistList() *cobra.Command {
	return &cobra.Command{Use: "list", Short: "Show the hosts, since when, and why", Args: cobra.NoArgs,
		Example: "  starter blacklist list",
		RunE:    c.onRecord(func(ctx context.Context, a *app.App, _ []string) error { return c.showBlacklist(ctx, a.DB.ListRecords) })}
}

func (c *cli) showBlacklist(ctx context.Context, db store.ListRecords) error {
	hosts, err := db.Blacklist(ctx)
	if err != nil {
		return err
	}
	return c.Print(hosts, func(w io.Writer) error {
		return table(w, "HOST\tSINCE\tREASON", func(line func(string, ...any)) {
			for _, h := range hosts {
				line("%s\t%s\t%s", h.Host, h.Added.Local().Format(time.DateOnly), h.Reason)
			}
		})
	})
}

func (c *cli) blacklistAdd() *cobra.Command {
	var reason string
	cmd := &cobra.Command{Use: "add HOST...", Short: "Ask hosts no more", Args: cobra.MinimumNArgs(1),
		Example: "  starter blacklist add www.example.edu --reason 'asked us by mail to stay away'",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			var hosts []store.Blocked
			for _, h := range args {
				host, err := aHost(h)
				if err != nil {
					return err
				}
				hosts = append(hosts, store.Blocked{Host: host, Reason: reason})
			}
			if err := a.DB.Block(ctx, hosts); err != nil {
				return err
			}
			return c.Print(hosts, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, "asked no more:", strings.Join(args, ", "))
				return err
			})
		})}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for whoever asks later")
	return cmd
}

func (c *cli) blacklistRemove() *cobra.Command {
	return &cobra.Command{Use: "remove HOST...", Short: "Take hosts off the blacklist", Args: cobra.MinimumNArgs(1),
		Example: "  starter blacklist remove www.example.edu",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			for _, h := range args {
				host, err := aHost(h)
				if err != nil {
					return err
				}
				was, err := a.DB.Unblock(ctx, host)
				if err != nil {
					return err
				}
				if !was {
					return program.Unknown{Reason: fmt.Errorf("%s is not on the blacklist", host)}
				}
			}
			return c.Print(args, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, "no longer on the blacklist:", strings.Join(args, ", "))
				return err
			})
		})}
}

// aHost is the name of a host as the record has it.
func aHost(given string) (string, error) {
	host := weburl.HostNamed(given)
	if host == "" {
		return "", fmt.Errorf("%w: %q is no host such as www.example.edu", program.ErrUsage, given)
	}
	return host, nil
}
