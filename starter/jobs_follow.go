package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
	"gleaner/internal/service/jobfile"
	"gleaner/internal/service/program"
	"gleaner/workflows"
)

// followRecords prints the lines of a job while something waits for its end.
func (c *cli) followRecords(ctx context.Context, db *store.DB, job store.Job, await func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- await() }()
	after, err, waits := int64(0), error(nil), ""
	progress := c.Progress(aheadOf(job))
	for over := false; !over; {
		select {
		case err = <-ended:
			over = true
		case <-time.After(importLook):
		}
		if now, jerr := db.Job(ctx, job.ID); jerr == nil && now.State == store.JobRunning {
			progress.Show(aheadOf(now))
			if now.Note != waits && now.Note != "" {
				fmt.Fprintf(c.Err, "job %d waits: %s\n", job.ID, now.Note)
			}
			waits = now.Note
		}
		if after, err = printRecords(ctx, c, db, job, after, err); ctx.Err() != nil {
			return err
		}
	}
	return err
}

// aheadOf says how far a job is.
func aheadOf(job store.Job) string {
	return fmt.Sprintf("job %d: %s", job.ID, jobfile.Counted(job).Import.Place(job.Done))
}

// printRecords prints what became of the resources behind a number.
func printRecords(ctx context.Context, c *cli, db *store.DB, of store.Job, after int64, err error) (int64, error) {
	for {
		done, lerr := db.ImportRecords(ctx, of.ID, after, false, 500)
		if lerr != nil && !store.Away(lerr) {
			return after, errors.Join(err, lerr)
		}
		if len(done) > 0 && of.Kind == store.JobImport {
			if job, jerr := db.Job(ctx, of.ID); jerr == nil {
				of = job
			}
		}
		o, _ := jobfile.Of(of)
		n := jobfile.Counted(of).Import
		for _, r := range done {
			after = r.N
			line := fmt.Sprintf("[%d] %s  %s %s  %s", r.N, r.URL, r.Outcome, r.Kind, r.Detail)
			if of.Kind == store.JobImport {
				line = lineOf(r, n, o.Import.Unrecorded)
			}
			if c.JSON { // the counters alone
				continue
			}
			if err := c.Out.Line(colorOf(r.Outcome), line); err != nil {
				return after, err
			}
		}
		if len(done) < 500 {
			return after, err
		}
	}
}

// colorOf is green for what was saved, yellow for what was filtered, red for what
// failed or goes, grey for what was passed over.
func colorOf(outcome string) string {
	switch word, _, _ := strings.Cut(outcome, "_"); word {
	case "saved", "retrieved":
		return "32"
	case "filtered":
		return "33"
	case "failed", "gone", "would-go":
		return "31"
	}
	return "90"
}

// endOfTable is what a job on the record came to, as JSON.
type endOfTable struct {
	tables.Counters
	Job     int64   `json:"job"`
	Kind    string  `json:"kind"`
	State   string  `json:"state"`
	InPlace bool    `json:"in_place"`
	Seconds float64 `json:"seconds"`
}

// endOfImport is what an import came to, as JSON.
type endOfImport struct {
	ingest.Counters
	Job     int64   `json:"job"`
	State   string  `json:"state"`
	Seconds float64 `json:"seconds"`
}

// endOf is what a job came to, as JSON and in words.
func endOf(job store.Job) (json any, write func(io.Writer) error) {
	o, _ := jobfile.Of(job)
	n, took := jobfile.Counted(job), job.Time(time.Now())
	if job.Kind == store.JobImport {
		return endOfImport{n.Import, job.ID, job.State, took.Seconds()},
			func(w io.Writer) error { return writeImported(w, n.Import, took, o.Import.Unrecorded) }
	}
	end := endOfTable{n.Table, job.ID, job.Kind, job.State, o.Table.InPlace, took.Seconds()}
	return end, func(w io.Writer) error { return writeTable(w, end) }
}

// followJob prints a line for each file, document or page until the job ends, and then what it
// came to.
func (c *cli) followJob(ctx context.Context, t client.Client, db *store.DB, job store.Job) error {
	id := workflows.JobID(job.Kind, job.ID)
	err := c.followRecords(ctx, db, job, func() error { return c.await(ctx, t, id, nil) })
	if ctx.Err() != nil {
		return err
	}
	job, jerr := db.Job(context.WithoutCancel(ctx), job.ID)
	switch {
	case jerr == nil && err != nil && job.Kind == store.JobImport:
		return importFailed(job, err)
	case jerr != nil || err != nil:
		return errors.Join(err, jerr)
	}
	return c.Print(endOf(job))
}

