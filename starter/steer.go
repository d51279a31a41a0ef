package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/politeness"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
	"gleaner/workflows"
)

const runArg = "the name of a harvest, of collections or of a host, the number of a job, or an id such as schedule/due, recrawl/due or collections/math"

// What a run may be.
const (
	runHarvest     = "harvest"
	runCollections = "collections"
	runJob         = "job"
	runSchedule    = "schedule"
	runRecrawl     = "recrawl"
	runSite        = "site"
)

// run is what a person pauses, resumes, cancels or asks to try again.
type run struct {
	kind, name string
	harvest    store.Harvest
	job        int64
	site       app.SiteView
	waits      bool // for a worker that begins it
}

// steering is what is done to a run.
type steering struct {
	do     string // pause, resume, cancel or, of a host, slow
	reason string // of a pause of a host or a schedule; the delay of a host that is slowed
}

// id is the name by which a run is found whatever else is called so.
func (r run) id() string { return r.kind + "/" + r.name }

// findRun finds a run by its id, or by its name where no other has it.
func findRun(ctx context.Context, db *store.DB, given string) (run, error) {
	kind, name, _ := strings.Cut(given, "/")
	switch kind {
	case runSchedule, runRecrawl:
		return run{kind: kind, name: name}, nil
	case runCollections, runHarvest, runSite:
	case "import", runJob, "jobs": // as workflows and addresses of the console have it
		kind, name = runJob, name[strings.LastIndexByte(name, '/')+1:]
	default:
		kind, name = "", given
		if _, err := jobNumber(given); err == nil {
			kind = runJob
		}
		if given == dueSchedule || given == whitelistSchedule {
			return run{kind: runSchedule, name: given}, nil
		}
	}
	var found []run
	for _, look := range []struct {
		kind string
		find func(context.Context, *store.DB, string) (run, error)
	}{{runJob, jobRun}, {runHarvest, harvestRun}, {runCollections, collectionsRun}, {runSite, siteRun}} {
		if kind != look.kind && (kind != "" || look.kind == runJob) {
			continue
		}
		r, err := look.find(ctx, db, name)
		switch {
		case err == nil:
			found = append(found, r)
		case kind != "" || program.ExitCode(err) != program.ExitUnknown && !errors.Is(err, program.ErrUsage):
			return r, err
		}
	}
	switch len(found) {
	case 0:
		return run{}, program.Unknown{Reason: fmt.Errorf("no harvest, collections or host is called %s; `starter status`, `starter collections list` and `starter sites list` list them; `starter blacklist add` takes hosts that are not on record", given)}
	case 1:
		return found[0], nil
	}
	ids := each.Of(found, run.id)
	return run{}, fmt.Errorf("%w: several are called %s; name one of %s", program.ErrUsage, given, strings.Join(ids, ", "))
}

func jobRun(_ context.Context, _ *store.DB, name string) (run, error) {
	id, err := jobNumber(name)
	return run{kind: runJob, name: name, job: id}, err
}

func harvestRun(ctx context.Context, db *store.DB, name string) (run, error) {
	h, err := findHarvest(ctx, db, name)
	return run{kind: runHarvest, name: h.ID, harvest: h}, err
}

func collectionsRun(ctx context.Context, db *store.DB, name string) (run, error) {
	got, err := collections.In(db).Get(ctx, name)
	return run{kind: runCollections, name: got.Name}, err
}

func siteRun(ctx context.Context, db *store.DB, name string) (run, error) {
	s, err := showSite(ctx, db, name)
	return run{kind: runSite, name: s.Host, site: s}, err
}

// onRun runs a command on a run, with both servers open, unless check refuses it.
func (c *cli) onRun(check func(run) error, do func(ctx context.Context, t client.Client, a *app.App, r run) error) func(*cobra.Command, []string) error {
	return c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
		r, err := findRun(ctx, a.DB, args[0])
		if id := unrecorded(ctx, c, args[0], err); id != "" {
			r, err = run{kind: runHarvest, name: id, harvest: store.Harvest{ID: id}, waits: true}, nil
		}
		if err == nil {
			err = check(r)
		}
		if err == nil && r.kind == runHarvest && !r.waits {
			err = otherHarvests(ctx, c, a.DB, strings.TrimPrefix(args[0], runHarvest+"/"), r.harvest)
		}
		if err != nil {
			return err
		}
		return c.onTemporal(ctx, func(t client.Client) error { return do(ctx, t, a, r) })
	})
}

