package activities

import (
	"context"

	"gleaner/internal/crawl"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/record/collections"
	"gleaner/internal/service/app"
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
	return result(a.maker.Prepare(beat, name, set))
}

// CollectSlice crawls for a collection for a while. The place to go on from is in the
// record.
func (a *Collections) CollectSlice(ctx context.Context, name string) (crawl.Result, error) {
	return result(slice(ctx, a.watch, func(ctx context.Context, report func(crawl.Progress)) (crawl.Result, error) {
		return a.maker.Slice(ctx, name, report)
	}))
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
