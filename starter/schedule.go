package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/console"
	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
	"gleaner/workflows"
)

// dueSchedule is the schedule that asks again whatever is due, whitelistSchedule
// the one that gives the whitelist's pages to the frontier before; every other one is
// of a venue.
const (
	dueSchedule       = "due"
	whitelistSchedule = "whitelist"
)

func (c *cli) scheduleCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "schedule", Short: "Come back by itself: harvests of venues, and recrawls of what is due",
		Long: `A schedule starts a harvest of a venue, or ("due") a recrawl of every site whose
rest is over, every so often. Unlike "starter harvest", a harvest of a schedule asks again
only what is due. "whitelist" gives the whitelist's pages to the frontier
before, and is in the place of "due". Runs do not overlap: one that is due while the
last still runs is left out. After an outage one missed run of the last hour is
made up for, no more. Starts are spread by the jitter. "starter pause schedule/due"
pauses one.`}
	cmd.AddCommand(c.scheduleCreate(), c.scheduleList(),
		scheduleDo(c, "show", "Show a schedule: when it ran and will run", func(ctx context.Context, h client.ScheduleHandle) (string, error) { return "", nil }),
		scheduleDo(c, "trigger", "Start a run of a schedule now, unless one is under way", func(ctx context.Context, h client.ScheduleHandle) (string, error) {
			return "triggered", h.Trigger(ctx, client.ScheduleTriggerOptions{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP})
		}),
		scheduleDo(c, "delete", "End a schedule; what it found is kept", func(ctx context.Context, h client.ScheduleHandle) (string, error) {
			return "deleted", h.Delete(ctx)
		}))
	return cmd
}

// scheduleFlags are the options of `starter schedule create`.
type scheduleFlags struct {
	every, jitter time.Duration
	cron, years   string
	small         int
	options       activities.HarvestOptions // of a harvest
}

func (c *cli) scheduleCreate() *cobra.Command {
	f := &scheduleFlags{}
	cmd := &cobra.Command{Use: "create VENUE [--years YEARS] | site:URL [--scope SCOPE] | author:PID | papers:NAME | due | whitelist", Short: "Make a schedule", Args: args(1, `a venue, site, author or list, or "due" or "whitelist"`),
		Example: "  starter schedule create due --every 24h\n  starter schedule create whitelist --every 24h --small 10\n  starter schedule create conf/webdb --years 1998-2004 --every 30d\n  starter schedule create conf/webdb --years 1998-2004 --cron '0 3 1 * *'\n  starter schedule create site:https://www.example.edu/workshop/ --scope host --every 30d\n  starter schedule create author:65/2885 --every 30d",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.validate(cmd.Flags().Changed("every")); err != nil {
				return err
			}
			if !cmd.Flags().Changed("jitter") {
				f.jitter = jitterOf(f.every)
			}
			c.hintDelay(f.options.Delay)
			return c.createSchedule(cmd.Context(), args[0], f)
		}}
	fl := cmd.Flags()
	durationVar(fl, &f.every, "every", 24*time.Hour, "time between two starts, an hour at least")
	fl.StringVar(&f.cron, "cron", "", "calendar in place of --every, as of cron: minute hour day month weekday (UTC); the minute is one number, so that an hour lies between two starts")
	durationVar(fl, &f.jitter, "jitter", 0, "spread starts by up to so much (default: a tenth of --every, at most an hour; an hour with --cron; 0s is none)")
	fl.Var((*yearsGiven)(&f.years), "years", yearsHelp)
	fl.StringVar(&f.options.Scope, "scope", "", scopeHelp)
	durationVar(fl, &f.options.Delay, "delay", 0, "least time between two requests to one host (default: the worker's setting)")
	fl.BoolVar(&f.options.WARC, "warc", false, warcHelp)
	smallVar(fl, &f.small)
	return cmd
}

// leastEvery bounds how often a schedule starts: what was asked an hour ago has
// not changed, and a typo in the unit would ask every second.
const leastEvery = time.Hour

var (
	onceAnHour = regexp.MustCompile(`^(CRON_TZ=\S+ +)?[0-9]{1,2}( +\S+){4}$`)
	cronNames  = []string{"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"}
)

func jitterOf(every time.Duration) time.Duration { return min(every/10, time.Hour) }

func (f *scheduleFlags) validate(every bool) error {
	wrong := f.options.Check()
	switch {
	case wrong != nil:
		return fmt.Errorf("%w: --%w", program.ErrUsage, wrong)
	case f.cron != "" && every:
		return fmt.Errorf("%w: want either --every or --cron", program.ErrUsage)
	case f.cron != "" && !onceAnHour.MatchString(f.cron) && !slices.Contains(cronNames, f.cron):
		return fmt.Errorf("%w: --cron: want minute hour day month weekday with one number as the minute, or one of %s, not %q", program.ErrUsage, strings.Join(cronNames, ", "), f.cron)
	case f.cron == "" && f.every < leastEvery:
		return fmt.Errorf("%w: --every: want an hour or longer, not %s", program.ErrUsage, f.every)
	}
	return nil
}

