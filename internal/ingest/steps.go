package ingest

import (
	"cmp"
	"context"

	"gleaner/internal/each"
	"gleaner/internal/guard"
	"gleaner/internal/record/store"
)

// step settles what is in hand, and writes it down with the place where the import
// goes on.
func (w *work) step(ctx context.Context, next place) error {
	if err := w.begins(ctx, next); err != nil {
		return err
	}
	return w.wait()
}

// begins reads the pages of a step and begins it, once the one before is being written down.
// What comes behind may be read meanwhile, but for an attempt that takes resources one by one.
func (w *work) begins(ctx context.Context, next place) error {
	first, items, before := w.settled(), w.items, w.saving
	if len(items) > 0 { // what comes behind them was read meanwhile
		if err := w.at(ctx, first+1); err != nil {
			return err
		}
	}
	if err := w.readPages(ctx, items); err != nil {
		return err
	}
	if before != nil {
		s := <-before.settled
		if w.done = s.Progress; s.err != nil {
			return w.wait()
		}
	}
	came := Counters{Extent: w.log.Extent()}
	came.Read, came.Total = w.log.Read()
	w.clear()
	w.saving = &saving{make(chan saved, 1), make(chan saved, 1)}
	now, s := w.saving, saved{Progress: w.done}
	_ = guard.Go(func() {
		step := store.ImportStep{Done: int64(len(items)), Position: next}
		err := guard.Run(func() error {
			if err := w.beginDocuments(ctx, items); err != nil {
				return err
			}
			return w.settle(ctx, items, &step)
		})
		clear(items) // the next step is held meanwhile
		if before != nil {
			s = <-before.over
		}
		s.err = cmp.Or(s.err, err)
		if now.settled <- s; s.err == nil {
			c := s.Counters.clone()
			c.Read, c.Total, c.Extent = came.Read, came.Total, came.Extent
			s.err = guard.Run(func() (err error) {
				s.Progress, err = w.save(ctx, s.Progress, step, c, next.End)
				return err
			})
		}
		now.over <- s
	})
	if first < w.singleUntil {
		return w.wait()
	}
	return nil
}

// saving is a step under way.
type saving struct {
	settled chan saved // the step before, once this one is about to be written down and the next may be settled
	over    chan saved
}

// saved is how far an import is after a step, or was before one that failed.
type saved struct {
	Progress
	err error
}

// wait waits until the step that was begun is written down. A panic over it goes on here.
func (w *work) wait() error {
	if w.saving == nil {
		return nil
	}
	s := <-w.saving.over
	w.saving, w.done = nil, s.Progress
	if guard.Panicked(s.err) {
		panic(s.err)
	}
	if s.err == nil {
		w.now = trying{} // the step took its place on record
	}
	return s.err
}

// beginDocuments notes documents before any of them is kept.
func (w *work) beginDocuments(ctx context.Context, items []*item) error {
	return beginRecords(ctx, w, each.Where(items, func(it *item) bool { return it.file.Body != nil && !it.isPage() }))
}

// save writes a step down, whose Done are the new resources in it, with the counters until
// then. The import was at done.
func (w *work) save(ctx context.Context, done Progress, s store.ImportStep, c Counters, end bool) (Progress, error) {
	for i := range s.Records {
		c.count(&s.Records[i])
	}
	if end && c.Total > 0 {
		c.Read = c.Total
	}
	s.Job, s.Run, s.From, s.Done, s.Counters = w.run.Job, w.run.Run, done.Done, done.Done+s.Done, c
	if err := w.DB.SaveImport(ctx, s); err != nil {
		return done, err
	}
	return Progress{Done: s.Done, Ended: end, Counters: c}, nil
}
