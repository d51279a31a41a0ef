package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
	"gleaner/workflows"
)

// retryFlags say what of a run is tried again.
type retryFlags struct {
	activities.Retry
	failed, wait bool
}

func retryCommand(c *cli) *cobra.Command {
	f := &retryFlags{}
	cmd := &cobra.Command{Use: "retry NAME", Short: "Try again what failed of a harvest or on a host, or run a job again", Args: args(1, runArg), ValidArgsFunction: c.harvests,
		Long: `Try again what failed of a harvest: all of it (--failed), or what a site, a reason or
an age picks out. URLs go back among the waiting, documents over which a reader stalled
are read again, authors of whom a page, a search or a directory did not answer are looked
for again, and catalogues that did not answer are asked again. What failed for good
(forbidden by robots.txt, not found) is left, unless its reason is named; "starter stats
failures" lists the reasons. A pause that a host asked for is kept.

` + laterHoldings + `

Of a host, what failed there is tried again for the harvest that wants it, or the last
one that did, unless that was cancelled or failed. A job, by its number, runs again from
its beginning.`,
		Example: "  starter retry conf/webdb --failed\n  starter retry conf/webdb --site www.example.edu\n  starter retry conf/webdb --reason timeout --older-than 24h\n  starter retry www.example.edu\n  starter retry 3 --wait",
		RunE: c.onRun(f.check, func(ctx context.Context, t client.Client, a *app.App, r run) error {
			switch r.kind {
			case runHarvest:
				return retryHarvest(ctx, c, t, a.DB, r.harvest, f)
			case runSite:
				return retrySite(ctx, c, t, a.DB, r.site, f)
			}
			if err := renewJob(ctx, a.DB.JobRecords, r.job); err != nil {
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
		return fmt.Errorf("%w: %s: %s", program.ErrUsage, r.name, r.site.Blocked)
	case r.kind == runSite && r.site.Harvest == "":
		return program.Unknown{Reason: fmt.Errorf("no harvest wants %[1]s; `starter recrawl %[1]s` asks it again", r.name)}
	case r.kind == runHarvest, r.kind == runSite && cmp.Or(f.Host, r.name) == r.name, r.kind == runJob && !f.failed && !picked:
		return nil
	}
	return fmt.Errorf("%w: %s is no harvest, and no host or job without further options: these alone are tried again", program.ErrUsage, r.id())
}

// retryHarvest tries again what failed of a harvest, and says what that is.
func retryHarvest(ctx context.Context, c *cli, t client.Client, db *store.DB, h store.Harvest, f *retryFlags) error {
	if err := checkRetry(ctx, db, h, f.Retry); err != nil {
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
	return c.Print(map[string]any{"harvest": h.ID, "urls": did.URLs, "documents": did.Stalled, "authors": did.Authors, "sources": did.Sources, "sites": did.Sites, "held": did.Held, "waiting": asked}, func(w io.Writer) error {
		fmt.Fprintln(w, h.ID, retryWords(did, now))
		for _, a := range asked {
			fmt.Fprintf(w, "%s asked to be left alone until %s (Retry-After), and is\n", a.Host, a.Until.Local().Format(time.DateTime))
		}
		return nil
	})
}

// retrySite tries again what failed on a host, for the harvest that wants it.
func retrySite(ctx context.Context, c *cli, t client.Client, db *store.DB, s app.SiteView, f *retryFlags) error {
	f.Host = s.Host
	h, err := db.FindHarvest(ctx, s.Harvest)
	if err != nil {
		return err
	}
	did, _, err := retry(ctx, t, db, h, f.Retry)
	if err != nil {
		return err
	}
	if f.wait {
		return c.follow(ctx, t, h.ID)
	}
	next := "next request " + cmp.Or(crawlsLater(h), store.SiteRow{Next: s.Next}.NextWords(time.DateTime))
	if did.URLs+did.Sites+did.Authors == 0 {
		next = "nothing is requested"
	}
	return c.Say(map[string]any{"host": s.Host, "harvest": h.ID, "urls": did.URLs, "documents": did.Stalled, "next_allowed_at": s.Next}, "%s: asked again for %s that failed and %s that stalled, for %s; %s\n",
		s.Host, text.Count(did.URLs, "URL"), text.Count(did.Stalled, "document"), h.ID, next)
}

// checkRetry reports whether there is such a site, and whether anything failed for the
// reason named: a misspelt one would retry nothing, and not say so.
func checkRetry(ctx context.Context, db *store.DB, h store.Harvest, what activities.Retry) error {
	if err := hasSite(ctx, db, what.Host); err != nil {
		return err
	}
	if what.Reason == "" {
		return nil
	}
	failures, err := db.Failures(ctx, store.RetryFilter{Harvest: h.ID, Host: what.Host})
	if err != nil || slices.ContainsFunc(failures, func(f store.Failure) bool { return f.Reason == what.Reason }) {
		return err
	}
	return fmt.Errorf("%w: nothing of %s failed as %q; `starter stats failures %s` lists the reasons", program.ErrUsage, h.ID, what.Reason, h.ID)
}

// retry tells a running harvest, or starts one that begins with what was left
// open. It returns what was put back; of one that is started, what will be (now
// is false).
func retry(ctx context.Context, t client.Client, db *store.DB, h store.Harvest, what activities.Retry) (did activities.Requeued, now bool, err error) {
	if h.CompletedAt == nil {
		did, err := retryRunning(ctx, t, h.ID, what)
		if !hasEnded(err) {
			return did, true, err
		}
	}
	if what.Host != "" && h.Stage != gleaner.StageComplete {
		return did, false, fmt.Errorf("%w: %s is %s: run it again, or have the host recrawled alone; "+
			"`%s` does the one, `starter recrawl %s` the other", program.ErrUsage, h.ID, h.Stage, h.Command(), what.Host)
	}
	again, err := activities.HarvestOf(h)
	if err != nil {
		return did, false, err
	}
	what.Harvest = h.ID
	if did, err = checkRetryLeft(ctx, db, h, what); err != nil {
		return did, false, err
	}
	again.Options.Again = activities.AgainDue // what was asked of all before it ended is not asked twice
	p := workflows.HarvestParams{Harvest: again, Stage: workflows.FirstStage(again.Goal), Retry: &what}
	if h.Stage == gleaner.StageComplete { // what did not fail is not asked again
		p.Stage, p.Harvest.Options.Again = gleaner.StageCrawl, activities.AgainNone
	}
	joined, err := startHarvest(ctx, t, p)
	if err == nil && joined {
		err = fmt.Errorf("%s was started a moment ago, and no worker has begun it: retry again when one has", h.ID)
	}
	return did, false, err
}

// countRetry counts what a retry of a harvest that does not run would take up.
func countRetry(ctx context.Context, db *store.DB, h store.Harvest, what activities.Retry) (would activities.Requeued, err error) {
	f := store.RetryFilter{Harvest: h.ID, Host: what.Host, Reason: what.Reason, OlderThan: what.OlderThan}
	q, err := db.Meant(ctx, f)
	if err != nil {
		return would, err
	}
	would.Authors, would.Sources = q.Authors, q.Papers+q.Copies
	if what.Host == "" && what.Reason == "" {
		held, err := (&harvest.Stages{DB: db}).HeldByNow(ctx, h.ID)
		if err != nil {
			return would, err
		}
		would.Held = len(held)
	}
	if would.URLs, err = db.FailedURLs(ctx, f); err != nil {
		return would, err
	}
	if would.Sites, err = db.RetriedSites(ctx, f); err != nil {
		return would, err
	}
	would.Stalled, err = db.StalledDocuments(ctx, f)
	return would, err
}

// checkRetryLeft returns what a retry of a harvest that does not run takes up. Where that is
// nothing of a complete one, the error names the reasons which a retry has to name.
func checkRetryLeft(ctx context.Context, db *store.DB, h store.Harvest, what activities.Retry) (would activities.Requeued, err error) {
	would, err = countRetry(ctx, db, h, what)
	if err != nil || h.Stage != gleaner.StageComplete || would != (activities.Requeued{}) {
		return would, err
	}
	failures, err := db.Failures(ctx, store.RetryFilter{Harvest: h.ID, Host: what.Host})
	named := each.Of(failures, func(f store.Failure) string { return fmt.Sprintf("%s (%s)", f.Reason, f.Words()) })
	if len(named) == 0 {
		return would, cmp.Or[error](err, program.Unknown{Reason: fmt.Errorf("nothing of %s failed that could be tried again", h.ID)})
	}
	return would, fmt.Errorf("%w: nothing would be tried again, as this is only where it is named as the reason: %s",
		program.ErrUsage, strings.Join(named, ", "))
}

// retryRunning tells a harvest that runs, and returns what it put back.
func retryRunning(ctx context.Context, t client.Client, harvest string, what activities.Retry) (did activities.Requeued, err error) {
	err = updateWorkflow(ctx, t, workflows.HarvestID(harvest), workflows.UpdateRetryWhat, &did, what)
	return did, err
}

// retryWords says what a retry takes up, of a harvest that runs or that it starts.
func retryWords(did activities.Requeued, runs bool) string {
	word := map[bool]string{true: "asks again for", false: "goes on:"}[runs]
	held := ""
	if did.Held > 0 {
		held = "; " + text.CountIs(did.Held, "paper") + " held by the library by now"
	}
	return fmt.Sprintf("%s %s that failed, %s that stalled, %s that refused or stopped, %s and %s to catalogues without an answer", word,
		text.Count(did.URLs, "URL"), text.Count(did.Stalled, "document"), text.Count(did.Sites, "site"), text.Count(did.Authors, "author"), text.Count(did.Sources, "question")) + held
}