func (c *cli) createSchedule(ctx context.Context, name string, f *scheduleFlags) error {
	o, err := c.scheduleOptions(ctx, name, f)
	if err != nil {
		return err
	}
	return c.onTemporal(ctx, func(t client.Client) error {
		if err := startSchedule(ctx, t, o, false); err != nil {
			return err
		}
		return c.showSchedule(ctx, t, o.ID, "created")
	})
}

// startSchedule makes a schedule. With replace it updates the one that there is, which stays paused or not.
func startSchedule(ctx context.Context, t client.Client, o client.ScheduleOptions, replace bool) error {
	tries := 0
	update := func(of client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
		s := of.Description.Schedule
		s.Spec, s.Action = &o.Spec, o.Action
		return &client.ScheduleUpdate{Schedule: &s}, nil
	}
	err := insist(ctx, func() error {
		_, err := t.ScheduleClient().Create(ctx, o)
		tries++
		switch exists := errors.Is(err, temporal.ErrScheduleAlreadyRunning); {
		case exists && replace:
			return t.ScheduleClient().GetHandle(ctx, o.ID).Update(ctx, client.ScheduleUpdateOptions{DoUpdate: update})
		case exists && tries > 1:
			return nil
		}
		return err
	})
	_, invalid := errors.AsType[*serviceerror.InvalidArgument](err)
	switch {
	case invalid:
		return fmt.Errorf("%w: %w", program.ErrUsage, err)
	case errors.Is(err, temporal.ErrScheduleAlreadyRunning):
		return fmt.Errorf("%w: there is a schedule %s already; `starter schedule delete` ends it",
			program.ErrUsage, shortName(o.ID))
	}
	return err
}

// scheduleOptions lays a schedule out.
func (c *cli) scheduleOptions(ctx context.Context, name string, f *scheduleFlags) (client.ScheduleOptions, error) {
	spec := client.ScheduleSpec{Jitter: f.jitter}
	if f.cron != "" {
		says := f.cron // which the server keeps only as a comment
		if !strings.HasPrefix(says, "CRON_TZ=") {
			says += " (UTC)"
		}
		spec.CronExpressions = []string{f.cron + "#" + says}
	} else {
		// Temporal counts intervals from 1970; with this offset the first run is one interval from now. After an
		// update it would also make up for one now, which StartAt leaves out.
		now := time.Now()
		offset := time.Duration(now.UnixNano() % int64(f.every)).Truncate(time.Second)
		spec.Intervals, spec.StartAt = []client.ScheduleIntervalSpec{{Every: f.every, Offset: offset}}, now.Add(f.every/2)
	}
	o := client.ScheduleOptions{Spec: spec, Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: time.Hour}
	if name == dueSchedule || name == whitelistSchedule {
		if f.years+f.options.Scope != "" {
			return o, fmt.Errorf("%w: --years and --scope are of a harvest; %s asks each site as its harvests do",
				program.ErrUsage, name)
		}
		recrawl := &workflows.RecrawlParams{Due: activities.Due{WARC: f.options.WARC}}
		if name == whitelistSchedule {
			recrawl.Whitelist = &activities.Whitelist{Small: f.small}
		}
		return named(o, name, workflows.ScheduledParams{Recrawl: recrawl}), nil
	}
	years, err := yearsFlag(f.years)
	if err != nil {
		return o, err
	}
	if err := (&harvestFlags{years: f.years}).checkGoals([]string{name}); err != nil {
		return o, err
	}
	name, years = splitYears(name, years)
	goal, err := c.goal(ctx, name, years, &sourceFlags{})
	if err != nil {
		return o, err
	}
	h := activities.NewHarvest(goal, years, f.options)
	h.Options.Scope, h.Options.Again = cmp.Or(f.options.Scope, activities.ScopePrefix), activities.AgainDue
	return named(o, h.ID, workflows.ScheduledParams{Harvest: &workflows.HarvestParams{Harvest: h}}), nil
}

// named gives a schedule its name, and what it starts.
func named(o client.ScheduleOptions, name string, p workflows.ScheduledParams) client.ScheduleOptions {
	about := workflows.DescribeSchedule(p)
	o.ID = scheduleID(name)
	o.Action = &client.ScheduleWorkflowAction{ID: runSchedule + "/" + name, Workflow: workflows.OnSchedule,
		TaskQueue: activities.QueueHarvest, Args: []any{p}, StaticSummary: about.Summary, StaticDetails: about.Details,
		WorkflowTaskTimeout: workflows.TaskTime}
	return o
}

// scheduleID is the id of a schedule in Temporal.
func scheduleID(name string) string { return "gleaner/" + name }

func shortName(id string) string { return strings.TrimPrefix(id, "gleaner/") }

// scheduled is a schedule as scripts and the console read it.
type scheduled = console.Scheduled