// writeTable prints what a job on the record came to.
func writeTable(w io.Writer, e endOfTable) error {
	if g := e.Whitelist; g != nil {
		fmt.Fprintf(w, generatedList, g.Domains, g.Documents, g.Citations, g.Core, g.Listed, g.URLs)
	} else {
		fmt.Fprintf(w, "looked at %d\ndocuments %d, %d bytes\n", e.Looked, e.Documents, e.Bytes)
		for _, n := range []struct {
			name string
			n    int64
		}{{"places", e.Places}, {"parents", e.Parents}, {"asked", e.Asked}, {"rows with texts", e.Texts}, {"kept", e.Kept}, {"without a file", e.Failed}} {
			if n.n > 0 {
				fmt.Fprintf(w, "%s %d\n", n.name, n.n)
			}
		}
		for _, why := range slices.Sorted(maps.Keys(e.Why)) {
			fmt.Fprintf(w, "  %s %d\n", why, e.Why[why])
		}
	}
	if !e.InPlace && (e.Kind == store.JobCleanDocuments || e.Kind == store.JobCleanParents) {
		fmt.Fprintf(w, "a dry run: nothing was changed; `starter jobs run %d --confirm --wait` removes it\n", e.Job)
	}
	_, err := fmt.Fprintf(w, "execution time %s\n", rounded(time.Duration(e.Seconds*float64(time.Second))))
	return err
}

// importLook is how often is looked for what an import did.
const importLook = 300 * time.Millisecond

// openedWithin is how long a command waits for a worker to open what an import names.
const openedWithin = 30 * time.Second

// awaitOpened waits until a worker has opened what an import names elsewhere. Its error says
// why it could not.
func awaitOpened(ctx context.Context, c *cli, t client.Client, db *store.DB, id int64) error {
	late := time.After(openedWithin)
	for {
		job, err := db.Job(ctx, id)
		if err != nil {
			return err
		}
		n := jobfile.Counted(job).Import
		switch {
		case job.State == store.JobFailed:
			return importFailed(job, c.await(ctx, t, workflows.ImportID(id), nil))
		case job.Note != "":
			fmt.Fprintf(c.Err, "job %d waits: %s\n", id, job.Note)
			return nil
		case n.Total > 0, n.Extent != ingest.Extent{}, job.State != store.JobNew && job.State != store.JobRunning:
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			fmt.Fprintf(c.Err, "no worker has opened it within %s; `starter jobs show %d` says when one has\n", openedWithin, id)
			return nil
		case <-time.After(importLook):
		}
	}
}

// importFailed says in one sentence why an import did not end as it should.
func importFailed(job store.Job, err error) error {
	var app *temporal.ApplicationError
	input := errors.As(err, &app) && app.Type() == activities.ErrTypeInput
	why := strings.TrimPrefix(job.Note, ingest.ErrInput.Error()+": ")
	switch {
	case job.State == store.JobCancelled:
		return fmt.Errorf("import %d was cancelled; what it did stays", job.ID)
	case job.State != store.JobFailed || why == "":
		return err
	case input:
		return fmt.Errorf("%w: import %d: %s", program.ErrUsage, job.ID, why)
	}
	return fmt.Errorf("import %d failed: %s; run it again: starter jobs run %d", job.ID, why, job.ID)
}

// lineOf says of a resource what each filter made of it, whether its URL is new, and
// whether it was saved.
func lineOf(r store.ImportRecord, c ingest.Counters, dry bool) string {
	verdict := r.Detail
	if r.Kind != "" && !strings.HasPrefix(verdict, r.Kind) {
		verdict = strings.TrimSuffix(r.Kind+", "+r.Class+", "+verdict, ", ")
	}
	word := "new"
	if r.Known {
		word = "duplicate"
	}
	if !strings.HasPrefix(r.Outcome, "saved") {
		word, dry = "not saved", false
	}
	return fmt.Sprintf("[%s] %s  %s  %s  %s%s", c.Place(r.N), r.URL, verdict, word, would[dry], r.Outcome)
}

func writeImported(w io.Writer, n ingest.Counters, took time.Duration, dry bool) error {
	fmt.Fprintf(w, "all %d\n%ssaved_New %d\n%ssaved_Duplicate %d\nfiltered %d\nfiltered_MTF %d\nfiltered_DCF %d\nfailed_TextExtract %d\nfailed_FileNotFound %d\nfailed_PDFFilenotFound %d\n",
		n.All, would[dry], n.SavedNew, would[dry], n.SavedDuplicate, n.Filtered, n.FilteredMTF, n.FilteredDCF, n.FailedTextExtract, n.FailedFileNotFound, n.FailedPDFNotFound)
	if n.Unexamined > 0 {
		fmt.Fprintf(w, "unexamined %d\n", n.Unexamined)
	}
	for _, why := range slices.Sorted(maps.Keys(n.Skipped)) {
		fmt.Fprintf(w, "skipped, %s %d\n", why, n.Skipped[why])
	}
	_, err := fmt.Fprintf(w, "differences %d\nexecution time %s\n", n.Differences, rounded(took))
	return err
}
