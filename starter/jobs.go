package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gleaner/internal/harvest/tables"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/jobfile"
	"gleaner/internal/service/program"
)

func jobsCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "jobs", Short: "List, show, change and run imports and jobs on the record"}
	cmd.AddCommand(jobsListCommand(c), jobsShowCommand(c), jobsRunCommand(c), jobsModifyCommand(c))
	return cmd
}

const jobArg = "the number of a job"

// onJob runs a command on one job.
func (c *cli) onJob(do func(ctx context.Context, a *app.App, id int64) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		id, err := jobNumber(args[0])
		if err != nil {
			return err
		}
		return c.withRecord(cmd.Context(), func(a *app.App) error { return do(cmd.Context(), a, id) })
	}
}

func jobsListCommand(c *cli) *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List all jobs, the latest first", Args: cobra.NoArgs, Example: "  starter jobs list\n  starter jobs list --json",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			jobs, err := a.DB.Jobs(ctx)
			return printRows(c, jobs, err, "job\tkind\tstate\trun\trecords\ttaken\ttime\twhat", func(j store.Job) string {
				o, _ := jobfile.Of(j)
				return fmt.Sprintf("%d\t%s\t%s\t%d\t%d\t%d\t%s\t%s", j.ID, j.Kind, j.State, j.Run, j.Done,
					jobfile.Counted(j).Taken(), rounded(j.Time(time.Now())), o.Describe())
			}, "no job yet: starter import PATH")
		})}
}

// shownJob is a job with the records that differ from what their log promises.
type shownJob struct {
	store.Job
	Seconds     float64              `json:"seconds"`
	Differences []store.ImportRecord `json:"differences"`
	More        int64                `json:"more_differences"` // that are not among them
}

// differencesShown is how many differences are listed; the record has all, and what is
// left out is counted.
const differencesShown = 1000

func jobsShowCommand(c *cli) *cobra.Command {
	var file string
	var asFile bool
	cmd := &cobra.Command{Use: "show JOB", Short: "Show a job: options, counters, and each difference between its log and the record", Args: args(1, jobArg),
		Example: "  starter jobs show 3\n  starter jobs show 4 --csv lines.csv\n  starter jobs show 4 --file >nightly.yaml",
		RunE: c.onJob(func(ctx context.Context, a *app.App, id int64) error {
			job, err := a.DB.Job(ctx, id)
			if err != nil {
				return err
			}
			if asFile {
				return printJobFile(c, job)
			}
			s := shownJob{Job: job, Seconds: job.Time(time.Now()).Seconds()}
			if s.Differences, err = a.DB.ImportRecords(ctx, id, 0, true, differencesShown); err != nil {
				return err
			}
			_, all, err := a.DB.Differences(ctx, id)
			if err != nil {
				return err
			}
			s.More = max(0, all-differencesShown)
			if file == "-" {
				return program.WriteCSV(c.Out, store.RecordHeads(), a.DB.RecordRows(ctx, id))
			}
			if file != "" {
				if err := writeRecords(ctx, a.DB.JobRecords, id, file); err != nil {
					return err
				}
			}
			return c.Print(s, func(w io.Writer) error { return writeJob(w, s) })
		})}
	cmd.Flags().BoolVar(&asFile, "file", false, "print the job as a file alone, which \"starter jobs run\" takes")
	cmd.Flags().StringVar(&file, "csv", "", "write all lines of the job as CSV to this file, too; with - alone, to the standard output")
	return cmd
}

func writeJob(w io.Writer, s shownJob) error {
	fmt.Fprintf(w, "job %d (%s), run %d: %s %s\noptions: %s\n", s.ID, s.Kind, s.Run, s.State, s.Note, s.Options)
	_, end := endOf(s.Job)
	if err := end(w); err != nil {
		return err
	}
	for _, d := range s.Differences {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", d.N, d.URL, d.Source, d.Difference)
	}
	if s.More > 0 {
		fmt.Fprintf(w, "and %d more differences; `starter jobs show %d --csv FILE` lists all\n", s.More, s.ID)
	}
	return nil
}

