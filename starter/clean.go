package main

import (
	"context"
	"crypto/md5"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gleaner/internal/harvest/reconcile"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/library/collection"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/notify"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
	"gleaner/worker/pool"
)

func cleanCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "clean", Short: "Take off the record what is of no use: documents, parent pages", Args: cobra.NoArgs,
		Long: `Take off the record what is of no use. It is a dry run, a list of what would go with
the reason of each, unless --confirm says otherwise. What goes is told at once; what has
come to be of no use since a dry run goes with it.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(cleanDocumentsCommand(c), cleanParentsCommand(c))
	return cmd
}

func cleanDocumentsCommand(c *cli) *cobra.Command {
	o := tables.Options{}
	var file string
	var either bool
	cmd := &cobra.Command{Use: "documents", Short: "Documents on blacklisted hosts that were not ingested", Args: cobra.NoArgs,
		Long: `Remove documents, with their files, that meet both conditions: their host is on the
blacklist, and the library's own system could not take them (starter documents mark
failed). With --any one of the two is enough. A document that is on another host, too,
loses its place on the blacklisted host alone. One that the library took, that may be a
paper somebody looks for, or that waits to be examined stays, and is listed as kept. Where
a web master wants all of a host's documents gone, name those, too: their papers are
missing again.`,
		Example: "  starter clean documents\n  starter clean documents --any --csv would-go.csv\n  starter clean documents --confirm\n  starter clean documents --only blacklisted --with-ingested --with-matched --confirm",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if either {
				o.Only = tables.Any
			}
			if err := o.Set(store.JobCleanDocuments, "only", o.Only); err != nil {
				return fmt.Errorf("%w: --%w", program.ErrUsage, err)
			}
			return newJob(c, cmd.Context(), store.JobCleanDocuments, o, file)
		}}
	cmd.Flags().BoolVar(&either, "any", false, "what meets either condition, not both")
	cmd.Flags().StringVar(&o.Only, "only", "", "what meets this condition, whatever of the other: blacklisted or failed")
	cmd.MarkFlagsMutuallyExclusive("any", "only")
	cmd.Flags().BoolVar(&o.Ingested, "with-ingested", false, "documents that the library took as well")
	cmd.Flags().BoolVar(&o.Matched, "with-matched", false, "of blacklisted hosts also documents that match a paper, or that a person decided on")
	cleanFlags(cmd, &o, &file)
	return cmd
}

func cleanParentsCommand(c *cli) *cobra.Command {
	o := tables.Options{}
	var file, revised string
	cmd := &cobra.Command{Use: "parents", Short: "Pages that lead to files, and are of no use", Args: cobra.NoArgs,
		Long: `Remove parent pages of no use, which are those on blacklisted hosts, those that are
