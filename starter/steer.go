package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/each"
	"gleaner/internal/politeness"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
	"gleaner/workflows"
)

const aRun = "the name of a harvest, of collections or of a host, the number of a job, or an id such as schedule/due, recrawl/due or collections/math"

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
	site       shownSite
	reason     string // for which a host is paused
	waits      bool   // for a worker that begins it
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
		if _, err := strconv.ParseInt(given, 10, 64); err == nil {
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
		return run{}, program.Unknown{Reason: fmt.Errorf("no harvest, collections or host is called %s; `starter status`, `starter collections list` and `starter sites list` list them", given)}
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
		if id := unrecorded(c, ctx, args[0], err); id != "" {
			r, err = run{kind: runHarvest, name: id, harvest: store.Harvest{ID: id}, waits: true}, nil
		}
		if err == nil {
			err = check(r)
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
		Args: args(1, aRun), ValidArgsFunction: c.harvests,
		Example: "  starter " + use + " conf/webdb\n  starter " + use + " math",
		RunE: c.onRun(func(r run) error {
			if r.waits && use != "cancel" {
				return waitsForWorker(r.name)
			}
			return nil
		}, func(ctx context.Context, t client.Client, a *app.App, r run) error {
			r.reason = reason
			did, err := steer(ctx, t, a.DB, &r, use)
			if err != nil {
				return err
			}
			name := r.name
			if r.kind == runRecrawl {
				name = r.id() // its name is a harvest's, too
			}
			return c.Say(map[string]string{r.kind: r.name, "did": did}, "%s %s\n", name, did)
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
want the host go on there at once.`),
		steerCommand(c, "cancel", "Cancel a harvest, collections, a job or a recrawl; what was found is kept", "Cancel a harvest, collections, a job (by its number) or a recrawl (recrawl/due,\nrecrawl/conf/webdb). What was found is kept."),
	}
}

// steer pauses, resumes or cancels a run, and returns what came of it.
func steer(ctx context.Context, t client.Client, db *store.DB, r *run, do string) (did string, err error) {
	update := map[string]string{"pause": workflows.UpdatePause, "resume": workflows.UpdateResume}[do]
	did = map[string]string{"pause": "paused", "resume": "resumed", "cancel": isCancelled}[do]
	switch {
	case r.kind == runHarvest && do != "cancel":
		return did, notRunning(r.harvest, updateWorkflow(ctx, t, workflows.HarvestID(r.harvest.ID), update))
	case r.kind == runHarvest:
		did, err = cancelWorkflow(ctx, t, workflows.HarvestID(r.harvest.ID))
		return did, notRunning(r.harvest, err)
	case r.kind == runCollections && do != "cancel":
		err = updateWorkflow(ctx, t, workflows.CollectionsID(r.name), update)
	case r.kind == runCollections:
		did, err = cancelWorkflow(ctx, t, workflows.CollectionsID(r.name))
	case r.kind == runJob && do == "cancel":
		return did, cancelJob(ctx, t, db.JobRecords, r.job)
	case r.kind == runRecrawl && do == "cancel":
		did, err = cancelWorkflow(ctx, t, r.id())
	case r.kind == runSchedule && do != "cancel":
		return did, steerSchedule(ctx, t.ScheduleClient(), r, do)
	case r.kind == runSite && do != "cancel":
		return steerSite(ctx, t, db, r, do)
	default:
		instead := map[string]string{runJob: "cancel it, and run it again by `starter retry " + r.name + "`",
			runRecrawl: "cancel it, and start it again", runSchedule: "`starter schedule delete` ends it", runSite: "`starter blacklist add` keeps a host from being asked"}
		return "", fmt.Errorf("%w: %s a %s: there is no such thing; %s", program.ErrUsage, do, r.kind, instead[r.kind])
	}
	if hasEnded(err) {
		again := map[string]string{runCollections: "; `starter collect` goes on with collections that ended", runRecrawl: ""}
		err = program.Unknown{Reason: fmt.Errorf("%s does not run%s", r.id(), again[r.kind])}
	}
	return did, err
}

func steerSchedule(ctx context.Context, schedules client.ScheduleClient, r *run, do string) error {
	name, err := findSchedule(ctx, schedules, r.name)
	if err != nil {
		return err
	}
	r.name = name
	return steerHandle(ctx, schedules.GetHandle(ctx, scheduleID(name)), do, cmp.Or(r.reason, "by a command"))
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

// updateWorkflow sends a running workflow an update, and waits until it is done.
func updateWorkflow(ctx context.Context, t client.Client, id, name string) error {
	handle, err := t.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID:   id,
		UpdateName:   name,
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	return err
}

// retryFlags say what of a run is tried again.
type retryFlags struct {
	activities.Retry
	failed, wait bool
}

func retryCommand(c *cli) *cobra.Command {
	f := &retryFlags{}
	cmd := &cobra.Command{Use: "retry NAME", Short: "Try again what failed of a harvest or on a host, or run a job again", Args: args(1, aRun), ValidArgsFunction: c.harvests,
		Long: `Try again what failed of a harvest: all of it (--failed), or what a site, a reason or
an age picks out. URLs go back among the waiting, documents over which a reader stalled
are read again, authors of whom a page, a search or a directory did not answer are looked
for again, and catalogues that did not answer are asked again. What failed for good
(forbidden by robots.txt, not found) is left, unless its reason is named; "starter stats
failures" lists the reasons. A pause that a host asked for is kept.

` + laterHoldings + `

Of a host, what failed there is tried again for the harvest that wants it, or the last
one that did. A job, by its number, runs again from its beginning.`,
		Example: "  starter retry conf/webdb --failed\n  starter retry conf/webdb --site www.example.edu\n  starter retry conf/webdb --reason timeout --older-than 24h\n  starter retry www.example.edu\n  starter retry 3 --wait",
		RunE: c.onRun(f.check, func(ctx context.Context, t client.Client, a *app.App, r run) error {
			switch r.kind {
			case runHarvest:
				return retryHarvest(c, ctx, t, a.DB, r.harvest, f)
			case runSite:
				return retrySite(c, ctx, t, a.DB, r.site, f)
			}
			if err := again(ctx, a.DB.JobRecords, r.job); err != nil {
				return err
			}
			return c.runJob(ctx, t, a.DB, r.job, f.wait)
		})}
	cmd.Flags().StringVar(&f.Host, "site", "", "one host")
	cmd.Flags().StringVar(&f.Reason, "reason", "", "one reason, such as timeout, busy, stalled or robots-denied")
	durationVar(cmd.Flags(), &f.OlderThan, "older-than", 0, "what failed so long ago, or longer")
	cmd.Flags().BoolVar(&f.failed, "failed", false, "all that failed")
	cmd.Flags().BoolVar(&f.wait, "wait", false, "show progress, and end when the harvest or the job does")
	return cmd
}

// check reports whether a run can be tried again as the flags have it.
func (f *retryFlags) check(r run) error {
	picked := f.Retry != activities.Retry{}
	switch {
	case r.waits:
		return waitsForWorker(r.name)
	case r.kind == runHarvest && f.failed == picked:
		return fmt.Errorf("%w: want either --failed or any of --site, --reason and --older-than", program.ErrUsage)
	case r.kind == runSite && r.site.Blocked != "":
		return fmt.Errorf("%s: %s", r.name, r.site.Blocked)
	case r.kind == runSite && r.site.Harvest == "":
		return program.Unknown{Reason: fmt.Errorf("no harvest wants %[1]s; `starter recrawl %[1]s` asks it again", r.name)}
	case r.kind == runHarvest, r.kind == runSite && cmp.Or(f.Host, r.name) == r.name, r.kind == runJob && !f.failed && !picked:
		return nil
	}
	return fmt.Errorf("%w: %s is no harvest, and no host or job without further options: these alone are tried again", program.ErrUsage, r.id())
}

// retryWords says what a retry takes up, of a harvest that runs or that it starts.
func retryWords(did activities.Requeued, runs bool) string {
	word := "goes on:"
	if runs {
		word = "asks again for"
	}
	return fmt.Sprintf("%s %s that failed, %s that stalled, %s that refused or stopped, %s and %s to catalogues without an answer", word,
		text.Count(did.URLs, "URL"), text.Count(did.Stalled, "document"), text.Count(did.Sites, "site"), text.Count(did.Authors, "author"), text.Count(did.Sources, "question"))
}

// retryHarvest tries again what failed of a harvest, and says what that is.
func retryHarvest(c *cli, ctx context.Context, t client.Client, db *store.DB, h store.Harvest, f *retryFlags) error {
	if err := known(ctx, db, h, f.Retry); err != nil {
		return err
	}
	did, now, err := retry(ctx, t, db, h, f.Retry)
	if err != nil {
		return err
	}
	if f.wait {
		return c.follow(ctx, t, h.ID)
	}
	asked, err := db.AskedSites(ctx, store.RetryFilter{Harvest: h.ID, Host: f.Host})
	if err != nil {
		return err
	}
	return c.Print(map[string]any{"harvest": h.ID, "urls": did.URLs, "documents": did.Stalled, "authors": did.Authors, "sources": did.Sources, "sites": did.Sites, "waiting": asked}, func(w io.Writer) error {
		fmt.Fprintln(w, h.ID, retryWords(did, now))
		for _, a := range asked {
			fmt.Fprintf(w, "%s asked to be left alone until %s (Retry-After), and is\n", a.Host, a.Until.Format("2006-01-02 15:04:05"))
		}
		return nil
	})
}

// steerSite has a host not asked for a while, or lets it be asked again.
func steerSite(ctx context.Context, t client.Client, db *store.DB, r *run, do string) (did string, err error) {
	if do == "pause" {
		return "paused: nobody asks it until it is resumed", politeness.Pause(ctx, db.Pool, r.name, r.reason)
	}
	names, err := politeness.Resume(ctx, db.Pool, r.name)
	if err == nil && len(names) == 0 {
		err = program.Unknown{Reason: fmt.Errorf("%s is not paused", r.name)}
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
				goOn = append(goOn, h)
			case !hasEnded(err):
				return "", err
			}
		}
	}
	if len(goOn) > 0 {
		return "resumed: it is asked for " + strings.Join(goOn, ", "), nil
	}
	return "resumed: no harvest that runs wants it; it is asked when one that does is started again", nil
}
