package activities

import (
	"context"

	"gleaner/internal/collection"
	"gleaner/internal/store"
)

// Documents examines files.
type Documents struct {
	db   *store.DB
	coll *collection.Collection
}

// FilterDocuments judges documents that were stored and not examined: imported
// ones, and those whose crawl was cut off in between. It returns how many.
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
	done := 0
	for {
		shas, err := a.db.NewDocuments(beat, site, 50)
		if err != nil || len(shas) == 0 {
			return done, typed(err)
		}
		for _, sha := range shas {
			if _, err := a.coll.Judge(beat, sha); err != nil {
				return done, typed(err)
			}
			done++
			set(done)
		}
	}
}

// MatchHeld looks for wanted papers among the documents found before, whatever
// they were found for. It needs no crawl.
func (a *Documents) MatchHeld(ctx context.Context, harvest string) (int, error) {
	beat, set, stop := heartbeats[int](ctx)
	defer stop()
	n, err := a.coll.Rematch(beat, set)
	return n, typed(err)
}
