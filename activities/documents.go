package activities

import (
	"context"

	"gleaner/internal/library/collection"
	"gleaner/internal/record/store"
)

// Documents examines files.
type Documents struct {
	db   *store.DB
	coll *collection.Collection
}

// FilterDocuments judges documents that were stored and not examined: those whose
// crawl was cut off in between. It returns how many.
func (a *Documents) FilterDocuments(ctx context.Context, host string) (int, error) {
	site := 0
	if host != "" {
		s, err := a.db.Site(ctx, host)
		if err != nil {
			return 0, typed(err)
		}
		site = s.ID
	}
	beat, set, stop := heartbeats[int](ctx)
	defer stop()
	n, err := a.coll.JudgeWaiting(beat, store.Unexamined{Site: site}, set)
	return n, typed(err)
}

// JudgeStalled judges the documents on a harvest's sites over which a reader
// stalled, and that a retry has taken up. It returns how many.
func (a *Documents) JudgeStalled(ctx context.Context, harvest string) (int, error) {
	beat, set, stop := heartbeats[int](ctx)
	defer stop()
	n, err := a.coll.JudgeWaiting(beat, store.Unexamined{Stalled: harvest}, set)
	return n, typed(err)
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
	at, err := a.coll.MatchHeld(beat, s.Harvest, s.From, set)
	return at, typed(err)
}