// steerCommand is a command that pauses, resumes or cancels a run.
func steerCommand(c *cli, use, short, long string) *cobra.Command {
	var reason string
	cmd := &cobra.Command{Use: use + " NAME", Short: short, Long: long,
		Args: args(1, runArg), ValidArgsFunction: c.harvests,
		Example: "  starter " + use + " conf/webdb\n  starter " + use + " math",
		RunE: c.onRun(func(r run) error {
			if r.waits && use != "cancel" {
				return waitsForWorker(r.name)
			}
			return nil
		}, func(ctx context.Context, t client.Client, a *app.App, r run) error {
			did, err := steer(ctx, t, a.DB, &r, steering{use, reason})
			name := r.name
			if r.kind == runRecrawl {
				name = r.id() // its name is a harvest's, too
			}
			return done(c, err, map[string]string{r.kind: r.name, "did": did}, "%s %s\n", name, did)
		})}
	if use == "pause" {
		cmd.Flags().StringVar(&reason, "reason", "", "why a host or a schedule is paused, for whoever asks later")
	}
	return cmd
}

func steerCommands(c *cli) []*cobra.Command {
	return []*cobra.Command{
		steerCommand(c, "pause", "Pause a harvest, collections, a host or a schedule",
			`Pause a harvest, collections, a host or a schedule (schedule/due). Requests that are under
way are finished. A host that is paused is asked by no worker, by its name with "www." or
without: its crawls end as stopped, and harvests go on without it.`),
		steerCommand(c, "resume", "Resume what is paused",
			`Resume a harvest, collections, a host or a schedule that is paused. Harvests that run and
want the host go on there.`),
		steerCommand(c, "cancel", "Cancel a harvest, collections, a job or a recrawl; what was found is kept", "Cancel a harvest, collections, a job (by its number) or a recrawl (recrawl/due,\nrecrawl/conf/webdb). What was found is kept."),
	}
}

// steer pauses, resumes or cancels a run, and returns what came of it.
func steer(ctx context.Context, t client.Client, db *store.DB, r *run, how steering) (did string, err error) {
	do := how.do
	update := map[string]string{"pause": workflows.UpdatePause, "resume": workflows.UpdateResume}[do]
	did = map[string]string{"pause": "paused", "resume": "resumed", "cancel": isCancelled}[do]
	workflow := map[string]string{runHarvest: workflows.HarvestID(r.harvest.ID),
		runCollections: workflows.CollectionsID(r.name), runRecrawl: r.id()}[r.kind]
	switch {
	case r.kind == runHarvest && do == "resume" && !r.harvest.Paused && r.harvest.CompletedAt == nil:
		return "", program.Unknown{Reason: fmt.Errorf("%s is not paused", r.harvest.ID)}
	case r.kind == runHarvest && do != "cancel":
		if err = updateWorkflow(ctx, t, workflow, update, nil); hasEnded(err) {
			err = program.Unknown{Reason: fmt.Errorf("%s does not run (it is %s); `%s` starts it again",
				r.harvest.ID, r.harvest.Stage, r.harvest.Command())}
		}
		return did, err
	case r.kind == runCollections && do != "cancel":
		err = updateWorkflow(ctx, t, workflow, update, nil)
	case workflow != "" && do == "cancel":
		did, err = cancelWorkflow(ctx, t, workflow)
	case r.kind == runJob && do == "cancel":
		return did, cancelJob(ctx, t, db.JobRecords, r.job)
	case r.kind == runSchedule && do != "cancel":
		return did, steerSchedule(ctx, t.ScheduleClient(), r, how)
	case r.kind == runSite && do != "cancel":
		return steerSite(ctx, t, db, r.name, how)
	default:
		instead := map[string]string{runJob: "cancel it, and run it again by `starter retry " + r.name + "`",
			runRecrawl: "cancel it, and start it again", runSchedule: "`starter schedule delete` ends it", runSite: "`starter blacklist add` keeps a host from being asked"}
		return "", fmt.Errorf("%w: %s a %s: there is no such thing; %s", program.ErrUsage, do, r.kind, instead[r.kind])
	}
	if hasEnded(err) {
		again := map[string]string{runCollections: "; `starter collect` goes on with collections that ended", runRecrawl: "", runHarvest: fmt.Sprintf(" (it is %s)", r.harvest.Stage)}
		err = program.Unknown{Reason: fmt.Errorf("%s does not run%s", r.id(), again[r.kind])}
	}
	return did, err
}