func jobsRunCommand(c *cli) *cobra.Command {
	var wait, confirm bool
	cmd := &cobra.Command{Use: "run JOB|FILE", Short: "Run a job again, from its beginning, or one that a file describes", Args: args(1, jobArg+", or a file that describes one"),
		Long: `Run a job again, from its beginning and with its options. What an import saved before
is on record, and counts as a duplicate now. A job that was set up and did not run yet
runs for the first time; one that runs is joined. A cleaning only tells what would go,
unless it is run with --confirm.

A file, as "starter jobs show JOB --file" writes it, describes a new job: "job", which is
` + strings.Join(jobfile.Kinds(), ", ") + `, and
its options. Paths in it are seen from the folder in which the command is given.`,
		Example: "  starter jobs run 3 --wait\n  starter jobs run 4 --confirm --wait\n  starter jobs run nightly.yaml --wait",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, args []string) error {
			id, err := jobNumber(args[0])
			switch {
			case err != nil:
				id, err = newJobOf(ctx, a.DB, args[0], confirm)
			default:
				if err = confirmed(ctx, a.DB, id, confirm); err == nil {
					err = renewJob(ctx, a.DB.JobRecords, id)
				}
			}
			if err != nil {
				return err
			}
			return c.onTemporal(ctx, func(t client.Client) error { return c.runJob(ctx, t, a.DB, id, wait) })
		})}
	cmd.Flags().BoolVar(&wait, "wait", false, "show a line for each file or document, and end when the job does")
	cmd.Flags().BoolVar(&confirm, "confirm", false, "of a cleaning: remove what it says would go")
	return cmd
}

// confirmed has a cleaning remove what it lists, or only list it: one that was confirmed
// and is run again lists first what would go now.
func confirmed(ctx context.Context, db *store.DB, id int64, confirm bool) error {
	job, err := db.Job(ctx, id)
	if err != nil || !confirm && (job.Ended == nil || !tables.Removes(job.Kind)) {
		return err
	}
	return usage(jobfile.Modify(ctx, db.JobRecords, id, func(_ store.Job, o *jobfile.Options) error {
		return o.Set("confirm", map[bool]string{true: "yes"}[confirm])
	}))
}

func jobsModifyCommand(c *cli) *cobra.Command {
	f := &importFlags{}
	var set []string
	cmd := &cobra.Command{Use: "modify JOB", Short: "Change the options of a job that does not run", Args: args(1, jobArg),
		Long: `Change the options of a job that does not run. What is not named stays; "starter jobs
run" runs it with them. The options of an import are those of "starter import"; those of
other jobs are named by --set, as "starter jobs show" lists them.`,
		Example: "  starter jobs modify 3 --filter off\n  starter jobs modify 3 --types pdf --blacklist hosts.txt\n  starter jobs modify 5 --set kind=pdf --set sample=1000"}
	cmd.RunE = c.onJob(func(ctx context.Context, a *app.App, id int64) error {
		err := jobfile.Modify(ctx, a.DB.JobRecords, id, func(job store.Job, o *jobfile.Options) error {
			if job.Kind == store.JobImport && len(set) == 0 {
				return f.apply(cmd.Flags(), &o.Import)
			}
			return setNamed(o, job.Kind, set)
		})
		if err != nil {
			return usage(err)
		}
		job, err := a.DB.Job(ctx, id)
		return done(c, err, map[string]any{"job": id, "options": job.Options}, "job %d changed; `starter jobs run %d` runs it\n", id, id)
	})
	f.register(cmd.Flags())
	cmd.Flags().StringArrayVar(&set, "set", nil, "an option of a job that is no import, NAME=VALUE; may be given again")
	return cmd
}

// setNamed sets options, NAME=VALUE each.
func setNamed(o *jobfile.Options, kind string, set []string) error {
	if len(set) == 0 {
		return fmt.Errorf("%w: want --set NAME=VALUE; names are %s", program.ErrUsage, strings.Join(tables.Fields(kind), ", "))
	}
	for _, nameValue := range set {
		name, value, _ := strings.Cut(nameValue, "=")
		if err := o.Set(name, value); err != nil {
			return fmt.Errorf("--set: %w", err)
		}
	}
	return nil
}

// printJobFile prints a job as a file.
func printJobFile(c *cli, job store.Job) error {
	file, err := jobfile.Write(job)
	return done(c, err, map[string]string{"file": string(file)}, "%s", file)
}

// newJobOf sets up the job that a file describes.
func newJobOf(ctx context.Context, db *store.DB, name string, confirm bool) (int64, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("%w: want %s, or a file that describes one; there is no %s", program.ErrUsage,
			jobArg, name)
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	kind, options, err := jobfile.Read(file)
	if err == nil && confirm {
		err = options.Set("confirm", "yes")
	}
	if err == nil { // as a worker in another folder finds it
		options.Import.Paths, err = importPaths(options.Import.Paths)
	}
	if err == nil {
		*options.To(), err = absolute(*options.To())
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w", program.ErrUsage, name, err)
	}
	return db.AddJob(ctx, kind, options)
}
