package activities

import (
	"context"
	"errors"
	"fmt"

	"gleaner/internal/record/store"
	"gleaner/internal/service/notify"
)

// Notices tells whoever runs Gleaner what happened.
type Notices struct {
	db       *store.DB
	channels []notify.Channel
	review   int // matches that wait for review from which on that is told
}

// TellNews tells each channel what happened since it was told last, and returns to how
// many there was something to tell. A channel that fails keeps no other from being
// told; it is told with the next attempt, which tells the others nothing twice.
func (a *Notices) TellNews(ctx context.Context) (told int, err error) {
	ctx, _, stop := heartbeats[string](ctx)
	defer stop()
	var failed error
	for _, c := range a.channels {
		n, err := a.db.News(ctx, c.Name(), a.review)
		if err != nil {
			return told, typed(err)
		}
		if !n.Empty() {
			if err := c.Send(ctx, notify.Of(n)); err != nil {
				failed = errors.Join(failed, fmt.Errorf("notice by %s: %w", c.Name(), err))
				continue
			}
			told++
		}
		if err := a.db.Noticed(ctx, c.Name(), n); err != nil {
			return told, typed(err)
		}
	}
	return told, typed(failed)
}
