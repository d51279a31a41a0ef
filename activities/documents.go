package activities

import (
	"context"

	"gleaner/internal/ingest"
	"gleaner/internal/library/collection"
	"gleaner/internal/record/store"
)

// Documents examines files.
type Documents struct {
	db       *store.DB
	coll     *collection.Collection
	importer *ingest.Importer
}

// Judged is what a slice of FilterDocuments or JudgeStalled comes to.
type Judged struct {
	Documents int  `json:"documents"`
	More      bool `json:"more,omitempty"`
}

// FilterDocuments judges documents that were stored and not examined: those whose
// crawl was cut off in between. It ends after a slice.
func (a *Documents) FilterDocuments(ctx context.Context, host string) (Judged, error) {
	site := 0
	if host != "" {
		s, err := a.db.Site(ctx, host)
		if err != nil {
			return Judged{}, typed(err)
		}
		site = s.ID
	}
	return a.judge(ctx, store.Unexamined{Site: site})
}

// JudgeStalled judges the documents on a harvest's sites over which a reader
// stalled, and that a retry has taken up. It ends after a slice.
func (a *Documents) JudgeStalled(ctx context.Context, harvest string) (Judged, error) {
	return a.judge(ctx, store.Unexamined{Stalled: harvest})
}

func (a *Documents) judge(ctx context.Context, which store.Unexamined) (Judged, error) {
	beat, set, stop := heartbeats[int](ctx)
	defer stop()
	n, more, err := a.coll.JudgeWaiting(beat, which, set)
	if which == (store.Unexamined{}) {
		a.importer.Settle(beat)
	}
	return Judged{n, more}, typed(err)
}

// HeldPosition is how far MatchHeld has come.
type HeldPosition = collection.Position

// HeldSearch asks for a harvest's papers among the documents found before.
type HeldSearch struct {
	Harvest string       `json:"harvest"`
	From    HeldPosition `json:"from"` // where the slice before ended
}

// MatchHeld looks for wanted papers among the documents found before, whatever
// they were found for. It needs no crawl. Documents on the harvest's sites that the
// filter of now would take otherwise are judged again. It ends after a slice, and returns
// where the next goes on.
func (a *Documents) MatchHeld(ctx context.Context, s HeldSearch) (collection.Position, error) {
	beat, set, stop := heartbeats[collection.Position](ctx)
	defer stop()
	if at, ok := resumed[collection.Position](ctx); ok {
		s.From = at
	}
	return result(a.coll.MatchHeld(beat, s.Harvest, s.From, set))
}