gone, and those that lead to no document on record ("starter parents" lists them):
the pages, their links to files, and their lines of the whitelist. Pages of a site that
is being crawled may have documents soon. A page that only an import brought was never
asked for here: with --ask it is, politely, and goes where the server says that it is gone.
Of blacklisted hosts all text of pages goes, too: bodies, what is indexed, and the texts of
links. --only blacklisted removes nothing else.`,
		Example: "  starter clean parents --csv parents.csv\n  starter clean parents --only blacklisted --confirm\n  starter clean parents --ask --confirm --revised parenturl.revised.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Set(store.JobCleanParents, "only", o.Only); err != nil {
				return fmt.Errorf("%w: --%w", program.ErrUsage, err)
			}
			err := newJob(c, cmd.Context(), store.JobCleanParents, o, file)
			if err != nil || revised == "" {
				return err
			}
			return c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
				return writeRevised(ctx, a.DB, revised)
			})(cmd, nil)
		}}
	cmd.Flags().StringVar(&o.Only, "only", "", "blacklisted: pages of blacklisted hosts, whatever of others")
	cmd.Flags().BoolVar(&o.Ask, "ask", false, "ask for pages that no crawl asked for, whether they are still there")
	cmd.Flags().StringVar(&revised, "revised", "", "write the pages that stay as CSV to this file")
	cleanFlags(cmd, &o, &file)
	return cmd
}

func cleanFlags(cmd *cobra.Command, o *tables.Options, file *string) {
	cmd.Flags().BoolVar(&o.InPlace, "confirm", false, "remove it; without, it is only told what would go")
	cmd.Flags().StringVar(file, "csv", "", "write the list as CSV to this file, too")
}

// writeRevised writes the parents that are of use as CSV (C §4.2, parenturl.revised.csv).
func writeRevised(ctx context.Context, db *store.DB, file string) error {
	return program.WriteFile(file, func(w io.Writer) error {
		out := csv.NewWriter(w)
		err := out.Write([]string{"url", "md5", "first_crawl", "last_crawl", "documents"})
		for at, more := (store.ParentAt{}), true; more && err == nil; {
			var parents []store.Parent
			if parents, err = db.Parents(ctx, "", at, linesAtOnce); err != nil {
				return err
			}
			for _, p := range parents {
				if at = p.At(); p.Why == "" && err == nil {
					sum := fmt.Sprintf("%x", md5.Sum([]byte(p.URL)))
					err = out.Write([]string{p.URL, sum, crawlDay(p.First, p.Read), crawlDay(p.Last, p.Read), strconv.Itoa(p.Documents)})
				}
			}
			more = len(parents) == linesAtOnce
		}
		out.Flush()
		return errors.Join(err, out.Error())
	})
}

// newJob sets up a job on what is on record, starts it and waits for it.
func newJob(c *cli, ctx context.Context, kind string, o tables.Options, file string) error {
	a, t, done, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	id, err := a.DB.AddJob(ctx, kind, o)
	if err == nil {
		err = c.runJob(ctx, t, a.DB, id, true)
	}
	if err == nil && file != "" {
		err = writeRecords(ctx, a.DB.JobRecords, id, file)
	}
	return err
}

func pruneCommand(c *cli) *cobra.Command {
	var dry bool
	r := store.Retention{}
	cmd := &cobra.Command{Use: "prune [HARVEST]", Short: "Remove what was kept long enough, or a harvest",
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: c.harvests,
		Long: `Remove what was kept long enough: pages fetched as evidence, answers of search
engines, robots.txt that ran out, URLs of sites that were removed, files that are
no paper, lines of jobs that ended and, where an age is set for them, harvests
that a later one covers. Nothing that a report needs is removed: a rejected document keeps its row,
with what was read of it and why it was rejected.

The ages are settings (retain-…); workers do the same by themselves once a day.

A harvest that ended, named by its id, goes whatever its age, with its list of papers and
its report, and nothing else does. Documents, sites and homepages stay.`,
		Example: "  starter prune --dry-run\n  starter prune --rejected 90d\n  starter prune conf/webdb/1998-2004 --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := c.Record(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			if len(args) == 1 {
				return removeHarvest(cmd.Context(), c, a.DB, args[0], dry)
			}
			keep := a.Retention()
			if cmd.Flags().Changed("rejected") {
				keep.Rejected = r.Rejected
			}
			if cmd.Flags().Changed("harvests") {
				keep.Harvests = r.Harvests
			}
			if cmd.Flags().Changed("lines") {
				keep.Lines = r.Lines
			}
			progress := c.Progress("prune")
			done, err := a.DB.Prune(cmd.Context(), keep, a.Repo, store.PruneOptions{DryRun: dry, Told: func(what string, done, of int) {
				progress.Show("removed of " + what)
				progress.Count(done, of)
			}})
			progress.End()
			if err != nil {
				return err
			}
			return c.Print(done, func(w io.Writer) error { return writePruned(w, done, dry) })
		}}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	durationVar(cmd.Flags(), &r.Rejected, "rejected", 0, "remove files of rejected documents judged before so long (default: retain-rejected)")
	durationVar(cmd.Flags(), &r.Harvests, "harvests", 0, "remove harvests covered by a later one and ended before so long (default: retain-harvests)")
	durationVar(cmd.Flags(), &r.Lines, "lines", 0, "remove lines of jobs that ended before so long (default: retain-rejected)")
	return cmd
}

// removeHarvest removes a harvest, which is named by its id alone.
func removeHarvest(ctx context.Context, c *cli, db *store.DB, name string, dry bool) error {
	h, err := findHarvest(ctx, db, name)
	if err != nil {
		return err
	}
	if h.ID != name {
		return fmt.Errorf("%w: name the harvest by its id, such as %s", program.ErrUsage, h.ID)
	}
	gone, err := store.RemoveHarvest(ctx, db, h.ID, dry)
	if err != nil {
		return err
	}
	did := map[bool]string{true: "would be removed", false: "is removed"}[dry]
	return c.Say(gone, "%s %s: a list of %s, %d of them on no other, and its report\n", h.ID, did,
		text.Count(gone.Papers, "paper"), gone.Alone)
}

func writePruned(w io.Writer, done []store.Pruned, dry bool) error {
	verb := "removed"
	if dry {
		verb = "would be removed"
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range done {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s: %s\n", p.What, p.Rows, size(p.Bytes), verb, p.Why)
	}
	return t.Flush()
}

// errDifferences makes `starter verify` end with 1.
var errDifferences = errors.New("repository and database differ")

func verifyCommand(c *cli) *cobra.Command {
	var deep bool
	cmd := &cobra.Command{Use: "verify", Short: "Compare the repository with the database, both ways", Args: cobra.NoArgs,
		Long: `Compare the repository with the database, both ways: files without a row, rows
