package tables

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/fetch"
	"gleaner/internal/harvest/stats"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
)

// Parts are the dependencies of Jobs.
type Parts struct {
	DB        *store.DB
	Repo      *repository.Repository
	Citations stats.Citations // for whitelists with this option
	Fetch     *fetch.Client   // for cleanings that request parent pages
	Batch     int             // documents or pages per step; 0 is 200
	Slice     time.Duration   // time after which Do returns at the end of a step, so that other jobs can run; 0 is ten minutes
	Log       *slog.Logger
}

// Jobs runs jobs. It is safe for concurrent use.
type Jobs struct{ Parts }

// New returns Jobs with these dependencies.
func New(p Parts) *Jobs {
	p.Batch = cmp.Or(max(p.Batch, 0), 200)
	p.Slice = cmp.Or(max(p.Slice, 0), 10*time.Minute)
	p.Log = cmp.Or(p.Log, slog.New(slog.DiscardHandler))
	return &Jobs{p}
}

// Run identifies one run of a job.
type Run struct {
	Kind string `json:"kind"`
	Job  int64  `json:"job"`
	Run  int    `json:"run"`
}

// Counters are the results of a job.
type Counters struct {
	Looked    int64            `json:"looked"`
	Documents int64            `json:"documents"` // removed, to be removed or retrieved
	Places    int64            `json:"places"`    // likewise, for documents with other places
	Parents   int64            `json:"parents"`
	Asked     int64            `json:"asked,omitempty"` // parents
	Texts     int64            `json:"texts,omitempty"` // rows whose page data of blacklisted hosts was removed
	Kept      int64            `json:"kept"`
	Failed    int64            `json:"failed"` // documents without their file
	Bytes     int64            `json:"bytes"`  // of the documents
	Why       map[string]int64 `json:"why,omitempty"`
	Whitelist *stats.Generated `json:"whitelist,omitempty"`
}

func (c *Counters) count(r store.ImportRecord) {
	switch {
	case r.Outcome == store.Kept:
		c.Kept++
	case r.Outcome == failed:
		c.Failed++
	case r.Kind == store.CleanPlace:
		c.Places++
	case r.Kind == store.CleanParent:
		c.Parents++
	default:
		c.Documents++
		c.Bytes += r.Bytes
	}
	for _, why := range []string{"blacklisted host", "failed ingestion", "dead link", "no document"} {
		if strings.HasPrefix(r.Detail, why) && r.Outcome != store.Kept {
			if c.Why == nil {
				c.Why = map[string]int64{}
			}
			c.Why[why]++
		}
	}
}

// Progress is the state of a job.
type Progress struct {
	Done     int64    `json:"done"`
	Counters Counters `json:"counters"`
	More     bool     `json:"more,omitempty"` // the slice ended before the job
}

// errFull ends a slice of a job.
var errFull = errors.New("the slice is full")

// Results for a document to be retrieved.
const (
	retrieved = "retrieved"
	failed    = "failed"
)

// work is a running job.
type work struct {
	*Jobs
	run     Run
	options Options
	job     store.Job
	done    Progress
	report  func(Progress)
	began   time.Time
}

// Do runs a slice of a job from its stored position, and calls report after each step.
func (j *Jobs) Do(ctx context.Context, run Run, report func(Progress)) (Progress, error) {
	w := &work{Jobs: j, run: run, report: report, began: time.Now()}
	err := j.DB.BeginJob(ctx, run.Job, run.Run)
	if err == nil {
		w.job, err = j.DB.Job(ctx, run.Job)
	}
	if err != nil {
		return w.done, err
	}
	if err := errors.Join(json.Unmarshal(w.job.Options, &w.options), json.Unmarshal(w.job.Counters, &w.done.Counters)); err != nil {
		return w.done, fmt.Errorf("%w: job %d: %w", ErrInput, run.Job, err)
	}
	w.done.Done = w.job.Done
	switch w.job.Kind {
	case store.JobCleanDocuments:
		err = w.cleanDocuments(ctx)
	case store.JobCleanParents:
		err = w.cleanParents(ctx)
	case store.JobWhitelist:
		err = w.whitelist(ctx)
	case store.JobRetrieve:
		err = w.retrieve(ctx)
	default:
		err = fmt.Errorf("%w: job %d is of kind %q", ErrInput, run.Job, w.job.Kind)
	}
	if errors.Is(err, errFull) {
		w.done.More, err = true, nil
	}
	return w.done, err
}

// position reads the position of the job.
func (w *work) position(at any) error { return json.Unmarshal(w.job.Position, at) }

