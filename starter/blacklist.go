package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
)

func blacklistCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "blacklist", Short: "Hosts that are never asked",
		Long: `The blacklist holds hosts that are never asked, each with a reason. It holds at once,
for all workers.`}
	cmd.AddCommand(blacklistList(c), blacklistAdd(c), blacklistRemove(c))
	return cmd
}

func blacklistList(c *cli) *cobra.Command {
	var plain bool
	cmd := &cobra.Command{Use: "list", Short: "Show the hosts, since when, and why", Args: cobra.NoArgs,
		Example: "  starter blacklist list\n  starter blacklist list --plain > hosts.txt",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			hosts, err := a.DB.Blacklist(ctx, "", 0)
			if plain {
				return printRows(c, hosts, err, "", func(h store.Blocked) string {
					return strings.TrimSpace(h.Host + " " + h.Reason)
				})
			}
			return printRows(c, hosts, err, "HOST\tSINCE\tREASON", func(h store.Blocked) string {
				return fmt.Sprintf("%s\t%s\t%s", h.Host, h.Added.Local().Format(time.DateOnly), h.Reason)
			}, "no host is on the blacklist: starter blacklist add HOST")
		})}
	cmd.Flags().BoolVar(&plain, "plain", false, "a host and its reason a line, as blacklist add --file takes them")
	return cmd
}

func blacklistAdd(c *cli) *cobra.Command {
	var file, reason string
	cmd := &cobra.Command{Use: "add HOST… | --file FILE", Short: "Ask hosts no more",
		Example: "  starter blacklist add www.example.edu --reason 'asked us by mail to stay away'\n  starter blacklist add --file hosts.txt",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			hosts, err := blockedHosts(file, args)
			if err != nil {
				return err
			}
			for i := range hosts {
				hosts[i].Reason = cmp.Or(hosts[i].Reason, reason)
			}
			return done(c, a.DB.Block(ctx, hosts), hosts, "asked no more: %s\n", text.Count(len(hosts), "host"))
		})}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for whoever asks later")
	cmd.Flags().StringVar(&file, "file", "", fileOfHosts)
	return cmd
}

const fileOfHosts = "file of hosts, each perhaps with a reason behind it, one a line"

func blacklistRemove(c *cli) *cobra.Command {
	var file string
	cmd := &cobra.Command{Use: "remove HOST… | --file FILE", Short: "Take hosts off the blacklist",
		Example: "  starter blacklist remove www.example.edu\n  starter blacklist remove --file hosts.txt",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			hosts, err := blockedHosts(file, args)
			if err != nil {
				return err
			}
			for _, h := range hosts {
				was, err := a.DB.Unblock(ctx, h.Host)
				if err != nil {
					return err
				}
				if !was && file == "" {
					return program.Unknown{Reason: fmt.Errorf("%s is not on the blacklist", h.Host)}
				}
			}
			return c.Say(hosts, "no longer on the blacklist: %s\n", text.Count(len(hosts), "host"))
		})}
	cmd.Flags().StringVar(&file, "file", "", fileOfHosts)
	return cmd
}

// blockedHosts are the hosts that arguments and the lines of a file name. A word without a
// dot is no host of a file.
func blockedHosts(file string, args []string) (hosts []store.Blocked, err error) {
	var lines []string
	if file != "" {
		if lines, err = readLines(file); err != nil {
			return nil, err
		}
	}
	if len(args)+len(lines) == 0 {
		return nil, fmt.Errorf("%w: want hosts, or --file", program.ErrUsage)
	}
	for i, l := range append(args, lines...) {
		given, reason := l, ""
		if i >= len(args) {
			given, reason, _ = strings.Cut(l, " ")
		}
		host, err := hostName(given)
		if err == nil && i >= len(args) && !strings.Contains(host, ".") {
			err = fmt.Errorf("%w: %s, line %d: %q is no host such as www.example.edu", program.ErrUsage,
				file, i-len(args)+1, given)
		}
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, store.Blocked{Host: host, Reason: strings.TrimSpace(reason)})
	}
	return hosts, nil
}
