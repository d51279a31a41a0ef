package activities

import (
	"context"

	"gleaner/internal/record/collections"
	"gleaner/internal/service/app"
	"gleaner/internal/synthesis"
)

// Collections make collections by topic.
type Collections struct {
	maker  *synthesis.Maker
	record *collections.Record
	watch  app.Watch
}

// PrepareCollection searches for each topic and makes its centroid. A second attempt
// goes on where the first was cut off.
func (a *Collections) PrepareCollection(ctx context.Context, name string) (synthesis.Prepared, error) {
	beat, set, stop := heartbeats[int](ctx)
	defer stop()
	p, err := a.maker.Prepare(beat, name, set)
	return p, typed(err)
}

// CollectSlice crawls for a collection for a while. The place to go on from is in the
// record; what attempts did that were cut off counts with what this one does.
func (a *Collections) CollectSlice(ctx context.Context, name string) (synthesis.Result, error) {
	beat, set, stop := heartbeats[synthesis.Progress](ctx)
	defer stop()
	before, _ := resumed[synthesis.Progress](ctx)
	r, err := a.maker.Slice(beat, name, func(p synthesis.Progress) { set(before.Plus(p)) })
	a.watch.Crawled(r.Pages, r.Documents, 0, 0)
	r.Progress = before.Plus(r.Progress)
	if err != nil && beat.Err() != nil && ctx.Err() == nil {
		r.Ending = synthesis.SliceFull // the worker stops: what was done is written, the rest is for the next
		err = nil
	}
	a.watch.SliceEnded(string(r.Ending))
	return r, typed(err)
}

// RetrainCollection has the classifiers of a collection's topics learn anew. A second
// attempt goes on with the topics that the first did not come to. Attempts are few: what is
// away meanwhile is waited for within one.
func (a *Collections) RetrainCollection(ctx context.Context, r synthesis.Relearning) (synthesis.Relearnt, error) {
	beat, set, stop := heartbeats[string](ctx)
	defer stop()
	var got synthesis.Relearnt
	err := untilBack(beat, func() (err error) { got, err = a.maker.Relearn(beat, r, set); return err })
	return got, typed(err)
}

// CollectionEnd says how the making of a collection ended.
type CollectionEnd struct {
	Name  string `json:"name"`
	Run   int    `json:"run,omitempty"` // of the record's; 0 is whichever is being made
	State string `json:"state"`         // JobEnded, JobFailed or JobCancelled
	Note  string `json:"note,omitempty"`
}

// EndCollection writes that down.
func (a *Collections) EndCollection(ctx context.Context, end CollectionEnd) error {
	defer alive(ctx)()
	return typed(a.record.End(ctx, end.Name, end.Run, end.State, end.Note))
}

// PauseCollection lets the slices of a collection rest, or go on.
func (a *Collections) PauseCollection(ctx context.Context, name string, paused bool) error {
	defer alive(ctx)()
	return typed(a.record.Pause(ctx, name, paused))
}
