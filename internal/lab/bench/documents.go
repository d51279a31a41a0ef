package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
)

// DocumentsOptions say what Documents measures.
type DocumentsOptions struct {
	DatabaseURL string         // server on which a database is made for each run
	DatabaseCPU func() float64 // the server's CPU seconds so far; nil where they are not known
	Files       []string       // documents to be taken in
	Workers     []int          // how many worker processes, one run each
	Filter      bool           // read, filter and match; else only store and record
	Wanted      int            // papers of the index that documents are matched with
	Whole       bool           // read all text of every document
	Start       func(ctx context.Context, share DocumentsShare) (DocumentsResult, error)
	Report      func(DocumentsRun) // told of each run when it is over
}

// DocumentsShare is what one worker process is given: every Of-th file.
type DocumentsShare struct {
	DatabaseURL string   `json:"database_url"`
	Repository  string   `json:"repository"`
	Files       []string `json:"files"`
	Share       int      `json:"share"`
	Of          int      `json:"of"`
	Filter      bool     `json:"filter"`
	Whole       bool     `json:"whole"`
}

// DocumentsResult is what one process did.
type DocumentsResult struct {
	Documents int     `json:"documents"`
	Seconds   float64 `json:"seconds"`
	CPU       float64 `json:"cpu_seconds"`       // its own
	ChildCPU  float64 `json:"child_cpu_seconds"` // of the readers that it ran
	Peak      int64   `json:"peak_bytes"`        // its resident memory
	ChildPeak int64   `json:"child_peak_bytes"`  // of the largest reader
}

// DocumentsRun is one run: all files through all steps.
type DocumentsRun struct {
	Workers     int            `json:"workers"`
	Filter      bool           `json:"filter"`
	Whole       bool           `json:"whole_text"`
	Documents   int            `json:"documents"`
	Seconds     float64        `json:"seconds"`
	PerSec      float64        `json:"per_second"`
	PerCore     float64        `json:"per_core_second"` // documents a second of processor time, Postgres included
	CPU         float64        `json:"cpu_seconds"`
	ChildCPU    float64        `json:"child_cpu_seconds"`
	DatabaseCPU float64        `json:"database_cpu_seconds"`
	Peak        int64          `json:"peak_bytes"` // the largest process
	ChildPeak   int64          `json:"child_peak_bytes"`
	Database    int64          `json:"database_bytes"`
	States      map[string]int `json:"states"` // by state and outcome
	Found       int            `json:"found"`  // documents that are wanted papers
	Copies      int            `json:"copies"` // that are another one's copy
}