// step runs a step of a job and stores it in the same transaction. do returns the number of
// examined rows, a record for each row to report, numbered among them, and the next position.
func (w *work) step(ctx context.Context, do func(tx pgx.Tx) (looked int, records []store.ImportRecord, next any, err error)) error {
	var after Progress
	err := w.DB.JobStep(ctx, func(tx pgx.Tx) (store.ImportStep, error) {
		looked, records, next, err := do(tx)
		raw, merr := json.Marshal(w.done)
		after = Progress{}
		if err := errors.Join(err, merr, json.Unmarshal(raw, &after)); err != nil {
			return store.ImportStep{}, err
		}
		for i := range records {
			records[i].N = w.done.Done + int64(i) + 1
			after.Counters.count(records[i])
		}
		after.Done += int64(looked)
		after.Counters.Looked += int64(looked)
		return store.ImportStep{Job: w.run.Job, Run: w.run.Run, From: w.done.Done, Done: after.Done, Position: next, Counters: after.Counters, Records: records}, nil
	})
	if err == nil {
		w.done = after
		w.report(after)
		if time.Since(w.began) >= w.Slice {
			err = errFull
		}
	}
	return err
}

func (w *work) cleanDocuments(ctx context.Context) error {
	var at store.CleanAt
	if err := w.position(&at); err != nil {
		return err
	}
	either := w.options.Only == Any || w.options.Only == OnlyFailed
	if w.done.Done == 0 && !either {
		at.Hosts = true
	}
	c := store.Cleaning{
		Job:      w.run.Job,
		InPlace:  w.options.InPlace,
		Both:     w.options.Only == "",
		Ingested: w.options.Ingested,
		Matched:  w.options.Matched,
		Batch:    w.Batch,
	}
	if err := w.DB.ForgetCleaned(ctx); err != nil {
		return err
	}
	for {
		if w.options.InPlace { // also those that an earlier attempt marked
			if err := w.DB.RemoveCleaned(ctx, w.Repo, func() { w.report(w.done) }); err != nil {
				return err
			}
		}
		if at.End || at.Hosts && w.options.Only == OnlyFailed {
			return nil
		}
		var next store.CleanAt
		err := w.step(ctx, func(tx pgx.Tx) (int, []store.ImportRecord, any, error) {
			records, to, err := w.DB.CleanDocuments(ctx, tx, c, at)
			next = to
			return len(records), records, to, err
		})
		if err != nil {
			return err
		}
		at = next
	}
}

func (w *work) cleanParents(ctx context.Context) error {
	var at store.ParentAt
	if err := w.position(&at); err != nil {
		return err
	}
	for !at.End {
		err := w.askParents(ctx, at)
		if errors.Is(err, errFull) { // the count of requests is stored
			return w.step(ctx, func(pgx.Tx) (int, []store.ImportRecord, any, error) { return 0, nil, at, nil })
		}
		if err != nil {
			return err
		}
		var next store.ParentAt
		err = w.step(ctx, func(tx pgx.Tx) (int, []store.ImportRecord, any, error) {
			looked, useless, to, err := w.DB.CleanParents(ctx, tx, at, w.options.InPlace, w.options.Only == OnlyBlacklisted, w.Batch)
			next = to
			var records []store.ImportRecord
			for _, p := range useless {
				r := store.ImportRecord{URL: p.URL, Kind: store.CleanParent, Detail: p.Why, Outcome: store.WouldGo}
				if w.options.InPlace {
					r.Outcome = store.Went
				}
				records = append(records, r)
			}
			return looked, records, to, err
		})
		if err != nil {
			return err
		}
		at = next
	}
	for w.options.InPlace && !at.Texts.End {
		next, before := at, w.done.Counters.Texts
		err := w.step(ctx, func(tx pgx.Tx) (_ int, _ []store.ImportRecord, _ any, err error) {
			var n int64
			n, next.Texts, err = w.DB.RemovePages(ctx, tx, at.Texts, 10*w.Batch)
			w.done.Counters.Texts = before + n
			return 0, nil, next, err
		})
		if err != nil {
			return err
		}
		at = next
	}
	return nil
}

// citationsAt is the position of a whitelist's query for citations.
type citationsAt struct {
	DOI string `json:"doi,omitempty"` // the last one
}

func (w *work) whitelist(ctx context.Context) error {
	if w.done.Counters.Whitelist != nil {
		return nil // done by an earlier attempt
	}
	lists := w.options.Lists
	if lists == nil {
		lists = Defaults(store.JobWhitelist).Lists
	}
	var at citationsAt
	if err := w.position(&at); err != nil {
		return err
	}
	if w.options.Source != "" && w.Citations != nil {
		err := stats.AskCitations(ctx, w.DB, w.Citations, *lists, at.DOI, w.Batch, func(last string, n, _ int) error {
			return w.step(ctx, func(pgx.Tx) (int, []store.ImportRecord, any, error) { return n, nil, citationsAt{last}, nil })
		})
		if err != nil {
			return err
		}
	}
	g, err := stats.Generate(ctx, w.DB, nil, *lists, nil)
	if err != nil {
		return err
	}
	w.done.Counters = Counters{Whitelist: &g}
	err = w.step(ctx, func(pgx.Tx) (int, []store.ImportRecord, any, error) {
		return g.URLs, nil, struct{}{}, nil
	})
	if errors.Is(err, errFull) { // the whole job is one step
		err = nil
	}
	return err
}