without a file, sizes, texts and metadata beside each file. --deep reads every
file and compares it with its SHA-256. Any difference is printed, and the exit
code is then 1. Nothing is changed. Files of the last ten minutes without a row
are passed over: a crawl may be about to write it. Files that ` + "`starter prune`" + ` took
away are no difference.`,
		Example: "  starter verify\n  starter verify --deep --json",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			all := []collection.Difference{}
			progress := c.Progress("documents compared")
			defer progress.End()
			seen, err := collection.Verify(ctx, a.DB.DocumentRecords, a.Repo, deep, func(d collection.Difference) {
				all = append(all, d)
				if !c.JSON {
					fmt.Fprintf(c.Out, "%s  %-12s %s\n", d.SHA256, d.What, d.Detail)
				}
			}, progress.Count)
			if err != nil {
				return err
			}
			result := map[string]any{"files": seen.Files, "rows": seen.Rows, "bytes": seen.Bytes, "pruned": seen.Pruned, "deep": deep, "differences": all}
			if err := c.Print(result, func(w io.Writer) error {
				pruned := ""
				if seen.Pruned > 0 {
					pruned = fmt.Sprintf(" (the files of %d were pruned)", seen.Pruned)
				}
				_, err := fmt.Fprintf(w, "%s (%.1f MB) and %s%s compared, %s\n",
					text.Count(seen.Files, "file"), float64(seen.Bytes)/1e6, text.Count(seen.Rows, "row"), pruned, text.Count(len(all), "difference"))
				return err
			}); err != nil || len(all) == 0 {
				return err
			}
			return errDifferences
		})}
	cmd.Flags().BoolVar(&deep, "deep", false, "read every file and compare it with its SHA-256")
	return cmd
}

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
				if err != nil {
					return err
				}
				if mended == nil {
					mended = []reconcile.Repair{}
				}
				return c.Print(mended, func(w io.Writer) error { return writeRepairs(w, mended, o.DryRun) })
			})
		})}
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "only say what would be mended")
	cmd.Flags().BoolVar(&o.Restart, "restart", false, "start harvests again that nobody runs, instead of ending them")
	return cmd
}

func writeRepairs(w io.Writer, mended []reconcile.Repair, dry bool) error {
	if len(mended) == 0 {
		_, err := fmt.Fprintf(w, "nothing to mend (what began or changed in the last %s is left alone)\n", reconcile.Grace)
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range mended {
		verb := string(r.Kind)
		if dry {
			verb = "would be " + verb
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", verb, r.What, r.Reason)
	}
	return t.Flush()
}

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
				return err
			}
			if len(channels) == 0 {
				return fmt.Errorf("%w: no channel is set (GLEANER_NOTIFY_WEBHOOK, GLEANER_NOTIFY_SMTP)", program.ErrUsage)
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
			if err := c.Print(map[string]any{"sent": told}, func(w io.Writer) error {
				for _, name := range told {
					fmt.Fprintf(w, "sent by %s\n", name)
				}
				return nil
			}); err != nil {
				return err
			}
			return failed
		}}
}
