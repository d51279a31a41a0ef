package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/record/store"
	"gleaner/internal/service/jobfile"
)

// Jobs starts and ends jobs as commands do.
type Jobs interface {
	// StartJob runs a job that does not run from its beginning, and joins one that does.
	StartJob(ctx context.Context, id int64) error
	CancelJob(ctx context.Context, id int64) error
}

// jobRow is a job, and in words what it does and came to.
type jobRow struct {
	store.Job
	What    string       `json:"what"`
	Seconds float64      `json:"seconds"`
	Counted []countedRow `json:"counted"`

	options  *jobfile.Options
	counters jobfile.Counters
}

// countedRow is one of a job's counters.
type countedRow struct {
	Name string `json:"name"`
	N    int64  `json:"n"`
}

// Label is the counter's name for people. Programs get the names of Wu et al. (WIDM
// 2012, Table 1).
func (r countedRow) Label() string {
	if label, ok := map[string]string{"all": "files", "saved_New": "saved, new", "saved_Duplicate": "saved, known before", "filtered_MTF": "not of a wanted kind",
		"filtered_DCF": "not academic by content", "failed_TextExtract": "no text could be read", "failed_FileNotFound": "file not found",
		"failed_PDFFilenotFound": "archive without a document"}[r.Name]; ok {
		return label
	}
	return r.Name
}

// Name is what the job's kind is called by people.
func (r jobRow) Name() string { return jobWords(r.Kind)[0] }

func jobRowOf(j store.Job) jobRow {
	r := jobRow{Job: j, Seconds: j.Time(time.Now()).Seconds(), counters: jobfile.Counted(j)}
	r.options, _ = jobfile.Of(j)
	r.What = r.options.Describe()
	n, t := r.counters.Import, r.counters.Table
	all := []countedRow{{"all", int64(n.All)}, {"saved_New", int64(n.SavedNew)},
		{"saved_Duplicate", int64(n.SavedDuplicate)}, {"filtered_MTF", int64(n.FilteredMTF)},
		{"filtered_DCF", int64(n.FilteredDCF)}, {"failed_TextExtract", int64(n.FailedTextExtract)},
		{"failed_FileNotFound", int64(n.FailedFileNotFound)}, {"failed_PDFFilenotFound", int64(n.FailedPDFNotFound)},
		{"skipped", n.SkippedAll}, {"differences", n.Differences},
		{"looked at", t.Looked}, {"documents", t.Documents}, {"places", t.Places}, {"parents", t.Parents},
		{"kept", t.Kept}, {"without a file", t.Failed}, {"bytes", t.Bytes}}
	if w := t.Whitelist; w != nil {
		all = append(all, countedRow{"domains listed", int64(w.Listed)}, countedRow{"pages listed", int64(w.URLs)})
	}
	r.Counted = each.List(each.Where(all, func(c countedRow) bool { return c.N > 0 }))
	return r
}

// Would says of an outcome, or of how many had it, that an import without the record only
// would have it.
func (r jobRow) Would(outcome string) string {
	if r.options.Import.Unrecorded && strings.HasPrefix(outcome, "saved") {
		return "would be " + outcome
	}
	return outcome
}

// Runs reports whether the job is under way.
func (r jobRow) Runs() bool { return r.State == store.JobRunning || r.State == store.JobNew }

// Share is how much of its files an import has read, from 0 to 1; of others it is not known.
func (r jobRow) Share() float64 {
	n := r.counters.Import
	if n.Total == 0 {
		return 0
	}
	return float64(n.Read) / float64(n.Total)
}

// Place is how many records it is through with and, of an import, of how many.
func (r jobRow) Place() string { return r.counters.Import.Place(r.Done) }

// Took is how long it took, or has been at it.
func (r jobRow) Took() time.Duration {
	return time.Duration(r.Seconds * float64(time.Second)).Round(time.Second)
}

// jobsPage lists jobs, the latest first.
type jobsPage struct {
	Jobs []jobRow `json:"jobs"`
	Next string   `json:"next,omitempty"`

	Uploads []string `json:"uploads,omitempty"` // files that were sent to be imported

	forms []jobForm
}

func (p jobsPage) Live() bool {
	return slices.ContainsFunc(p.Jobs, jobRow.Runs)
}

// Forms are those that set up a job.
func (p jobsPage) Forms() []jobForm { return p.forms }

func jobs(ctx context.Context, c *Console, a *asked) (any, error) {
	rows, err := c.App.DB.JobsBefore(ctx, int64(a.number("after")), pageSize+1)
	if err != nil {
		return nil, err
	}
	p := jobsPage{forms: c.newJobForms(a)}
	if p.Uploads, err = uploads(c.ImportFolder); err != nil {
		c.log.WarnContext(ctx, "console: uploads cannot be listed", "error", err)
	}
	rows, p.Next = more(rows, func(j store.Job) string { return strconv.FormatInt(j.ID, 10) })
	p.Jobs = each.Of(rows, jobRowOf)
	return p, nil
}

// jobPage is a job with what became of each file, document or page.
type jobPage struct {
	Job     jobRow               `json:"job"`
	Lines   []store.ImportRecord `json:"lines"`
	File    string               `json:"file"`              // the job as "starter jobs run" takes it; "" where that is long
	Differs bool                 `json:"differs,omitempty"` // only what differs from what its log promises
	Next    string               `json:"next,omitempty"`

	form    jobForm
	ui      string
	wouldGo int64
}

