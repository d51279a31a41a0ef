package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"time"

	"gleaner/internal/guard"
	"gleaner/internal/ingest/source"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// Parts are what an Importer is made of.
type Parts struct {
	DB            *store.DB
	Repo          *repository.Repository
	Coll          *collection.Collection
	Places        source.Places // that are no folders of this machine
	DocumentBytes int64         // largest document; 0 is 100 MiB
	PageBytes     int64         // largest page; 0 is 10 MiB
	Cores         int           // resources worked on at a time; 0 is twice the processors
	Log           *slog.Logger
}

func (p Parts) withDefaults() Parts {
	p.DocumentBytes = cmp.Or(max(p.DocumentBytes, 0), 100<<20)
	p.PageBytes = cmp.Or(max(p.PageBytes, 0), 10<<20)
	p.Cores = cmp.Or(max(p.Cores, 0), 2*runtime.NumCPU())
	p.Log = cmp.Or(p.Log, slog.New(slog.DiscardHandler))
	return p
}

// Importer runs imports. It is safe for concurrent use.
type Importer struct {
	Parts
	settling sync.Mutex // held while Settle works
}

// New makes an Importer.
func New(p Parts) *Importer { return &Importer{Parts: p.withDefaults()} }

// Run names one run of a job.
type Run struct {
	Job int64 `json:"job"`
	Run int   `json:"run"`
}

// Progress is how far an import is.
type Progress struct {
	Done     int64    `json:"done"` // resources
	Ended    bool     `json:"ended"`
	Counters Counters `json:"counters"`
}

// place is where an import goes on, as the record has it.
type place struct {
	Position
	End    bool    `json:"end,omitempty"`
	Missed int64   `json:"missed,omitempty"` // the log is read, and what was missed up to this resource was taken again
	Trying *trying `json:"trying,omitempty"`
}

// The bounds of a step, beside a URL that comes again: then what came first is
// judged before what comes now. While one is written down, the documents of the next are
// kept and judged, and the one behind it is read: two are held at a time, and what is to be
// written of a third.
const (
	stepRecords   = 1000
	stepDocuments = 64
	stepBytes     = 16 << 20
)

// Import takes resources until the log ends or within is over. It tells of each
// step, and whenever it came on in the log, as on its way to where it goes on. Called
// again, also after a crash, it goes on where it was.
func (im *Importer) Import(ctx context.Context, run Run, within time.Duration, report func(Progress)) (p Progress, err error) {
	err = guard.Logged(ctx, im.Log, fmt.Sprint("import ", run.Job), func() (err error) {
		p, err = im.attempt(ctx, run, within, report)
		return err
	})
	if guard.Panicked(err) { // which counts as a death of what it was at, and so is bounded
		err = errors.New(err.Error())
	}
	return p, err
}

func (im *Importer) attempt(ctx context.Context, run Run, within time.Duration, report func(Progress)) (Progress, error) {
	w, err := im.begin(ctx, run)
	if errors.Is(err, source.ErrUnanswered) && w.done.Done == 0 {
		err = fmt.Errorf("%w: %w", ErrInput, err)
	}
	if err != nil {
		w.leave(ctx, err)
	}
	if err != nil || w.done.Ended {
		return w.done, w.refused(err)
	}
	defer w.close()
	err = w.through(ctx, within, report)
	w.leave(ctx, err) // and not where it panics
	return w.done, w.refused(err)
}

