package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
)

func (c *cli) jobsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "jobs", Short: "List, show, change and run again what imports are set up", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(c.jobsListCommand(), c.jobsShowCommand(), c.jobsRunCommand(), c.jobsModifyCommand())
	return cmd
}

const aJob = "the number of a job"

// onJob runs a command on one job.
func (c *cli) onJob(do func(ctx context.Context, a *app.App, id int64) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			return fmt.Errorf("%w: want %s, not %q", program.ErrUsage, aJob, args[0])
		}
		a, err := c.Record(cmd.Context())
		if err != nil {
			return err
		}
		defer a.Close()
		return do(cmd.Context(), a, id)
	}
}

// importJob is a job with its options.
func importJob(ctx context.Context, db *store.DB, id int64) (job store.Job, o ingest.Options, err error) {
	if job, err = db.Job(ctx, id); err == nil {
		err = json.Unmarshal(job.Options, &o)
	}
	return job, o, err
}

func (c *cli) jobsListCommand() *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List all jobs, the latest first", Args: cobra.NoArgs, Example: "  starter jobs list\n  starter jobs list --json",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			jobs, err := a.DB.Jobs(ctx)
			if err != nil {
				return err
			}
			if jobs == nil {
				jobs = []store.Job{}
			}
			return c.Print(jobs, func(w io.Writer) error {
				return table(w, "job\tkind\tstate\trun\trecords\tsaved\ttime\twhat", func(line func(string, ...any)) {
					for _, j := range jobs {
						var o ingest.Options
						var n ingest.Counters
						_, _ = json.Unmarshal(j.Options, &o), json.Unmarshal(j.Counters, &n)
						line("%d\t%s\t%s\t%d\t%d\t%d\t%s\t%s", j.ID, j.Kind, j.State, j.Run, j.Done, n.SavedNew+n.SavedDuplicate, rounded(j.Time(time.Now())), strings.Join(o.Paths, " "))
					}
				})
			})
		})}
}

func rounded(d time.Duration) time.Duration {
	if d < time.Minute {
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// shownJob is a job with the records that differ from what their log promises.
type shownJob struct {
	store.Job
	Seconds     float64              `json:"seconds"`
	Differences []store.ImportRecord `json:"differences"`
}

// differencesShown is how many differences are listed; the record has all.
const differencesShown = 1000

func (c *cli) jobsShowCommand() *cobra.Command {
	return &cobra.Command{Use: "show JOB", Short: "Show a job: options, counters, and each difference between its log and the record", Args: args(1, aJob),
		Example: "  starter jobs show 3",
		RunE: c.onJob(func(ctx context.Context, a *app.App, id int64) error {
			job, err := a.DB.Job(ctx, id)
			if err != nil {
				return err
			}
			s := shownJob{Job: job, Seconds: job.Time(time.Now()).Seconds(), Differences: []store.ImportRecord{}}
			differ, err := a.DB.ImportRecords(ctx, id, 0, true, differencesShown)
			if err != nil {
				return err
			}
			s.Differences = append(s.Differences, differ...)
			return c.Print(s, func(w io.Writer) error { return writeJob(w, s) })
		})}
}

func writeJob(w io.Writer, s shownJob) error {
	fmt.Fprintf(w, "job %d (%s), run %d: %s %s\noptions: %s\n", s.ID, s.Kind, s.Run, s.State, s.Note, s.Options)
	var n ingest.Counters
	if err := json.Unmarshal(s.Counters, &n); err != nil {
		return err
	}
	if err := writeImported(w, n, time.Duration(s.Seconds*float64(time.Second))); err != nil {
		return err
	}
	for _, d := range s.Differences {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", d.N, d.URL, d.Source, d.Difference)
	}
	return nil
}

func (c *cli) jobsRunCommand() *cobra.Command {
	var wait bool
	cmd := &cobra.Command{Use: "run JOB", Short: "Run a job again, from its beginning", Args: args(1, aJob),
		Long: `Run a job again, from its beginning and with its options. What it saved before is
on record, and counts as a duplicate now. A job that was set up and did not run yet
runs for the first time; one that runs is joined.`,
		Example: "  starter jobs run 3 --wait",
		RunE: c.onJob(func(ctx context.Context, a *app.App, id int64) error {
			job, err := a.DB.Job(ctx, id)
			if err != nil {
				return err
			}
			if job.State != store.JobNew && job.State != store.JobRunning {
				if err := a.DB.RenewJob(ctx, id); err != nil {
					return err
				}
			}
			t, err := c.temporal(ctx)
			if err != nil {
				return err
			}
			defer t.Close()
			return c.runImport(ctx, t, a.DB, id, wait)
		})}
	cmd.Flags().BoolVar(&wait, "wait", false, "show a line for each file, and end when the job does")
	return cmd
}

func (c *cli) jobsModifyCommand() *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{Use: "modify JOB", Short: "Change the options of a job that does not run", Args: args(1, aJob),
		Long:    "Change the options of a job that does not run. What is not named stays; `starter jobs run` runs it with them.",
		Example: "  starter jobs modify 3 --filter off\n  starter jobs modify 3 --types pdf --blacklist hosts.txt"}
	cmd.RunE = c.onJob(func(ctx context.Context, a *app.App, id int64) error {
		_, o, err := importJob(ctx, a.DB, id)
		if err != nil {
			return err
		}
		if err := f.apply(cmd.Flags(), &o); err != nil {
			return err
		}
		if err := a.DB.ModifyJob(ctx, id, o); err != nil {
			return err
		}
		return c.Print(map[string]any{"job": id, "options": o}, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "job %d changed; `starter jobs run %d` runs it\n", id, id)
			return err
		})
	})
	f.register(cmd.Flags())
	return cmd
}
