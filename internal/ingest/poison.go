package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gleaner/internal/ingest/source"
)

// deadly is how many attempts in a row end over a resource, and with them their workers,
// before it is passed over; as many more, and the rest of the file is that it is in.
const deadly = 3

// trying is what an attempt is at: it is on record before it is begun.
type trying struct {
	N    int64  `json:"n"`              // the resource that is read or taken; 0 is the log, which is opened
	File string `json:"file,omitempty"` // of the log's, that is read for it
	Lost int    `json:"lost"`           // attempts that began it and were not heard of since, with this one
}

// at notes what is begun, once an attempt was lost: then resources are taken one by one.
func (w *work) at(ctx context.Context, n int64) error {
	t := trying{N: n, File: w.file, Lost: 1}
	if w.before.N == n && w.before.File == w.file {
		t.Lost += w.before.Lost
	}
	if w.settled() >= w.wary || t == w.now {
		return nil
	}
	w.now = t
	return w.DB.NoteImport(ctx, w.run.Job, w.run.Run, t)
}

// enter notes which file of the log is read from now on.
func (w *work) enter(ctx context.Context, file string) error {
	w.file = file
	return w.at(ctx, w.following())
}

// following is the number of the resource that the log gives next.
func (w *work) following() int64 { return w.taken + 1 }

// fatal is the resource that ended worker after worker; 0 is none.
func (w *work) fatal() int64 {
	if w.before.Lost < deadly {
		return 0
	}
	return w.before.N
}

// try begins an attempt, and opens the log. One that ends its workers while it is opened
// ends the import: there is nothing of it that could be passed over.
func (w *work) try(ctx context.Context, from place) (err error) {
	if from.Trying != nil {
		w.before = *from.Trying
	}
	if w.wary, err = w.DB.TryImport(ctx, w.run.Job, w.run.Run, stepRecords); err != nil {
		return err
	}
	if w.before.N == 0 && w.before.Lost >= deadly {
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

// ended says how many workers have ended over what was tried before.
func (t trying) ended() string { return fmt.Sprintf("%d workers ended", t.Lost) }

// read reads the next resource; one that is fatal without looking into it.
func (w *work) read(ctx context.Context) (*Resource, error) {
	n := w.following()
	if err := w.at(ctx, n); err != nil {
		return nil, err
	}
	if n == w.fatal() {
		file := ""
		if w.before.Lost >= 2*deadly {
			file = w.before.File
		}
		w.log.Pass(file, Fatal+": "+w.before.ended())
	}
	return w.log.Next(ctx)
}

// leave ends an attempt, and notes why the import waits for the next. An attempt whose
// end cannot be noted counts as lost.
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

// watched is what each log knows of who reads it. It is a part of logs.
type watched struct {
	moved  func() bool
	late   bool // it is to say where it is, also where no resource is
	begins func(ctx context.Context, file string) error
	passed string // the file whose rest is passed over; "" for the next resource alone
	why    string // "" for nothing
}

func (w *watched) Watch(begins func(ctx context.Context, file string) error, moved func() bool) {
	w.begins, w.moved = begins, moved
}

func (w *watched) Pass(file, why string) { w.passed, w.why = file, why }

// started tells that a file is about to be read.
func (w *watched) started(ctx context.Context, file string) error {
	if w.begins == nil {
		return nil
	}
	return w.begins(ctx, file)
}

// came tells that something of the log was read.
func (w *watched) came() {
	if w.moved != nil {
		w.late = w.moved()
	}
}

// passes reports whether nothing more is to be read of a file, and why. It is so once.
func (w *watched) passes(file string) (why string, is bool) {
	if w.why == "" || w.passed != file {
		return "", false
	}
	why, w.why = w.why, ""
	return why, true
}

// blind reports whether the next resource is not to be looked into, and why.
func (w *watched) blind() (why string, is bool) {
	return w.why, w.why != "" && w.passed == ""
}