// refused says of a place that lets nobody in whether that is the setting's: one that
// did before is asked again until it does, since what was done would be done anew.
func (w *work) refused(err error) error {
	if errors.Is(err, source.ErrRefused) && w.done.Done == 0 {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	return err
}

// through takes resources for a while, and settles them.
func (w *work) through(ctx context.Context, within time.Duration, report func(Progress)) error {
	err := w.takeAll(ctx, within, report)
	return cmp.Or(w.wait(), err)
}

func (w *work) takeAll(ctx context.Context, within time.Duration, report func(Progress)) error {
	w.moved = func() { report(w.done) }
	if w.from.Missed > 0 {
		return w.end(ctx, w.from.Missed)
	}
	for {
		r, err := w.read(ctx)
		if w.turn == 0 {
			w.turn = turnOf(within, time.Since(w.opened))
		}
		if err == io.EOF { // and not the record's server, that hung up
			if err := w.step(ctx, place{Missed: 1}); err != nil {
				return err
			}
			return w.end(ctx, 0)
		}
		if err != nil {
			return err
		}
		nothing := r.Skip == nothingYet
		if w.full(r) || nothing && turnOver(w) {
			if err := w.begins(ctx, place{Position: r.At}); err != nil {
				return err
			}
			report(w.done)
			if turnOver(w) {
				return nil
			}
		}
		if nothing {
			continue
		}
		if err := w.take(ctx, r); err != nil {
			return err
		}
	}
}

// turnOver reports whether its turn is over, or not known yet: it begins where the log is come to.
func turnOver(w *work) bool { return time.Since(w.opened) > w.turn }

// end ends an import whose log is read, once what was missed behind a resource was
// taken again. Where no file was an archive it fails.
func (w *work) end(ctx context.Context, missed int64) error {
	if w.done.Counters.Skipped[NoEarlier] > 0 {
		if err := w.takeMissed(ctx, missed); err != nil {
			return err
		}
	}
	if err := noArchive(ctx, w); err != nil {
		return err
	}
	return w.step(ctx, place{End: true})
}

// noArchive is ErrInput where none of the files that an import names is an archive.
func noArchive(ctx context.Context, w *work) error {
	if n := w.done.Counters.Skipped[NoArchive]; n == 0 || n < w.done.Done {
		return nil
	}
	first, err := w.DB.ImportRecords(ctx, w.run.Job, 0, false, 1)
	for _, r := range first {
		err = fmt.Errorf("%w: %s: %s; if it is something else, --format names it: %s; "+
			"a document alone is imported with --format %s and --urls, such as https://www.example.edu/papers/{path}", ErrInput, r.Source, strings.TrimPrefix(r.Detail, NoArchive+": "), strings.Join(Formats()[3:], ", "), Folder)
	}
	return err
}

// turnOf is how long a turn takes: longer than it is wanted where it took long to come
// to where the one before ended, as within a file that is one gzip member, of which
// each turn unpacks what is before. So of a whole import that is a tenth at most.
func turnOf(within, opening time.Duration) time.Duration {
	const most = 5 * time.Hour
	return max(within, min(10*opening, most))
}

// work is an import under way.
type work struct {
	*Importer
	from        place     // where it goes on
	opened      time.Time // when it began to open its log
	turn        time.Duration
	singleUntil int64  // resources up to this number are taken one at a time
	before      trying // of the attempt before, which was lost; zero where none was
	now         trying // that is on record
	file        string // of the log's, that is read
	moved       func() // tells that it came on
	run         Run
	options     Options
	log         Log
	coll        *collection.Collection
	to          *repository.Repository // nil where documents go nowhere else
	done        Progress
	taken       int64   // resources, with those in hand
	saving      *saving // the last step that was begun; nil once it is written down

	items  []*item
	urls   map[frontier.Hash]bool // of the documents among them
	bytes  int64                  // that they hold
	sites  map[string]int
	hosts  map[string]string // why one is passed over; "" for not
	links  map[frontier.Hash]link
	hidden map[string]bool // hosts of the job's blacklist

	trial trial
}

func (im *Importer) begin(ctx context.Context, run Run) (*work, error) {
	w := &work{Importer: im, opened: time.Now(), moved: func() {}, run: run, coll: im.Coll, sites: map[string]int{}, hosts: map[string]string{}, links: map[frontier.Hash]link{}, hidden: map[string]bool{}}
	if err := im.DB.BeginJob(ctx, run.Job, run.Run); err != nil {
		return w, err
	}
	job, err := im.DB.Job(ctx, run.Job)
	if err != nil {
		return w, err
	}
	var at place
	if err := errors.Join(json.Unmarshal(job.Options, &w.options), json.Unmarshal(job.Position, &at), json.Unmarshal(job.Counters, &w.done.Counters)); err != nil {
		return w, fmt.Errorf("%w: job %d: %w", ErrInput, run.Job, err)
	}
	w.from, w.done.Done, w.done.Ended, w.taken = at, job.Done, at.End, job.Done
	if at.End {
		return w, nil
	}
	for _, h := range w.options.Blacklist {
		w.hidden[h] = true
	}
	if w.options.Unfiltered {
		w.coll = im.Coll.Unfiltered()
	}
	if w.options.To != "" {
		if w.to, err = repository.Open(ctx, w.options.To); err != nil {
			return w, fmt.Errorf("%w: --to: %w", ErrInput, err)
		}
	}
	w.clear()
	if w.options.Unrecorded {
		w.trial, err = newTrial(ctx, im.DB.JobRecords, run.Job, mostVerdicts)
	}
	if err = cmp.Or(err, w.try(ctx, at)); err == nil && w.done.Done == 0 {
		w.done.Counters.Extent = w.log.Extent()
		_, w.done.Counters.Total = w.log.Read()
		err = im.DB.NoteOpened(ctx, run.Job, run.Run, w.done.Counters)
	}
	if err != nil {
		w.close()
	}
	return w, err
}

func (w *work) close() {
	if w.saving != nil { // nobody has waited
		<-w.saving.over
	}
	if w.log != nil {
		_ = w.log.Close()
	}
	if w.to != nil {
		_ = w.to.Close()
	}
}

func (w *work) clear() { w.items, w.urls, w.bytes = nil, map[frontier.Hash]bool{}, 0 }

// full reports whether what is in hand is to be settled before a resource is taken.
func (w *work) full(r *Resource) bool {
	if len(w.items) == 0 {
		return false
	}
	return len(w.items) >= stepRecords || w.settled() < w.singleUntil || len(w.urls) >= stepDocuments || w.bytes >= stepBytes ||
		r.Again && r.File != nil || len(w.urls) > 0 && (r.Again || w.urls[hashOf(r.URL)])
}

// settled is how many resources have gone into steps.
func (w *work) settled() int64 { return w.taken - int64(len(w.items)) }

// Open opens the log that options name, which may be elsewhere, at a position.
func Open(ctx context.Context, places source.Places, o Options, from Position) (Log, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	switch o.Format {
	case Folder:
		return opened(openFiles(ctx, places, o, from))
	case Mirror:
		return openMirrors(ctx, places, o, from)
	case CSV:
		return opened(openLists(disk{o.Within}, o.Paths, from, csvList))
	case Heritrix:
		return opened(openLists(disk{o.Within}, o.Paths, from, disk{o.Within}.heritrixList))
	}
	return opened(openArchives(ctx, places, o, from))
}

// opened is a log, or none: a nil one of some kind is not nil.
func opened[L Log](log L, err error) (Log, error) {
	if err != nil {
		return nil, err
	}
	return log, nil
}
