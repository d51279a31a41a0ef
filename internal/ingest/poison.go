package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gleaner/internal/ingest/source"
)

// poisonLimit is the number of consecutive worker deaths after which a resource is skipped.
// After another poisonLimit deaths the rest of its file is skipped.
const poisonLimit = 3

// trying records what an attempt is about to do. It is stored before the work begins.
type trying struct {
	N    int64  `json:"n"`              // number of the resource; 0 while the log is opened
	File string `json:"file,omitempty"` // of the log
	Lost int    `json:"lost"`           // attempts that began this and did not end, with this one
}

// at stores what is about to be done, if an attempt was lost before: then resources are taken
// one at a time.
func (w *work) at(ctx context.Context, n int64) error {
	t := trying{N: n, File: w.file, Lost: 1}
	if w.before.N == n && w.before.File == w.file {
		t.Lost += w.before.Lost
	}
	if w.settled() >= w.singleUntil || t == w.now {
		return nil
	}
	w.now = t
	return w.DB.NoteImport(ctx, w.run.Job, w.run.Run, t)
}

// enter stores which file of the log is read from now on.
func (w *work) enter(ctx context.Context, file string) error {
	w.file = file
	return w.at(ctx, w.nextNumber())
}

// nextNumber is the number of the resource that the log returns next.
func (w *work) nextNumber() int64 { return w.taken + 1 }

// fatal is the number of the resource over which poisonLimit workers died; 0 if there is none.
func (w *work) fatal() int64 {
	if w.before.Lost < poisonLimit {
		return 0
	}
	return w.before.N
}

// try begins an attempt and opens the log. If workers die while the log is opened, the import
// fails: there is no single resource to skip.
func (w *work) try(ctx context.Context, from place) (err error) {
	if from.Trying != nil {
		w.before = *from.Trying
	}
	if w.singleUntil, err = w.DB.TryImport(ctx, w.run.Job, w.run.Run, stepRecords); err != nil {
		return err
	}
	if w.before.N == 0 && w.before.Lost >= poisonLimit {
		return fmt.Errorf("%w: %s while what it names was opened", ErrInput, w.before.ended())
	}
	if err = w.at(ctx, 0); err != nil {
		return err
	}
	if w.log, err = Open(ctx, w.Places, w.options, from.Position); err == nil {
		w.log.Watch(w.enter, func() bool { w.moved(); return turnOver(w) })
	}
	return err
}

// ended describes how many workers died.
func (t trying) ended() string { return fmt.Sprintf("%d workers ended", t.Lost) }

// read reads the next resource. It does not open the payload of one that is fatal.
func (w *work) read(ctx context.Context) (*Resource, error) {
	n := w.nextNumber()
	if err := w.at(ctx, n); err != nil {
		return nil, err
	}
	if n == w.fatal() {
		file := ""
		if w.before.Lost >= 2*poisonLimit {
			file = w.before.File
		}
		w.log.Pass(file, Fatal+": "+w.before.ended())
	}
	return w.log.Next(ctx)
}

// leave ends an attempt, and stores why the import waits for the next. An attempt whose end
// cannot be stored counts as lost.
func (w *work) leave(ctx context.Context, why error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	err := w.DB.LeaveImport(ctx, w.run.Job, w.run.Run)
	if err == nil && (errors.Is(why, source.ErrAway) || errors.Is(why, source.ErrRefused)) {
		err = w.DB.NoteWaiting(ctx, w.run.Job, w.run.Run, brief(why.Error()))
	}
	if err != nil {
		w.Log.WarnContext(ctx, "an attempt at an import is not known to have ended", "job", w.run.Job, "error", err)
	}
}

// watched is the part of a log that implements Watch and Pass.
type watched struct {
	moved  func() bool
	late   bool // Next returns its position, even if there is no resource
	begins func(ctx context.Context, file string) error
	passed string // the file whose rest is skipped; "" skips the next resource alone
	why    string // "" skips nothing
}

func (w *watched) Watch(begins func(ctx context.Context, file string) error, moved func() bool) {
	w.begins, w.moved = begins, moved
}

func (w *watched) Pass(file, why string) { w.passed, w.why = file, why }

// started reports that a file is about to be read.
func (w *watched) started(ctx context.Context, file string) error {
	if w.begins == nil {
		return nil
	}
	return w.begins(ctx, file)
}

// came reports that something of the log was read.
func (w *watched) came() {
	if w.moved != nil {
		w.late = w.moved()
	}
}

// passes reports once whether the rest of a file is skipped, and why.
func (w *watched) passes(file string) (why string, is bool) {
	if w.why == "" || w.passed != file {
		return "", false
	}
	why, w.why = w.why, ""
	return why, true
}

// skipsNext reports whether the next resource is skipped, and why.
func (w *watched) skipsNext() (why string, is bool) {
	return w.why, w.why != "" && w.passed == ""
}