// describeSchedule returns what is known of the schedule of an id.
func describeSchedule(ctx context.Context, t client.Client, id string) (s scheduled, err error) {
	d, err := t.ScheduleClient().GetHandle(ctx, id).Describe(ctx)
	if err != nil {
		return s, err
	}
	s = scheduled{Schedule: shortName(id), Paused: d.Schedule.State.Paused, Note: d.Schedule.State.Note, Next: d.Info.NextActionTimes,
		Jitter: config.DurationText(d.Schedule.Spec.Jitter), Runs: d.Info.NumActions,
		Skipped: d.Info.NumActionsSkippedOverlap, Missed: d.Info.NumActionsMissedCatchupWindow}
	for _, interval := range d.Schedule.Spec.Intervals {
		s.Every = config.DurationText(interval.Every)
	}
	for _, calendar := range d.Schedule.Spec.Calendars {
		s.Cron = calendar.Comment
	}
	s.Last, s.Did = lastRun(ctx, t, d.Info.RecentActions)
	for _, w := range d.Info.RunningWorkflows {
		s.Running = append(s.Running, w.WorkflowID)
	}
	return s, nil
}

func (c *cli) showSchedule(ctx context.Context, t client.Client, id, did string) error {
	s, err := describeSchedule(ctx, t, id)
	if err != nil {
		return err
	}
	return c.Print(s, func(w io.Writer) error {
		fmt.Fprintf(w, "%s %s\n", s.Schedule, did)
		writeScheduled(w, s)
		return nil
	})
}

func writeScheduled(w io.Writer, s scheduled) {
	if s.Every != "" {
		fmt.Fprintf(w, "  every %s\n", s.Every)
	}
	if s.Cron != "" {
		fmt.Fprintf(w, "  cron %s\n", s.Cron)
	}
	fmt.Fprintf(w, "  jitter %s\n", s.Jitter)
	if s.Paused {
		fmt.Fprintf(w, "  paused: %s\n", s.Note)
	}
	if s.Last != nil {
		fmt.Fprintf(w, "  last %s %s\n", s.Last.Local().Format(time.DateTime), s.Did)
	}
	if s.Runs > 0 {
		fmt.Fprintf(w, "  %s, %d left out while one was running, %d missed\n", text.Count(s.Runs, "run"), s.Skipped, s.Missed)
	}
	if len(s.Next) > 0 && !s.Paused {
		fmt.Fprintf(w, "  next %s\n", s.Next[0].Local().Format(time.DateTime))
	}
	for _, id := range s.Running {
		fmt.Fprintf(w, "  running: %s\n", id)
	}
}

func (c *cli) scheduleList() *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List the schedules", Args: cobra.NoArgs, Example: "  starter schedule list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var all []scheduled
			err := c.onTemporal(cmd.Context(), func(t client.Client) (err error) {
				all, err = listSchedules(cmd.Context(), t)
				return err
			})
			if err != nil {
				return err
			}
			return c.Print(all, func(w io.Writer) error {
				if len(all) == 0 {
					fmt.Fprintln(w, "no schedule: starter schedule create due")
				}
				for _, s := range all {
					fmt.Fprintln(w, s.Schedule)
					writeScheduled(w, s)
				}
				return nil
			})
		}}
}

// lastRun says when a schedule ran last, and what came of it where that is still known.
func lastRun(ctx context.Context, t client.Client, runs []client.ScheduleActionResult) (at *time.Time, did string) {
	if len(runs) == 0 {
		return nil, ""
	}
	last := runs[len(runs)-1]
	w := cmp.Or(last.StartWorkflowResult, &client.ScheduleWorkflowExecution{})
	d, err := t.DescribeWorkflowExecution(ctx, w.WorkflowID, w.FirstExecutionRunID)
	switch {
	case err != nil: // it was too long ago
	case d.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
		did = "under way"
	default:
		if err := t.GetWorkflow(ctx, w.WorkflowID, w.FirstExecutionRunID).Get(ctx, &did); err != nil {
			did = "failed: " + err.Error()
			if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
				did = "failed: " + app.Message()
			}
		}
	}
	return &last.ActualTime, did
}

func listSchedules(ctx context.Context, t client.Client) ([]scheduled, error) {
	entries, err := scheduleEntries(ctx, t.ScheduleClient())
	all := []scheduled{}
	for _, e := range entries {
		s, err := describeSchedule(ctx, t, e.ID)
		if err == nil {
			all = append(all, s)
		} else if !isNotFound(err) { // since it was listed
			return nil, err
		}
	}
	return all, err
}

// scheduleEntries are Gleaner's schedules among those of the namespace.
func scheduleEntries(ctx context.Context, schedules client.ScheduleClient) (all []*client.ScheduleListEntry, err error) {
	it, err := schedules.List(ctx, client.ScheduleListOptions{})
	for err == nil && it.HasNext() {
		var e *client.ScheduleListEntry
		if e, err = it.Next(); err == nil && strings.HasPrefix(e.ID, scheduleID("")) {
			all = append(all, e)
		}
	}
	return all, err
}
