package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gleaner/internal/gleaner"
	"gleaner/internal/service/program"
)

// scheduleDo is a command that does one thing to one schedule and shows it.
func scheduleDo(c *cli, use, short string, do func(context.Context, client.ScheduleHandle) (string, error)) *cobra.Command {
	return &cobra.Command{Use: use + " SCHEDULE", Short: short, Args: args(1, `a schedule: "due", "whitelist", or a venue, site, author or list, with its years where there are several (starter schedule list)`),
		Example: "  starter schedule " + use + " due\n  starter schedule " + use + " conf/webdb\n  starter schedule " + use + " conf/webdb/1998-2004",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return c.onTemporal(ctx, func(t client.Client) error {
				name, err := findSchedule(ctx, t.ScheduleClient(), args[0])
				if err != nil {
					return err
				}
				if use == "delete" && name != spelling(strings.TrimPrefix(args[0], runSchedule+"/")) {
					return program.Unknown{Reason: fmt.Errorf("no schedule is called %s; to delete %s, give its whole name", args[0], name)}
				}
				h := t.ScheduleClient().GetHandle(ctx, scheduleID(name))
				did, err := do(ctx, h)
				switch {
				case isNotFound(err):
					return noSchedule(args[0])
				case err != nil:
					return err
				case use == "delete":
					return c.Say(map[string]string{"schedule": name, "did": did}, "%s %s\n", name, did)
				}
				return c.showSchedule(ctx, t, h.GetID(), did)
			})
		}}
}

func noSchedule(name string) error {
	return program.Unknown{Reason: fmt.Errorf("no schedule is called %s; `starter schedule list` lists them", name)}
}

// findSchedule makes a schedule's name of what a person calls it: its own name, or that
// of what it is of, where there is but one. Either may begin with "schedule/".
func findSchedule(ctx context.Context, schedules client.ScheduleClient, given string) (string, error) {
	name := spelling(strings.TrimPrefix(given, runSchedule+"/"))
	_, err := schedules.GetHandle(ctx, scheduleID(name)).Describe(ctx)
	if err == nil || !isNotFound(err) {
		return name, err
	}
	all, err := scheduleEntries(ctx, schedules)
	if err != nil {
		return "", err
	}
	var found []string
	for _, e := range all {
		if short := shortName(e.ID); scheduleOf(short, name) {
			found = append(found, short)
		}
	}
	switch len(found) {
	case 0:
		return "", noSchedule(given)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%w: several schedules are of %s; name one of %s", program.ErrUsage, given, strings.Join(found, ", "))
}

// scheduleOf reports whether a schedule is of a venue, by its key or the end of that,
// or of what else a harvest may be after.
func scheduleOf(short, name string) bool {
	goal := short
	if i := strings.LastIndexByte(short, '/'); i > 0 {
		if _, err := gleaner.ParseYears(short[i+1:]); err == nil {
			goal = short[:i]
		}
	}
	return goal == name || strings.HasSuffix(strings.ToLower(goal), "/"+strings.ToLower(name)) && gleaner.ParseGoal(goal).Venue != ""
}