func (p jobPage) Live() bool { return p.Job.Runs() }

// Form changes its options.
func (p jobPage) Form() jobForm { return p.form }

// Workflow is where the Temporal UI shows it; "" for nowhere.
func (p jobPage) Workflow() string { return p.ui }

// WouldGo is how many documents, places and pages its dry run would remove; 0 where that
// cannot be confirmed.
func (p jobPage) WouldGo() int64 { return p.wouldGo }

// wouldGo is what a dry run would remove; 0 of what is no dry run that ended, of one whose
// options were changed since, as nobody has seen what they mean now, and of one whose list
// was pruned, as nobody can see it any more.
func (c *Console) wouldGo(ctx context.Context, j store.Job) (int64, error) {
	o, err := jobfile.Of(j)
	if !tables.Removes(j.Kind) || j.State != store.JobEnded || j.Ended == nil || j.Updated.After(*j.Ended) ||
		err != nil || o.Table.InPlace {
		return 0, err
	}
	listed, err := c.App.DB.ImportRecords(ctx, j.ID, 0, false, 1)
	if len(listed) == 0 {
		return 0, err
	}
	return jobfile.Counted(j).Taken(), nil
}

// jobOf is the job that an address names.
func (c *Console) jobOf(r *http.Request) (store.Job, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return store.Job{}, errNoPage
	}
	return c.App.DB.Job(r.Context(), id)
}

func job(ctx context.Context, c *Console, a *asked) (any, error) {
	j, err := c.jobOf(a.Request)
	if err != nil {
		return nil, err
	}
	file, err := jobfile.Write(j)
	if err != nil {
		return nil, err
	}
	p := jobPage{Job: jobRowOf(j), Differs: a.get("differs") == "yes", form: modifyForm(j, a)}
	if len(file) <= maxForm {
		p.File = string(file)
	}
	if p.wouldGo, err = c.wouldGo(ctx, j); err != nil {
		return nil, err
	}
	if c.JobURL != nil {
		p.ui = c.JobURL(j.Kind, j.ID)
	}
	lines, err := c.App.DB.ImportRecords(ctx, j.ID, int64(a.number("after")), p.Differs, pageSize+1)
	p.Lines, p.Next = more(lines, func(r store.ImportRecord) string { return strconv.FormatInt(r.N, 10) })
	return p, err
}

// What may be done to a job.
const (
	doRun     = "run"
	doConfirm = "confirm"
	doModify  = "modify"
)

func startJob(ctx context.Context, c *Console, a *asked) (any, error) {
	options, err := c.newOptions(a)
	if err != nil {
		return nil, err
	}
	id, err := c.App.DB.AddJob(ctx, a.get("job"), options)
	if err != nil {
		return nil, err
	}
	return c.jobDid(ctx, a, id, "started", c.Jobs.StartJob(ctx, id))
}

// jobDid notes who did what to a job.
func (c *Console) jobDid(ctx context.Context, a *asked, id int64, did string, err error) (any, error) {
	if errors.Is(err, store.ErrJobRuns) {
		err = fmt.Errorf("%w: %w", errInput, err)
	}
	job := strconv.FormatInt(id, 10)
	return c.done(ctx, a, donePage{job, did, redirect{"/jobs/" + job, "Job " + job + " " + did + "."}}, err)
}

func actOnJob(ctx context.Context, c *Console, a *asked) (any, error) {
	j, err := c.jobOf(a.Request)
	if err != nil {
		return nil, err
	}
	switch a.get("do") {
	case doCancel:
		return c.jobDid(ctx, a, j.ID, "cancelled", c.Jobs.CancelJob(ctx, j.ID))
	case doRun:
		// A cleaning that was confirmed lists anew what would go, before it does.
		if tables.Removes(j.Kind) && j.State != store.JobRunning && j.State != store.JobNew {
			if err := c.confirm(ctx, j, ""); err != nil {
				return nil, err
			}
		}
		return c.jobDid(ctx, a, j.ID, "started again", c.Jobs.StartJob(ctx, j.ID))
	case doConfirm:
		n, err := c.wouldGo(ctx, j)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, fmt.Errorf("%w: job %d is no dry run that ended with a list of what it would remove", errInput, j.ID)
		}
		if err = c.confirm(ctx, j, "yes"); err == nil {
			err = c.Jobs.StartJob(ctx, j.ID)
		}
		return c.jobDid(ctx, a, j.ID, "removes what it listed", err)
	}
	err = jobfile.Modify(ctx, c.App.DB.JobRecords, j.ID, func(_ store.Job, o *jobfile.Options) error {
		return o.SetGiven(func(name string) (string, bool) {
			v, given := a.Form[name]
			return cmp.Or(append(v, "")...), given
		})
	})
	return c.jobDid(ctx, a, j.ID, "changed", err)
}

// confirm says whether the next run of a cleaning removes what it lists: yes, or "".
func (c *Console) confirm(ctx context.Context, j store.Job, word string) error {
	return jobfile.Modify(ctx, c.App.DB.JobRecords, j.ID, func(_ store.Job, o *jobfile.Options) error {
		return o.Set("confirm", word)
	})
}