// Documents takes files in with one, two, … worker processes, each run into a
// database and a repository of its own.
func Documents(ctx context.Context, o DocumentsOptions) error {
	for _, n := range o.Workers {
		err := withDatabase(ctx, o.DatabaseURL, func(dsn string) error {
			db, err := store.Open(ctx, dsn, 0)
			if err != nil {
				return err
			}
			defer db.Close()
			if err := wantPile(ctx, db, o.Wanted); err != nil {
				return err
			}
			r, err := o.run(ctx, n, dsn, db)
			if err == nil {
				o.Report(r)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// run takes all files in with so many worker processes, into a repository of its
// own.
func (o DocumentsOptions) run(ctx context.Context, workers int, dsn string, db *store.DB) (r DocumentsRun, err error) {
	dir, err := os.MkdirTemp("", "gleaner-bench-blobs-*")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r = DocumentsRun{Workers: workers, Filter: o.Filter, Whole: o.Whole, States: map[string]int{}}
	used := 0.0
	if o.DatabaseCPU != nil {
		used = o.DatabaseCPU()
	}
	results := make([]DocumentsResult, workers)
	g, gctx := errgroup.WithContext(ctx)
	for i := range workers {
		g.Go(func() (err error) {
			results[i], err = o.Start(gctx, DocumentsShare{DatabaseURL: dsn, Repository: dir, Files: o.Files, Share: i, Of: workers,
				Filter: o.Filter, Whole: o.Whole})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return r, err
	}
	if o.DatabaseCPU != nil {
		r.DatabaseCPU = o.DatabaseCPU() - used
	}
	r.add(results)
	err = r.outcome(ctx, db)
	return r, err
}

func (r *DocumentsRun) add(results []DocumentsResult) {
	for _, w := range results {
		r.Documents += w.Documents
		r.Seconds = max(r.Seconds, w.Seconds) // they begin together
		r.CPU += w.CPU
		r.ChildCPU += w.ChildCPU
		r.Peak, r.ChildPeak = max(r.Peak, w.Peak), max(r.ChildPeak, w.ChildPeak)
	}
	if r.Seconds > 0 {
		r.PerSec = float64(r.Documents) / r.Seconds
	}
	if cpu := r.CPU + r.ChildCPU + r.DatabaseCPU; cpu > 0 {
		r.PerCore = float64(r.Documents) / cpu
	}
}

func (r *DocumentsRun) outcome(ctx context.Context, db *store.DB) error {
	rows, err := db.Pool.Query(ctx, `SELECT state || ' ' || outcome, count(*) FROM documents GROUP BY 1`)
	if err != nil {
		return err
	}
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			return err
		}
		r.States[name] = n
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return db.Pool.QueryRow(ctx, `SELECT (SELECT count(DISTINCT sha256) FROM matches m WHERE `+store.FoundSQL+`),
		(SELECT count(*) FROM documents WHERE same_as<>''), pg_database_size(current_database())`).Scan(&r.Found, &r.Copies, &r.Database)
}

// wantPile makes the first papers of the pile wanted.
func wantPile(ctx context.Context, db *store.DB, n int) error {
	pile := sampleweb.NewPile(pileSeed)
	papers := make([]gleaner.Paper, n)
	for i := range papers {
		papers[i] = pile.Paper(i)
	}
	if err := db.SaveHarvest(ctx, store.Harvest{ID: "conf/pile/all", Venue: "conf/pile", Options: []byte("{}"), Stage: "papers"}); err != nil {
		return err
	}
	for from := 0; from < n; from += 5000 {
		if err := db.SavePapers(ctx, papers[from:min(n, from+5000)], map[string]string{"source": "bench"}); err != nil {
			return err
		}
	}
	return db.SetHarvestPapers(ctx, "conf/pile/all", papers, nil)
}

// TakeIn is what a worker process does with its share; child is how it starts itself
// to read a document.
func TakeIn(ctx context.Context, s DocumentsShare, child document.Child) (DocumentsResult, error) {
	var r DocumentsResult
	db, err := store.Open(ctx, s.DatabaseURL, 6)
	if err != nil {
		return r, err
	}
	defer db.Close()
	repo, err := repository.Open(ctx, s.Repository)
	if err != nil {
		return r, err
	}
	defer func() { _ = repo.Close() }()
	parts := collection.Parts{DB: db, Repo: repo, Reader: document.NewReader(document.Options{Child: child}), Cores: 1, Whole: s.Whole}
	if s.Filter {
		parts.Filter = document.NewFilter(document.Balanced)
	}
	c := collection.New(parts)
	if _, err := c.Wanted(ctx); err != nil {
		return r, err
	}
	var n atomic.Int64
	own, children := usage()
	start := time.Now()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(3)
	for i := s.Share; i < len(s.Files) && gctx.Err() == nil; i += s.Of {
		g.Go(func() error {
			n.Add(1)
			return takeIn(gctx, c, s.Files[i], i)
		})
	}
	err = g.Wait()
	r = DocumentsResult{Documents: int(n.Load()), Seconds: time.Since(start).Seconds()}
	nowOwn, nowChildren := usage()
	r.CPU, r.ChildCPU = nowOwn.cpu-own.cpu, nowChildren.cpu-children.cpu
	r.Peak, r.ChildPeak = nowOwn.peak, nowChildren.peak
	return r, err
}

func takeIn(ctx context.Context, c *collection.Collection, name string, i int) error {
	body, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		return err
	}
	url := fmt.Sprintf("http://bench.example/%d/%s", i, filepath.Base(name))
	kept, err := c.Keep(ctx, collection.File{URL: url, Parent: "http://bench.example/", Body: body, At: time.Now()})
	if err != nil {
		return err
	}
	defer kept.Release()
	for _, d := range kept.Documents {
		if _, err := c.Judge(ctx, d, collection.Once); err != nil {
			return err
		}
	}
	return nil
}

// DocumentFiles lists the files below a folder that are or hold documents, by
// their content.
func DocumentFiles(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		head := make([]byte, 16<<10)
		n, _ := f.Read(head)
		if collection.Sniff(path, "", head[:n]) == collection.AFile {
			out = append(out, path)
		}
		return nil
	})
	return out, err
}

// pileSeed makes the generated documents the same on every machine.
const pileSeed = 20050617

// pileMix is in which forms every twenty of the generated documents come: mostly
// papers, and what else stands on authors' pages.
var pileMix = [20]sampleweb.Form{0: sampleweb.AsSheet, 1: sampleweb.AsSlides, 2: sampleweb.AsGzip, 3: sampleweb.AsSheet, 4: sampleweb.AsTruncatedPDF, 5: sampleweb.AsRevisedPDF}

// WritePile generates n documents in a folder. Every twentieth is the one behind it
// with a stamp: a copy of its text.
func WritePile(ctx context.Context, dir string, n int) ([]string, error) {
	pile := sampleweb.NewPile(pileSeed)
	out := make([]string, n)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			form, paper := pileMix[i%len(pileMix)], i
			if form == sampleweb.AsRevisedPDF {
				paper = i + 1 // with the next one, which is plain
			}
			ext := ".pdf"
			if form == sampleweb.AsGzip {
				ext = ".ps.gz"
			}
			out[i] = filepath.Join(dir, fmt.Sprintf("%03d", i/1000), fmt.Sprintf("%d%s", i, ext))
			if err := os.MkdirAll(filepath.Dir(out[i]), 0o755); err != nil {
				return err
			}
			return os.WriteFile(out[i], pile.File(paper, form), 0o644)
		})
	}
	return out, g.Wait()
}
