package activities

import (
	"cmp"
	"context"
	"errors"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/guard"
	"gleaner/internal/record/store"
)

// errPaused ends an attempt at work for a harvest that is paused. The next one
// goes on where it stopped, once the harvest is resumed.
var errPaused = errors.New("the harvest is paused")

// unlessPaused runs work that asks outside services for a harvest, and ends it
// when the harvest is paused: within some seconds nothing is asked any more. It
// fails with errPaused then.
func unlessPaused[T any](
	ctx context.Context, db *store.DB, harvest string, do func(context.Context) (T, error),
) (did T, err error) {
	if paused, err := db.Paused(ctx, harvest); err != nil || paused {
		return did, cmp.Or(err, errPaused)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	looked := guard.Go(func() {
		fetch.Every(ctx, 2*time.Second, func() bool {
			// An error is for the work's own queries to meet.
			paused, err := db.Paused(ctx, harvest)
			if err == nil && paused {
				cancel(errPaused)
				return false
			}
			return true
		})
	})
	did, err = do(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errPaused) {
		err = errPaused
	}
	cancel(nil)
	<-looked
	return did, err
}
