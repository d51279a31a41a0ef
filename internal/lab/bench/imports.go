package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"gleaner/internal/document"
	"gleaner/internal/ingest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
)

// ImportOptions say what Import imports.
type ImportOptions struct {
	Records     int    // answers in the generated archive; 0 where that is not known
	Every       int    // each so manieth is a document; the others are pages
	Format      string // "" tells by content
	Filter      bool
	DatabaseURL string // of a server on which databases may be made
	Child       document.Child

	Then func(context.Context, *store.DB) error // is given the record at the end; may be nil
}

// ImportTenth is a tenth of an import.
type ImportTenth struct {
	Records   int64   `json:"records"` // until its end
	PerSecond float64 `json:"records_per_second"`
	Resident  int64   `json:"resident_bytes"` // the most that was met; 0 where it is not known
}

// ImportRun is what Import measured.
type ImportRun struct {
	Filter       bool           `json:"filter"`
	Bytes        int64          `json:"archive_bytes"`
	Seconds      float64        `json:"seconds"`
	Records      int64          `json:"records"`
	PerSecond    float64        `json:"records_per_second"`
	Documents    int64          `json:"documents"`
	DocumentsPer float64        `json:"documents_per_second"`
	Counters     store.Counters `json:"counters"`
	Differences  int64          `json:"differences"`
	Bare         BareLoop       `json:"bare_loop"`
	Peak         int64          `json:"peak_resident_bytes"` // 0 where it is not known
	Tenths       []ImportTenth  `json:"tenths"`
}

// WriteArchive writes a WARC file of pages and documents, all of which differ, on
// hosts of a thousand addresses each.
func WriteArchive(ctx context.Context, path string, o ImportOptions) (err error) {
	f, err := os.Create(filepath.Clean(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriterSize(f, 1<<20)
	w, err := repository.NewWARC(out, filepath.Base(path), "lab bench import")
	if err != nil {
		return err
	}
	pile := sampleweb.NewPile(11)
	for i := range o.Records {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		it := repository.Item{URL: fmt.Sprintf("http://www.host%d.example/%d.html", i/1000, i), MediaType: "text/html"}
		body := fmt.Appendf(nil, "<title>Page %d</title><h1>Course notes %d</h1><p>%s<a href=\"%d.pdf\">Paper %d</a>", i, i, pageText[i%len(pageText):], i+1, i+1)
		if (i+1)%o.Every == 0 {
			it.URL, it.MediaType = fmt.Sprintf("http://www.host%d.example/%d.pdf", i/1000, i), "application/pdf"
			body = pile.File(i, sampleweb.AsPDF)
		}
		it.Header = http.Header{"Content-Type": {it.MediaType}}
		if err := w.Response(it, body); err != nil {
			return err
		}
	}
	return out.Flush()
}

// pageText is the text of pages.
const pageText = "The lecture takes place on Mondays in the large hall; exercises are handed out a week before they are due. " +
	"Photographs of the department's summer party, the timetable of buses, how to reach us, and what the cafeteria has today. "

// Import imports an archive that WriteArchive wrote, with a new database and a
// repository in dir.
func Import(ctx context.Context, archive, dir string, o ImportOptions) (ImportRun, error) {
	run := ImportRun{Filter: o.Filter}
	info, err := os.Stat(archive)
	if err != nil {
		return run, err
	}
	run.Bytes = info.Size()
	err = withDatabase(ctx, o.DatabaseURL, func(dsn string) error {
		db, err := store.Open(ctx, dsn, 16)
		if err != nil {
			return err
		}
		defer db.Close()
		repo, err := repository.Open(ctx, dir)
		if err != nil {
			return err
		}
		defer func() { _ = repo.Close() }()
		coll := collection.New(collection.Parts{DB: db, Repo: repo, Reader: document.NewReader(document.Options{Child: o.Child}), Filter: document.NewFilter(document.Balanced), Log: quiet()})
		im := ingest.New(ingest.Parts{DB: db, Repo: repo, Coll: coll, Log: quiet()})
		job, err := db.AddJob(ctx, store.JobImport, ingest.Options{Paths: []string{archive}, Format: o.Format, Unfiltered: !o.Filter})
		if err == nil {
			err = run.take(ctx, im, ingest.Run{Job: job, Run: 1}, o)
		}
		if err == nil && o.Then != nil {
			err = o.Then(ctx, db)
		}
		return err
	})
	return run, err
}

// endless is as long as an import may take in one go.
const endless = 1000 * time.Hour

// take imports, and looks at each tenth.
func (r *ImportRun) take(ctx context.Context, im *ingest.Importer, run ingest.Run, o ImportOptions) error {
	began := time.Now()
	from, at, most := int64(0), began, resident(os.Getpid())
	last := int64(0)
	tell := func(p ingest.Progress) {
		if p.Done == last && !p.Ended {
			return // it only came on in its archive
		}
		last = p.Done
		most = max(most, resident(os.Getpid()))
		if (o.Records == 0 || p.Done*10 < int64(o.Records*(len(r.Tenths)+1))) && !p.Ended {
			return
		}
		now := time.Now()
		r.Tenths = append(r.Tenths, ImportTenth{Records: p.Done, PerSecond: float64(p.Done-from) / now.Sub(at).Seconds(), Resident: most})
		from, at, most = p.Done, now, resident(os.Getpid())
	}
	p, err := im.Import(ctx, run, endless, tell)
	if err != nil {
		return err
	}
	tell(p)
	for _, t := range r.Tenths {
		r.Peak = max(r.Peak, t.Resident)
	}
	r.Seconds = time.Since(began).Seconds()
	r.Counters = p.Counters.Counters
	r.Records, r.Documents = p.Done, int64(r.Counters.All-r.Counters.FilteredMTF)
	r.PerSecond, r.DocumentsPer = float64(r.Records)/r.Seconds, float64(r.Documents)/r.Seconds
	v, err := im.Verify(ctx, run, 0, endless, func(int64) {})
	r.Differences = int64(v.Differences)
	return err
}