func steerSchedule(ctx context.Context, schedules client.ScheduleClient, r *run, how steering) error {
	name, err := findSchedule(ctx, schedules, r.name)
	if err != nil {
		return err
	}
	r.name = name
	return steerHandle(ctx, schedules.GetHandle(ctx, scheduleID(name)), how.do, cmp.Or(how.reason, "by a command"))
}

// steerHandle does one of pause, resume and remove to a schedule.
func steerHandle(ctx context.Context, h client.ScheduleHandle, do, note string) error {
	switch do {
	case "pause":
		return h.Pause(ctx, client.SchedulePauseOptions{Note: note})
	case "resume":
		return h.Unpause(ctx, client.ScheduleUnpauseOptions{Note: note})
	}
	return h.Delete(ctx)
}

// steerSite has a host not asked for a while, or asked less often, or lets it be asked again.
func steerSite(ctx context.Context, t client.Client, db *store.DB, host string, how steering) (did string, err error) {
	if how.do == "pause" {
		return "paused: nobody asks it until it is resumed", politeness.Pause(ctx, db.Pool, host, how.reason)
	}
	if how.do == "slow" {
		delay, err := config.ParseDuration(how.reason)
		if err != nil || delay > 4*time.Minute { // a crawl waits for a host for five minutes
			return "", fmt.Errorf("%w: want 0s to 4m, such as 30s; to have it not asked, `starter pause`", program.ErrUsage)
		}
		did = fmt.Sprintf("is asked at most every %s, by everybody", config.DurationText(delay))
		if delay == 0 {
			did = "has no delay set by hand any more"
		}
		return did, politeness.Slow(ctx, db.Pool, host, delay)
	}
	s, err := showSite(ctx, db, host)
	if err == nil && s.Blocked != "" {
		err = fmt.Errorf("%w: %s: %s; `starter blacklist remove %[2]s` takes it off, and then resume it if it is paused", program.ErrUsage, host, s.Blocked)
	}
	if err != nil {
		return "", err
	}
	names, err := politeness.Resume(ctx, db.Pool, host)
	if err == nil && len(names) == 0 {
		err = program.Unknown{Reason: fmt.Errorf("%s is not paused", host)}
	}
	if err != nil {
		return "", err
	}
	var goOn []string
	for _, host := range names {
		harvests, err := db.SiteWatchers(ctx, host)
		if err != nil {
			return "", err
		}
		for _, h := range harvests {
			// Nothing has failed as that: the harvest lists its sites again.
			_, err := retryRunning(ctx, t, h, activities.Retry{Host: host, Reason: "stopped"})
			switch {
			case err == nil:
				of, err := db.FindHarvest(ctx, h)
				if err != nil {
					return "", err
				}
				if later := crawlsLater(of); later != "" {
					h += ", " + later
				}
				goOn = append(goOn, h)
			case !hasEnded(err):
				return "", fmt.Errorf("%s is resumed, but %s does not know: %w; `starter retry %s` tells it", host, h, err, host)
			}
		}
	}
	if len(goOn) > 0 {
		return "resumed: it is asked for " + strings.Join(goOn, ", "), nil
	}
	return "resumed: no harvest that runs wants it; it is asked when one that does is started again", nil
}

// crawlsLater says when a harvest under way asks hosts; it is "" if that may be now.
func crawlsLater(h store.Harvest) string {
	switch {
	case h.Paused:
		return "when the harvest is resumed"
	case slices.Contains([]gleaner.Stage{gleaner.StagePapers, gleaner.StageHeld, gleaner.StageHomepages}, h.Stage):
		return fmt.Sprintf("at the latest when the harvest crawls (stage %s now)", h.Stage)
	}
	return ""
}
